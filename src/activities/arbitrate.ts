import { ApplicationFailure, activityInfo, getClient } from '@temporalio/activity';

export interface ArbitrateInput {
  /** The link of the chain whose history holds the events. */
  runId: string;
  /** Ids of signal events. */
  eventIds: string[];
}

/** When the server recorded each event, in whole milliseconds. */
export type Arbitrate = (input: ArbitrateInput) => Promise<Record<string, number>>;

/**
 * Reads the recorded time of decisions that were handled after the deadline and may have come before it (I6).
 * Times are compared, never event ids: the event of a fired timer may lag behind by seconds.
 */
export const arbitrate: Arbitrate = async ({ runId, eventIds }) => {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined)
    throw ApplicationFailure.nonRetryable('arbitrate runs in a workflow only', 'forbidden');
  const { connection, options } = getClient();
  const wanted = new Set(eventIds);
  const recordedAtMs: Record<string, number> = {};
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await connection.workflowService.getWorkflowExecutionHistory({
      namespace: options.namespace,
      execution: { workflowId: workflowExecution.workflowId, runId },
      nextPageToken,
    });
    for (const { eventId, eventTime } of page.history?.events ?? []) {
      const id = String(eventId);
      if (!wanted.delete(id)) continue;
      recordedAtMs[id] = Number(eventTime?.seconds ?? 0) * 1_000 + Math.floor((eventTime?.nanos ?? 0) / 1e6);
    }
    nextPageToken = page.nextPageToken ?? undefined;
  } while (wanted.size > 0 && nextPageToken !== undefined && nextPageToken.length > 0);
  return recordedAtMs;
};
