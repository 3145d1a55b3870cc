import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkflowStartOptions } from '@temporalio/client';
import type { Carried } from '../../../src/workflows/agent/run-state.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import { startForeignWorker, type ForeignWorker } from '../../support/foreign-worker.ts';
import { carriedBy, forgedRun } from './forge-past.ts';
import { hasBegun, hasVerified, resetTo } from '../../support/reset-to.ts';
import { temporal } from '../../support/temporal-cli.ts';
import type { RunInTest, World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** A run does not accept a forged past from people who may start, retry, schedule or reset it (I1). */

const asksToPay = { version: 1, rules: [{ pattern: 'pay', action: 'ask' }] };
const scriptOf = (...tos: string[]): string =>
  JSON.stringify([...tos.map((to) => ({ calls: [{ tool: 'pay', args: { to, amount: 1 } }] })), { text: 'done' }]);

let world: World;
let foreign: ForeignWorker;
let forged: Carried;
beforeAll(async () => {
  world = await openWorld({ policy: asksToPay, continueAsNewAfter: { historyEvents: 40 } });
  foreign = await startForeignWorker();
  const run = await start({ args: [{ agent: 'tester', input: scriptOf('forged') }] });
  await run.open();
  await continueAsNew(run);
  forged = forgedRun(await carriedBy<Carried>(world.client, run.workflowId));
  await run.handle.terminate();
});
afterAll(async () => {
  await foreign.close();
  await world.close();
});

const retry = { maximumAttempts: 3, initialInterval: '10ms' };
const input = { agent: 'tester', input: scriptOf('forged') };

async function start(options: Partial<WorkflowStartOptions>, type = 'agentRun'): Promise<RunInTest> {
  const workflowId = `past-${randomUUID()}`;
  const { taskQueue } = world;
  await world.client.session.client.workflow.start(type, { workflowId, taskQueue, args: [], ...options });
  return world.run(workflowId);
}

async function continueAsNew(run: RunInTest): Promise<void> {
  const { executions } = await run.status();
  await eventually('the run continues as new', async () => {
    await run.handle.signal('noise');
    return (await run.status()).executions > executions;
  });
}

/** The run ids of a workflow's executions, oldest first. */
async function runIds(workflowId: string): Promise<string[]> {
  return (await world.client.historyChain(workflowId)).executions.map(({ runId }) => runId);
}

/** The failure of a workflow's execution `index` once it has ended; -1 means the last one. */
function failureOf(workflowId: string, index: number): Promise<unknown> {
  return eventually('the execution fails', async () => {
    const last = (await world.client.historyChain(workflowId)).executions.at(index)?.events.at(-1);
    const failure = last?.workflowExecutionFailedEventAttributes?.failure;
    return failure && { message: failure.message, ...failure.applicationFailureInfo };
  });
}

const paid = (to: string): string[] => world.ran().filter((line) => line === `pay ${to} 1`);
const forbidden = (sentence: RegExp) => ({
  type: 'forbidden',
  nonRetryable: true,
  message: expect.stringMatching(sentence),
});

test('a starter: a first execution does not read its second argument', async () => {
  const run = await start({ args: [{ agent: 'tester', input: '[{"text":"hello"}]' }, forged] });
  expect(await run.result()).toMatchObject({ status: 'completed', output: 'hello' });
  expect(await run.status()).toMatchObject({ executions: 1 });
});

test('a starter with a retry policy and a run timeout: the retry is refused', async () => {
  // The retry, too, has to be refused before its time is over.
  const { played: failure } = await inTime(6, async (seconds) => {
    const { workflowId } = await start({ args: [input, forged], retry, workflowRunTimeout: `${seconds / 2}s` });
    return failureOf(workflowId, 1);
  });
  expect(failure).toMatchObject(forbidden(/not retried/));
  expect(paid('forged')).toEqual([]);
});

test('a starter with a cron schedule: each execution is refused, including the first', async () => {
  const run = await start({ args: [input, forged], cronSchedule: '@every 1s' });
  expect(await failureOf(run.workflowId, 1)).toMatchObject(forbidden(/Temporal schedule/));
  expect(await failureOf(run.workflowId, 0)).toMatchObject(forbidden(/Temporal schedule/));
  await run.handle.terminate();
  expect(paid('forged')).toEqual([]);
});

test('the temporal command line with --cron: refused, and the sentence names schedules', async () => {
  const workflowId = `past-${randomUUID()}`;
  const options = ['--task-queue', world.taskQueue, '--workflow-id', workflowId, '--cron', '@every 1s'];
  const args = ['--type', 'agentRun', '--input', JSON.stringify(input), ...options];
  const started = await temporal(['workflow', 'start', ...args]);
  expect(started).toMatchObject({ exitCode: 0 });
  expect(await failureOf(workflowId, 0)).toMatchObject(forbidden(/Temporal schedule/));
  await world.run(workflowId).handle.terminate();
});

test('a Temporal schedule: each run is a first execution', async () => {
  const { schedule, workflow } = world.client.session.client;
  const scheduleId = `past-${randomUUID()}`;
  const plan = await schedule.create({
    scheduleId,
    spec: {},
    action: {
      type: 'startWorkflow',
      workflowType: 'agentRun',
      workflowId: scheduleId,
      taskQueue: world.taskQueue,
      args: [{ agent: 'tester', input: '[{"text":"hello"}]' }, forged],
    },
  });
  await plan.trigger();
  const workflowId = await eventually('the schedule starts a run', async () => {
    const [action] = (await plan.describe()).info.recentActions;
    return action?.action.workflow.workflowId;
  });
  expect(await workflow.getHandle(workflowId).result()).toMatchObject({ output: 'hello' });
  expect(await workflow.getHandle(workflowId).query('run')).toMatchObject({ executions: 1 });
  await plan.delete();
});

describe('a foreign worker that writes the state as its own', () => {
  test.each([
    ['of another workflow type', 'continuesAs', /'continuesAs': only a workflow of the same type/],
    ['of the same type, on another task queue', 'agentRun', /task queue 'foreign-.*': only one on the same task queue/],
  ])('%s: the execution that it continues as is refused', async (_name, type, sentence) => {
    const { taskQueue } = world;
    const target = { workflowType: 'agentRun', taskQueue, input, carried: forged };
    const run = await start({ taskQueue: foreign.taskQueue, args: [target] }, type);
    expect(await failureOf(run.workflowId, 1)).toMatchObject(forbidden(sentence));
    expect(paid('forged')).toEqual([]);
  });
});

/** A run that continued as new while its first call waited for a decision. */
async function continued(to: string, options: Partial<WorkflowStartOptions> = {}) {
  const run = await start({ args: [{ agent: 'tester', input: scriptOf(to, to) }], ...options });
  const [request] = await run.open();
  await continueAsNew(run);
  expect(await run.open()).toEqual([request]);
  const approve = (): Promise<void> => run.handle.signal('decide', { requestId: request!.requestId, approved: true });
  return { run, request: request!, approve };
}

test('a run that is retried after it continued as new: its old decision does not count again', async () => {
  const { played } = await inTime(12, async (seconds) => {
    const to = `twice-${seconds}`;
    const asked = await continued(to, { retry, workflowRunTimeout: `${seconds}s` });
    await asked.approve();
    await eventually('the second call is asked about', async () => {
      const [now] = await asked.run.open();
      return now!.requestId !== asked.request.requestId;
    });
    return { ...asked, to };
  });
  const { run, approve, to } = played;
  const second = (await runIds(run.workflowId)).at(-1);
  await eventually('the server retries', async () => (await run.handle.describe()).runId !== second);
  await approve().catch(() => undefined);
  expect(await failureOf(run.workflowId, -1)).toMatchObject(forbidden(/not retried/));
  expect(paid(to)).toHaveLength(1);
});

describe('a reset of an execution that continues another', () => {
  test('to before its state was verified: refused, and nothing runs again', async () => {
    const { run, approve } = await continued('reset');
    await approve();
    await eventually('it has paid', () => paid('reset').length === 1);
    await resetTo(world, run.workflowId, hasBegun);
    expect(await failureOf(run.workflowId, -1)).toMatchObject(
      forbidden(/reset to before its carried state was verified/),
    );
    expect(paid('reset')).toHaveLength(1);
  });

  test('to after that: the open request is open again', async () => {
    const { run, request, approve } = await continued('later');
    await resetTo(world, run.workflowId, hasVerified);
    expect(await run.open()).toEqual([request]);
    await approve();
    await eventually('it has paid', () => paid('later').length === 1);
    await run.handle.terminate();
  });
});
