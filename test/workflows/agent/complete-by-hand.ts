import { eventually } from '../../support/eventually.ts';
import type { RunInTest, World } from '../../support/world.ts';

/**
 * Completes an activity of a run that has started, with any result. `temporal activity complete` does the same for whoever
 * may write to the namespace.
 */
export async function completeByHand(
  { client }: Pick<World, 'client'>,
  { handle, workflowId }: RunInTest,
  activityType: string,
  result: unknown,
): Promise<void> {
  const { activityId } = await eventually(`${activityType} has started`, async () => {
    const { raw } = await handle.describe();
    return raw.pendingActivities?.find(
      (each) => each.activityType?.name === activityType && each.lastStartedTime != null,
    );
  });
  await client.session.client.activity.complete({ workflowId, activityId: activityId! }, result);
}
