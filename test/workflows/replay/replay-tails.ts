/**
 * What a worker does with the tail of a history: the events that no workflow task has taken yet. A query that was sent
 * before them is handed to the worker with them, and with the clock of the task before. Then comes their task.
 */
import { randomUUID } from 'node:crypto';
import { defaultPayloadConverter, toPayloads } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import proto from '@temporalio/proto';
import { NativeConnection, Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { messageNames } from '../../../src/contract.ts';
import { attributesOf, tasksOf, type HistoryEvent, type WorkflowTask } from './history-tasks.ts';
import { openScriptedServer, type PolledTask, type ScriptedServer } from './scripted-server.ts';

/** A history of before a patch (`patched`): the present code writes other commands where it does not replay. */
export const isBeforePatch = (file: string): boolean => file === '0.1.0-outcome-unknown-and-not-asked-about.json';

/** A task of a history, and the part of its events that a query is handed first. */
export interface Tail {
  name: string;
  events: readonly HistoryEvent[];
  /** The event id at which the task before started. */
  previousId: string;
  /** The last event of the tail. */
  endId: string;
  task: WorkflowTask;
  /** The task before that brought something to workflow code, and the one before it. */
  workedBefore: { startedId: string; previousId: string };
  /**
   * False if a worker may take such a tail for a task (docs/decisions/0058): the clock has moved just now, because an
   * attempt of the task started and failed, or because the task before brought nothing to workflow code. False also
   * without a job.
   */
  isRecognised: boolean;
  /** True for a worker that took the tasks before, and has the run in its cache. */
  isCached?: boolean;
  /** True for a task that also brings an update, which history does not hold. */
  hasUpdate?: boolean;
}

/** The command that leads to each event type. */
const eventTypes: Readonly<Record<string, string>> = {
  COMPLETE_WORKFLOW_EXECUTION: 'WORKFLOW_EXECUTION_COMPLETED',
  FAIL_WORKFLOW_EXECUTION: 'WORKFLOW_EXECUTION_FAILED',
  CANCEL_WORKFLOW_EXECUTION: 'WORKFLOW_EXECUTION_CANCELED',
  CONTINUE_AS_NEW_WORKFLOW_EXECUTION: 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW',
  SCHEDULE_ACTIVITY_TASK: 'ACTIVITY_TASK_SCHEDULED',
  REQUEST_CANCEL_ACTIVITY_TASK: 'ACTIVITY_TASK_CANCEL_REQUESTED',
  START_TIMER: 'TIMER_STARTED',
  CANCEL_TIMER: 'TIMER_CANCELED',
  RECORD_MARKER: 'MARKER_RECORDED',
  START_CHILD_WORKFLOW_EXECUTION: 'START_CHILD_WORKFLOW_EXECUTION_INITIATED',
  SIGNAL_EXTERNAL_WORKFLOW_EXECUTION: 'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED',
  REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION: 'REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED',
  UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: 'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
  MODIFY_WORKFLOW_PROPERTIES: 'WORKFLOW_PROPERTIES_MODIFIED',
};

/** The tails of a history: of each task but the first, all that it takes, and what came before it was scheduled. */
export function tailsOf(name: string, events: readonly HistoryEvent[]): Tail[] {
  const { tasks } = tasksOf(events);
  return tasks.flatMap((task, index) => {
    const previousId = tasks[index - 1]?.started.eventId;
    // The worker is handed an update beside the history, not in it.
    const hasUpdate = task.commands.some(({ eventType }) => eventType.includes('_UPDATE_'));
    if (previousId === undefined || hasUpdate || task.before.length + task.whileScheduled.length === 0) return [];
    const attempts = task.before.filter(({ eventType }) =>
      /_WORKFLOW_TASK_(SCHEDULED|FAILED|TIMED_OUT)$/.test(eventType),
    );
    const ends = new Set([...attempts, task.scheduled, task.whileScheduled.at(-1) ?? task.scheduled]);
    const isAfterJobs = index === 1 || bringsJobs(tasks[index - 1]!);
    const worked = tasks.findLastIndex((each, at) => at < index && (at === 0 || bringsJobs(each)));
    const startedIds = [tasks[worked], tasks[worked - 1]].map((each) => each?.started.eventId ?? '0');
    const workedBefore = { startedId: startedIds[0]!, previousId: startedIds[1]! };
    return [...ends].map(({ eventId }) => {
      const at = `${name}: task ${task.started.eventId}, a query sees ${eventId}`;
      const seen = [...task.before, ...task.whileScheduled].filter((each) => Number(each.eventId) <= Number(eventId));
      const hasStarted = seen.some(({ eventType }) => eventType.endsWith('_WORKFLOW_TASK_STARTED'));
      const isOld = Date.parse(task.started.eventTime) < Date.now() - minuteMs;
      const isRecognised = (isOld || (!hasStarted && isAfterJobs)) && seen.some(isJob);
      return { name: at, events, previousId, endId: eventId, task, workedBefore, isRecognised };
    });
  });
}

/** True for an event that a worker hands to workflow code. The SDK's core keeps the news that a nested run is cancelled. */
function isJob({ eventType }: HistoryEvent): boolean {
  return !/_(ACTIVITY_TASK_STARTED|EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED|WORKFLOW_TASK_[A-Z_]+)$/.test(
    eventType,
  );
}

function bringsJobs({ before, whileScheduled, commands }: WorkflowTask): boolean {
  const isUpdated = commands.some(({ eventType }) => eventType.includes('_UPDATE_'));
  return isUpdated || [...before, ...whileScheduled].some(isJob);
}

/**
 * The tails that end with the start of an attempt which failed or timed out. A worker cannot tell them from their task,
 * which starts an hour after the attempt.
 */
export function tailsToAttempt(name: string, events: readonly HistoryEvent[]): Tail[] {
  return tailsOf(name, events).flatMap(({ task: { before, scheduled, started }, endId }) => {
    const attempt = before.find(({ eventType }) => eventType.endsWith('_WORKFLOW_TASK_STARTED'));
    if (attempt === undefined || endId !== scheduled.eventId) return [];
    const late = events.map((event) =>
      Number(event.eventId) <= Number(attempt.eventId)
        ? event
        : { ...event, eventTime: new Date(Date.parse(event.eventTime) + hourMs).toISOString() },
    );
    const tail = tailsOf(name, late).find((each) => each.task.started.eventId === started.eventId)!;
    const at = `${name}: task ${started.eventId}, a query sees the start of an attempt`;
    return [{ ...tail, name: at, endId: attempt.eventId, isRecognised: false }];
  });
}

const atOnce = 4;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export interface PlayedTail {
  name: string;
  /** Why the query failed. */
  refusal?: string;
  /** Why the task failed, and was given again. */
  failure?: string;
  /** What the task did in place of what history has. */
  problem?: string;
}

/** Hands a worker each tail with a query, then the whole task, and again if it fails. */
export function playTails(
  workflowBundle: NonNullable<ReplayWorkerOptions['workflowBundle']>,
  tails: readonly Tail[],
): Promise<PlayedTail[]> {
  return onScriptedWorker(workflowBundle, tails, playTail);
}

/** Plays each item to one worker of a server whose tasks the caller writes, a few at once. */
export async function onScriptedWorker<Item, Played>(
  workflowBundle: NonNullable<ReplayWorkerOptions['workflowBundle']>,
  items: readonly Item[],
  play: (server: ScriptedServer, item: Item) => Promise<Played>,
): Promise<Played[]> {
  const server = await openScriptedServer();
  const connection = await NativeConnection.connect({ address: server.address });
  const worker = await Worker.create({ connection, namespace: 'default', taskQueue: 'tails', workflowBundle });
  const done = worker.run();
  const played: Played[] = [];
  const waiting = [...items];
  const lane = async (): Promise<void> => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) played.push(await play(server, item));
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, lane));
  } finally {
    worker.shutdown();
    server.stopPolls();
    await done;
    await connection.close();
    await server.close();
  }
  return played;
}

