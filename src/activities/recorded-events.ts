import { ApplicationFailure, activityInfo, getClient } from '@temporalio/activity';
import type { temporal } from '@temporalio/proto';

export type RecordedEvent = temporal.api.history.v1.IHistoryEvent;

/** Reads events of the workflow that the activity belongs to, by their ids, from one link of its chain. */
export async function recordedEvents(runId: string, eventIds: readonly string[]): Promise<Map<string, RecordedEvent>> {
  const { workflowExecution, activityType } = activityInfo();
  if (workflowExecution === undefined)
    throw ApplicationFailure.nonRetryable(`${activityType} runs in a workflow only`, 'forbidden');
  const { connection, options } = getClient();
  const wanted = new Set(eventIds);
  const found = new Map<string, RecordedEvent>();
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await connection.workflowService.getWorkflowExecutionHistory({
      namespace: options.namespace,
      execution: { workflowId: workflowExecution.workflowId, runId },
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

/** When the server recorded it, in whole milliseconds. */
export function recordedAtMs({ eventTime }: RecordedEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + Math.floor((eventTime?.nanos ?? 0) / 1e6);
}
