import { ApplicationFailure, activityInfo, getClient } from '@temporalio/activity';
import { isGrpcServiceError } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { temporal } from '@temporalio/proto';

export type RecordedEvent = temporal.api.history.v1.IHistoryEvent;

/** One execution of a workflow, as the server names it. */
export interface Execution {
  workflowId: string;
  runId: string;
}

/** The execution that the activity belongs to. */
export function activityExecution(): Execution {
  const { workflowExecution, activityType } = activityInfo();
  if (workflowExecution !== undefined) return workflowExecution;
  throw ApplicationFailure.nonRetryable(`${activityType} runs in a workflow only`, 'forbidden');
}

/** Reads events by their ids from one execution of the workflow that the activity belongs to. */
export async function recordedEvents(runId: string, eventIds: readonly string[]): Promise<Map<string, RecordedEvent>> {
  const { workflowId } = activityExecution();
  const { connection, options } = getClient();
  const wanted = new Set(eventIds);
  const found = new Map<string, RecordedEvent>();
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

/** The event that started an execution; undefined if the server no longer has it. */
export function firstEvent(execution: Execution): Promise<RecordedEvent | undefined> {
  const { connection, options } = getClient();
  const request = { namespace: options.namespace, execution, maximumPageSize: 1 };
  return outermost(() => connection.workflowService.getWorkflowExecutionHistory(request));
}

/**
 * The last event of an execution; undefined if the server no longer has it. Reads in reverse, because a request for the
 * close event alone shows an execution that was retried as one that continued as new.
 */
export function lastEvent(execution: Execution): Promise<RecordedEvent | undefined> {
  const { connection, options } = getClient();
  const request = { namespace: options.namespace, execution, maximumPageSize: 1 };
  return outermost(() => connection.workflowService.getWorkflowExecutionHistoryReverse(request));
}

const grpcNotFound = 5;

async function outermost(
  read: () => Promise<{ history?: temporal.api.history.v1.IHistory | null }>,
): Promise<RecordedEvent | undefined> {
  try {
    return (await read()).history?.events?.[0];
  } catch (error) {
    if (isGrpcServiceError(error) && (error.code as number) === grpcNotFound) return undefined;
    throw error;
  }
}

/** When the server recorded the event, in whole milliseconds. */
export function recordedAtMs({ eventTime }: RecordedEvent): number {
  return optionalTsToMs(eventTime) ?? 0;
}
