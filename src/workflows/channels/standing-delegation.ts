import { ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { DelegateOpen } from '../../activities/delegate-open.ts';
import { activityNames } from '../../contract.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';

/** Looks for open requests once in each attempt. Between retries it adds nothing to history and occupies no worker. */
const { [activityNames.delegateOpen]: delegateOpen } = proxyActivities<{
  [activityNames.delegateOpen]: DelegateOpen;
}>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '60s', backoffCoefficient: 1 },
  cancellationType: 'TRY_CANCEL',
  summary: 'Delegate what is open for a person',
});

/** The workflow that delegates what is open for a person, by one activity, until the delegation ends. */
export async function standingDelegation(input: unknown): Promise<void> {
  if (isUndecodable(input)) {
    // This error fails only the task. The server retries it, perhaps on a worker that has the key or the codec.
    if (input.unread) throw new Error(input.why);
    throw ApplicationFailure.nonRetryable(input.why, input.code);
  }
  await delegateOpen(input);
}
