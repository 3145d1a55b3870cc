import { randomUUID } from 'node:crypto';
import type { temporal } from '@temporalio/proto';
import type { World } from './world.ts';

type Event = temporal.api.history.v1.IHistoryEvent;

/**
 * Resets the latest execution of a workflow to its first workflow task after the first event that matches `isBefore`.
 */
export async function resetTo(
  { client }: Pick<World, 'client'>,
  workflowId: string,
  isBefore: (event: Event) => boolean,
): Promise<void> {
  const { client: temporal, connection } = client.session;
  const { runId } = await temporal.workflow.getHandle(workflowId).describe();
  const events = (await temporal.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
  const task = events
    .slice(events.findIndex(isBefore))
    .find((event) => event.workflowTaskCompletedEventAttributes != null)!;
  await connection.workflowService.resetWorkflowExecution({
    namespace: temporal.options.namespace,
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: task.eventId,
    requestId: randomUUID(),
    reason: 'test',
  });
}

export const hasBegun = (event: Event): boolean => event.workflowExecutionStartedEventAttributes != null;
export const hasVerified = (event: Event): boolean => event.activityTaskCompletedEventAttributes != null;
