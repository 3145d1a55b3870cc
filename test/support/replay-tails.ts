/**
 * What a worker does with the tail of a history: the events that no workflow task has taken yet. A query that was sent
 * before them is handed to the worker with them, and with the clock of the task before. Then comes their task.
 */
import { randomUUID } from 'node:crypto';
import { defaultPayloadConverter, toPayloads } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import proto from '@temporalio/proto';
import { NativeConnection, Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { messageNames } from '../../src/contract.ts';
import { attributesOf, tasksOf, type HistoryEvent, type WorkflowTask } from './history-tasks.ts';
import { openScriptedServer, type PolledTask, type ScriptedServer } from './scripted-server.ts';

/** A task of a history, and the part of its events that a query is handed first. */
export interface Tail {
  name: string;
  events: readonly HistoryEvent[];
  /** The event id at which the task before started. */
  previousId: string;
  /** The last event of the tail. */
  endId: string;
  task: WorkflowTask;
  /**
   * False if a worker may take such a tail for a task (docs/decisions/0058): the clock has moved just now, because an
   * attempt of the task started and failed, or because the task before brought nothing to workflow code. False also
   * without a job.
   */
  isRecognised: boolean;
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
    const attempts = task.before.filter(({ eventType }) => /_WORKFLOW_TASK_(FAILED|TIMED_OUT)$/.test(eventType));
    const ends = new Set([...attempts, task.scheduled, task.whileScheduled.at(-1) ?? task.scheduled]);
    const hasStarted = task.before.some(({ eventType }) => eventType.endsWith('_WORKFLOW_TASK_STARTED'));
    const isAfterJobs = index === 1 || bringsJobs(tasks[index - 1]!);
    return [...ends].map(({ eventId }) => {
      const at = `${name}: task ${task.started.eventId}, a query sees ${eventId}`;
      const seen = [...task.before, ...task.whileScheduled].filter((each) => Number(each.eventId) <= Number(eventId));
      const isOld = Date.parse(task.started.eventTime) < Date.now() - hourMs;
      const isRecognised = (isOld || (!hasStarted && isAfterJobs)) && seen.some(isJob);
      return { name: at, events, previousId, endId: eventId, task, isRecognised };
    });
  });
}

/** True for an event that a worker hands to workflow code. */
function isJob({ eventType }: HistoryEvent): boolean {
  return !/_(ACTIVITY_TASK_STARTED|WORKFLOW_TASK_[A-Z_]+)$/.test(eventType);
}

function bringsJobs({ before, whileScheduled, commands }: WorkflowTask): boolean {
  const isUpdated = commands.some(({ eventType }) => eventType.includes('_UPDATE_'));
  return isUpdated || [...before, ...whileScheduled].some(isJob);
}

const atOnce = 4;
const hourMs = 3_600_000;

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
export async function playTails(
  workflowBundle: NonNullable<ReplayWorkerOptions['workflowBundle']>,
  tails: readonly Tail[],
): Promise<PlayedTail[]> {
  const server = await openScriptedServer();
  const connection = await NativeConnection.connect({ address: server.address });
  const worker = await Worker.create({ connection, namespace: 'default', taskQueue: 'tails', workflowBundle });
  const done = worker.run();
  const played: PlayedTail[] = [];
  const waiting = [...tails];
  const lane = async (): Promise<void> => {
    for (let tail = waiting.pop(); tail !== undefined; tail = waiting.pop()) played.push(await playTail(server, tail));
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

async function playTail(server: ScriptedServer, tail: Tail): Promise<PlayedTail> {
  const { name, endId, task } = tail;
  const workflowExecution = { workflowId: idOfRun(tail), runId: randomUUID() };
  const { failure: refusal } = await server.give({
    ...taskTo(tail, endId),
    workflowExecution,
    // Whoever may query can send any header: none makes an exception.
    query: { queryType: '__temporal_workflow_metadata', header: { fields: { 'countersign-closed': {} } } },
  });
  const { failure, made } = await giveTask(server, tail, workflowExecution);
  const again = failure === undefined ? made : (await giveTask(server, tail, workflowExecution)).made;
  const recorded = task.commands.map(({ eventType }) => eventType.replace('EVENT_TYPE_', '')).join(', ');
  const expected = tail.hasUpdate === true ? (await giveTask(server, tail)).made : recorded;
  const problem = again === expected ? undefined : `${again} in place of ${expected}`;
  return {
    name,
    ...(refusal !== undefined && { refusal }),
    ...(failure !== undefined && { failure }),
    ...(problem !== undefined && { problem }),
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
    ...(tail.hasUpdate === true && { messages: [updateBefore(eventId)] }),
  });
  const made = failure ?? commands.map(({ commandType }) => nameOf(commandType ?? 0)).join(', ');
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
function updateBefore(startedId: string): NonNullable<PolledTask['messages']>[number] {
  const updateId = randomUUID();
  const { Request } = proto.temporal.api.update.v1;
  const args = toPayloads(defaultPayloadConverter, { policy: { rules: [{ pattern: 'pay', action: 'deny' }] } });
  const request = { meta: { updateId }, input: { name: messageNames.setPolicy, args: { payloads: args } } };
  return {
    id: `${updateId}/request`,
    protocolInstanceId: updateId,
    eventId: idOf(String(Number(startedId) - 1)),
    body: { type_url: 'type.googleapis.com/temporal.api.update.v1.Request', value: Request.encode(request).finish() },
  };
}

function idOf(eventId: string): PolledTask['startedEventId'] {
  return Number(eventId) as unknown as PolledTask['startedEventId'];
}

function nameOf(commandType: number): string {
  const name = proto.temporal.api.enums.v1.CommandType[commandType] ?? '';
  return eventTypes[name.replace('COMMAND_TYPE_', '')] ?? name;
}
