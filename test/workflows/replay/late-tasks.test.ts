import { readFileSync, readdirSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { NativeConnection, Worker } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { sentences } from '../../../src/core/ledger/sentences.ts';
import { placeEmptyTasks } from './empty-task-placements.ts';
import { tasksOf, type HistoryEvent, type WorkflowTask } from './history-tasks.ts';
import { insertAttempts } from './other-attempts.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { numberEvents } from './number-events.ts';
import { isBeforePatch, onScriptedWorker, playTails, queryAfterTask, tailsOf, type Tail } from './replay-tails.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { sharedBundle } from '../bundles/shared-bundle.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { runs } from '../../support/thorough.ts';

/**
 * A worker that loads a run and begins its task long after the start answers a query, because history tells the task from
 * a tail (docs/decisions/0058): it has grown by what one task leaves.
 */

installQuietRuntime({ errors: false });

const folder = new URL('../../histories/', import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith('.json') && !isBeforePatch(file));
/**
 * Without the runs that continue as new after a few events: near that length a query is refused in any case, and a longer
 * history would make them continue as new earlier than they did.
 */
const whole = files.filter((file) => !/execution-\d/.test(file));

function eventsOf(file: string): HistoryEvent[] {
  return (JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as { events: HistoryEvent[] }).events;
}

/** True if the run goes on, the task before wrote a command, no attempt failed, and each event brings a job. */
function isCounted({ task, events }: Tail): boolean {
  const { tasks } = tasksOf(events);
  const before = tasks.findLast(({ started }) => Number(started.eventId) < Number(task.started.eventId))!;
  const isOpen = !task.commands.some(({ eventType }) => endsOfRun.test(eventType));
  return isOpen && isWhole(task) && before.commands.length > 0 && !isCancellingChild(task);
}

/** That the server has requested a child's cancellation brings no job. A slow task takes it with what comes next. */
function isCancellingChild({ before, whileScheduled }: WorkflowTask): boolean {
  const events = [...before, ...whileScheduled];
  return events.length > 1 && events.some(({ eventType }) => eventType === cancelRequested);
}

const cancelRequested = 'EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED';

/** True if no attempt of the task failed, and no task before it only refused an update. */
function isWhole({ before, whileScheduled }: WorkflowTask): boolean {
  const events = [...before, ...whileScheduled];
  return !events.some(({ eventType }) => eventType.startsWith('EVENT_TYPE_WORKFLOW_TASK_'));
}

const endsOfRun = /^EVENT_TYPE_WORKFLOW_EXECUTION_(COMPLETED|FAILED|CANCELED|CONTINUED_AS_NEW)$/;

/** The tasks that can be counted, each as the tail that is seen last: those of one task differ only in that. */
function countedOf(name: string, events: readonly HistoryEvent[]): Tail[] {
  return [...new Map(tailsOf(name, events).map((tail) => [tail.task, tail])).values()].filter(isCounted);
}

async function refusalsAfter(workflowBundle: { codePath: string }, tasks: readonly Tail[]): Promise<string[]> {
  const refusals = await onScriptedWorker(workflowBundle, tasks, async (server, tail) => {
    const refusal = await queryAfterTask(server, tail, isWhole);
    return refusal === undefined ? [] : [`${tail.name}: ${refusal}`];
  });
  return refusals.flat();
}

test('a late task of a stored history', async () => {
  const random = seededRandom(2);
  const isRare = ({ task }: Tail): boolean =>
    [...task.before, ...task.whileScheduled].some((each) => rare.test(each.eventType));
  const tasks = whole
    .flatMap((file) => countedOf(file, eventsOf(file)))
    .filter((tail) => isRare(tail) || random.chance(runs(300) / 1_000));
  expect(tasks.length).toBeGreaterThan(50);
  expect(await refusalsAfter(await sharedBundle('recorded-workflows.ts'), tasks)).toEqual([]);
});

const rare = /_(FAILED|CANCEL_REQUESTED)$|_CHILD_|_EXTERNAL_/;

test('a late task of a run in which everything ends that a workflow can wait for', async () => {
  const workflowBundle = await sharedBundle('ending-workflows.ts');
  const tasks = countedOf('endsInEveryWay', await playEnds(workflowBundle));
  expect(tasks.length).toBeGreaterThan(20);
  expect(await refusalsAfter(workflowBundle, tasks)).toEqual([]);
});

test('a task that takes the request to cancel a child with its end is not told from a tail', async () => {
  const workflowBundle = await sharedBundle('ending-workflows.ts');
  const merged = withoutTaskAfter(await playEnds(workflowBundle), cancelRequested);
  const tails = tailsOf('merged', merged).filter(({ task }) => isCancellingChild(task));
  expect(tails.length).toBeGreaterThan(0);
  expect(await refusalsAfter(workflowBundle, tails.slice(-1))).toEqual([
    expect.stringContaining(sentences.notTakenYet),
  ]);
});

/** As a slower worker would leave it: the event waits for the task of what comes next. */
function withoutTaskAfter(events: readonly HistoryEvent[], eventType: string): HistoryEvent[] {
  const task = tasksOf(events).tasks.find(
    ({ before, commands }) => commands.length === 0 && before.some((each) => each.eventType === eventType),
  );
  if (task === undefined) return [...events];
  return numberEvents(events.filter((each) => ![task.scheduled, task.started, task.completed].includes(each)));
}

async function playEnds(workflowBundle: { codePath: string }): Promise<HistoryEvent[]> {
  const address = sharedAddress();
  const [connection, clients] = await Promise.all([
    NativeConnection.connect({ address }),
    Connection.connect({ address }),
  ]);
  const taskQueue = `ends-${randomUUID()}`;
  const activities = { fail, hang };
  const options = { connection, taskQueue, workflowBundle, activities, maxHeartbeatThrottleInterval: 100 };
  const worker = await Worker.create(options);
  const handle = await new Client({ connection: clients }).workflow.start('endsInEveryWay', {
    taskQueue,
    workflowId: taskQueue,
  });
  await worker.runUntil(handle.result());
  const history = historyToJSON(await handle.fetchHistory());
  await Promise.all([connection.close(), clients.close()]);
  return (JSON.parse(history) as { events: HistoryEvent[] }).events;
}

async function fail(): Promise<never> {
  throw ApplicationFailure.nonRetryable('fails');
}

async function hang(): Promise<void> {
  const context = Context.current();
  const beats = setInterval(() => context.heartbeat(), 100);
  await context.cancelled.finally(() => clearInterval(beats));
}

test('a tail after an attempt that failed long ago, or a refused update, is never taken for a task', async () => {
  const random = seededRandom(4);
  const tails = whole.flatMap((file) => {
    const events = eventsOf(file);
    const tried = insertAttempts(events, random, { share: 1, historyEvents: Infinity });
    const refused = placeEmptyTasks(events, () => ({ inserted: 1, isEarly: false, isDropped: false }))!;
    return [...tailsOf(`${file}, tried`, tried), ...tailsOf(`${file}, refused`, refused)];
  });
  const tried = tails.filter(({ isRecognised }) => isRecognised && random.chance(runs(150) / 1_000));
  expect(tried.length).toBeGreaterThan(50);
  const played = await playTails(await sharedBundle('recorded-workflows.ts'), tried);
  expect(played.filter(({ refusal }) => refusal !== sentences.notTakenYet)).toEqual([]);
});