/**
 * Hands a worker that does not have the run a whole task, and then a query, as the server sends it to a worker that has
 * the run in its cache: without history. Then hands it the next task, if history has one that `isMeant`. Returns why the
 * query or the next task failed.
 */
export async function queryAfterTask(
  server: ScriptedServer,
  tail: Tail,
  isMeant: (next: WorkflowTask) => boolean,
): Promise<string | undefined> {
  const workflowExecution = { workflowId: idOfRun(tail), runId: randomUUID() };
  const { failure } = await giveTask(server, tail, workflowExecution);
  if (failure !== undefined) return failure;
  const { workflowType } = taskTo(tail, tail.endId);
  const previousStartedEventId = idOf(tail.task.started.eventId);
  const query = { queryType: '__temporal_workflow_metadata' };
  const sticky = { workflowType, workflowExecution, previousStartedEventId, attempt: 1, history: {}, query };
  const { failure: refusal } = await server.give(sticky);
  const next = nextOf(tail);
  if (refusal !== undefined || next === undefined || !isMeant(next.task)) return refusal;
  return (await giveTask(server, next, workflowExecution)).failure;
}

/** The task after a tail's. Undefined if history has none, or if it brings an update, which it does not hold. */
function nextOf(tail: Tail): Tail | undefined {
  const { tasks } = tasksOf(tail.events);
  const task = tasks[tasks.findIndex(({ started }) => started.eventId === tail.task.started.eventId) + 1];
  if (task === undefined || task.commands.some(({ eventType }) => eventType.includes('_UPDATE_'))) return undefined;
  return { ...tail, task, previousId: tail.task.started.eventId };
}

function recordedBy({ commands }: WorkflowTask): string {
  return commands.map(({ eventType }) => eventType.replace('EVENT_TYPE_', '')).join(', ');
}

