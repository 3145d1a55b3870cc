import { activityNames } from '../../contract.ts';
import { type TokenTail, readTokenTail } from '../../core/events/token-tail.ts';
import type { PendingModelCall } from '../../core/events/transcript-events.ts';
import type { Session } from '../server/connect.ts';
import { readPayload } from '../server/read-payload.ts';

/**
 * What the model of a run has streamed last, from the heartbeat of its activity. Reading it leaves no trace in the run.
 * Undefined: nothing of the present attempt. Throws the server's errors unchanged.
 */
export async function readModelTail(
  session: Session,
  workflowId: string,
  { activityId }: PendingModelCall,
): Promise<TokenTail | undefined> {
  const { connection, namespace } = session;
  const execution = { workflowId };
  const { pendingActivities } = await connection.withDeadline(Date.now() + 5_000, () =>
    connection.workflowService.describeWorkflowExecution({ namespace, execution }),
  );
  const pending = pendingActivities.find((each) => each.activityId === activityId);
  const payload = pending?.heartbeatDetails?.payloads?.[0];
  if (payload == null || pending?.activityType?.name !== activityNames.callModel) return undefined;
  const tail = readTokenTail(await readPayload(session, payload));
  // After a failed attempt the server still has the details of that one.
  return tail?.attempt === pending.attempt ? tail : undefined;
}
