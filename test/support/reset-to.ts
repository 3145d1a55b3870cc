import { randomUUID } from 'node:crypto';
import type { temporal } from '@temporalio/proto';
import type { World } from './world.ts';

export type Event = temporal.api.history.v1.IHistoryEvent;

/**
 * Resets the latest execution of a workflow to its first workflow task after the first event that matches `isBefore`.
 */
export async function resetTo(
  { client }: Pick<World, 'client'>,
  workflowId: string,
  isBefore: (event: Event) => boolean,
): Promise<void> {
  const { client: temporal } = client.session;
  const { runId } = await temporal.workflow.getHandle(workflowId).describe();
  const events = (await temporal.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
  const task = events
    .slice(events.findIndex(isBefore))
    .find((event) => event.workflowTaskCompletedEventAttributes != null)!;
  await resetToTask({ client }, { workflowId, runId }, task);
}

/** Resets an execution to a completed workflow task. */
export async function resetToTask(
  { client }: Pick<World, 'client'>,
  workflowExecution: { workflowId: string; runId: string },
  { eventId }: Event,
): Promise<void> {
  const { client: temporal, connection } = client.session;
  await connection.workflowService.resetWorkflowExecution({
    namespace: temporal.options.namespace,
    workflowExecution,
    workflowTaskFinishEventId: eventId,
    requestId: randomUUID(),
    reason: 'test',
  });
}

export const hasBegun = (event: Event): boolean => event.workflowExecutionStartedEventAttributes != null;
export const hasVerified = (event: Event): boolean => event.activityTaskCompletedEventAttributes != null;