async function playTail(server: ScriptedServer, tail: Tail): Promise<PlayedTail> {
  const { name, endId, task } = tail;
  const workflowExecution = { workflowId: idOfRun(tail), runId: randomUUID() };
  if (tail.isCached === true) {
    const { previousId, startedId } = tail.workedBefore;
    const before = taskTo({ ...tail, previousId }, startedId);
    await server.give({ ...before, workflowExecution, startedEventId: idOf(startedId) });
  }
  const { failure: refusal } = await server.give({
    ...taskTo(tail, endId),
    workflowExecution,
    // Whoever may query can send any header: none makes an exception.
    query: { queryType: '__temporal_workflow_metadata', header: { fields: { 'countersign-closed': {} } } },
  });
  const { failure, made } = await giveTask(server, tail, workflowExecution);
  const again = failure === undefined ? made : (await giveTask(server, tail, workflowExecution)).made;
  const expected = tail.hasUpdate === true ? (await giveTask(server, tail)).made : recordedBy(task);
  const problem = again === expected ? undefined : `${again} in place of ${expected}`;
  return {
    name,
    ...(refusal !== undefined && { refusal }),
    ...(failure !== undefined && { failure }),
    ...(problem !== undefined && { problem }),
  };
}

/**
 * Hands a worker a tail with a query, then its task, then the next one, and again if that fails. Undefined without a next
 * one, or if no worker can have written such a history.
 */
export async function playTailAndNext(server: ScriptedServer, tail: Tail): Promise<PlayedTail | undefined> {
  const next = nextOf(tail);
  const unseen = next && (await giveTask(server, next));
  if (next === undefined || unseen?.failure !== undefined) return undefined;
  const workflowExecution = { workflowId: idOfRun(tail), runId: randomUUID() };
  const query = { queryType: '__temporal_workflow_metadata' };
  const { failure: refusal } = await server.give({ ...taskTo(tail, tail.endId), workflowExecution, query });
  await giveTask(server, tail, workflowExecution);
  const { failure, made } = await giveTask(server, next, workflowExecution);
  const again = failure === undefined ? made : (await giveTask(server, next, workflowExecution)).made;
  return {
    name: tail.name,
    ...(refusal !== undefined && { refusal }),
    ...(failure !== undefined && { failure }),
    ...(again !== unseen?.made && { problem: `${again} in place of ${unseen?.made}` }),
  };
}

/** Hands over a whole task. Without an execution, as a task of a run that no query has seen. */
async function giveTask(
  server: ScriptedServer,
  tail: Tail,
  workflowExecution: PolledTask['workflowExecution'] = { workflowId: idOfRun(tail), runId: randomUUID() },
): Promise<{ failure?: string; made: string }> {
  const { eventId } = tail.task.started;
  const { failure, commands } = await server.give({
    ...taskTo(tail, eventId),
    workflowExecution,
    startedEventId: idOf(eventId),
    ...(tail.hasUpdate === true && { messages: [updateBefore(eventId, messageNames.setPolicy)] }),
  });
  const made = failure ?? commands.map(({ commandType }) => eventTypeOf(commandType ?? 0)).join(', ');
  return failure === undefined ? { made } : { failure, made };
}

function taskTo({ events, previousId }: Tail, lastId: string): PolledTask {
  const { workflowType } = attributesOf(events[0]!) as { workflowType: { name: string } };
  const given = events.filter(({ eventId }) => Number(eventId) <= Number(lastId));
  const history = historyFromJSON({ events: given });
  return { workflowType, previousStartedEventId: idOf(previousId), attempt: 1, history };
}

function idOfRun({ events }: Tail): string {
  return attributesOf(events[0]!)['workflowId'] as string;
}

/** An update that an agent run accepts at once, and handles later. */
const tightening = toPayloads(defaultPayloadConverter, { policy: { rules: [{ pattern: 'pay', action: 'deny' }] } });

/** The message by which a task brings an update, which its events do not hold. */
export function updateBefore(startedId: string, name: string): NonNullable<PolledTask['messages']>[number] {
  const updateId = randomUUID();
  const { Request } = proto.temporal.api.update.v1;
  const request = { meta: { updateId }, input: { name, args: { payloads: tightening } } };
  return {
    id: `${updateId}/request`,
    protocolInstanceId: updateId,
    eventId: idOf(String(Number(startedId) - 1)),
    body: { type_url: 'type.googleapis.com/temporal.api.update.v1.Request', value: Request.encode(request).finish() },
  };
}

export function idOf(eventId: string): PolledTask['startedEventId'] {
  return Number(eventId) as unknown as PolledTask['startedEventId'];
}

/** The event type that a command leads to, without its prefix. */
export function eventTypeOf(commandType: number): string {
  const name = proto.temporal.api.enums.v1.CommandType[commandType] ?? '';
  return eventTypes[name.replace('COMMAND_TYPE_', '')] ?? name;
}
