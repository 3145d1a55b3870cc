import { ApplicationFailure, activityInfo, getClient } from '@temporalio/activity';
import { isGrpcServiceError } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import proto, { type temporal } from '@temporalio/proto';

const { WorkflowExecutionStatus, HistoryEventFilterType } = proto.temporal.api.enums.v1;
const { WORKFLOW_EXECUTION_STATUS_RUNNING: running, WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW: continuedAsNew } =
  WorkflowExecutionStatus;
const closeEventOnly = HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT;

export type ServerEvent = temporal.api.history.v1.IHistoryEvent;

/** One execution of a workflow, as the server names it. */
export interface Execution {
  workflowId: string;
  runId: string;
}

export function activityExecution(): Execution {
  const { workflowExecution, activityType } = activityInfo();
  if (workflowExecution !== undefined) return workflowExecution;
  throw ApplicationFailure.nonRetryable(`${activityType} runs in a workflow only`, 'forbidden');
}

/** Reads events by their ids from one execution of the activity's workflow. Leaves out those that it does not have. */
export async function recordedEvents(runId: string, eventIds: readonly string[]): Promise<Map<string, ServerEvent>> {
  const { workflowId } = activityExecution();
  const { connection, options } = getClient();
  const wanted = new Set(eventIds);
  const found = new Map<string, ServerEvent>();
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await connection.workflowService.getWorkflowExecutionHistory({
      namespace: options.namespace,
      execution: { workflowId, runId },
      nextPageToken,
    });
    for (const event of page.history?.events ?? []) {
      const id = String(event.eventId);
      if (wanted.delete(id)) found.set(id, event);
    }
    nextPageToken = page.nextPageToken ?? undefined;
  } while (wanted.size > 0 && nextPageToken !== undefined && nextPageToken.length > 0);
  return found;
}

export function firstEvent(execution: Execution): Promise<ServerEvent | undefined> {
  const { connection, options } = getClient();
  const request = { namespace: options.namespace, execution, maximumPageSize: 1 };
  return firstReadEvent(() => connection.workflowService.getWorkflowExecutionHistory(request));
}

/**
 * Returns the event by which an execution continued as new; null if it ended otherwise; undefined if the server does
 * not show its end. Reads the status first, because the server also shows such an event for a retried execution. Does
 * not read the history in reverse, because this may fail after a crash of the server (docs/decisions/0022).
 */
export async function continuedEvent(execution: Execution): Promise<ServerEvent | null | undefined> {
  const { connection, options } = getClient();
  const { namespace } = options;
  const status = await unlessGone(async () => {
    const { workflowExecutionInfo } = await connection.workflowService.describeWorkflowExecution({
      namespace,
      execution,
    });
    return workflowExecutionInfo?.status;
  });
  if (!status || status === running) return undefined;
  if (status !== continuedAsNew) return null;
  const request = { namespace, execution, historyEventFilterType: closeEventOnly };
  return firstReadEvent(() => connection.workflowService.getWorkflowExecutionHistory(request));
}

function firstReadEvent(
  read: () => Promise<{ history?: temporal.api.history.v1.IHistory | null }>,
): Promise<ServerEvent | undefined> {
  return unlessGone(async () => (await read()).history?.events?.[0]);
}

const grpcNotFound = 5;

/** Calls `read`, and returns undefined if the server does not find the execution. */
async function unlessGone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isGrpcServiceError(error) && (error.code as number) === grpcNotFound) return undefined;
    throw error;
  }
}

export function recordedAtMs({ eventTime }: ServerEvent): number {
  return optionalTsToMs(eventTime) ?? 0;
}

export interface ArbitrateInput {
  /** The execution whose history holds the events. */
  runId: string;
  eventIds: string[];
}

export type Arbitrate = (input: ArbitrateInput) => Promise<Record<string, number>>;

/**
 * The activity `countersign.arbitrate`: returns when the server recorded messages that a run received just after a
 * deadline (I6). A message counts by its recorded time, because the event of the fired timer may come seconds late.
 */
export const arbitrate: Arbitrate = async ({ runId, eventIds }) => {
  const events = await recordedEvents(runId, eventIds);
  return Object.fromEntries([...events].map(([id, event]) => [id, recordedAtMs(event)]));
};
