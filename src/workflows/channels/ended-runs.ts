import { continueAsNew, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { LookForEndedRuns } from '../../channels/activities/look-for-ended-runs.ts';
import { activityNames } from '../../contract.ts';

const { [activityNames.lookForEndedRuns]: lookForEndedRuns } = proxyActivities<{
  [activityNames.lookForEndedRuns]: LookForEndedRuns;
}>({ startToCloseTimeout: '5m', retry: { maximumInterval: '60s' }, summary: 'Look for runs that have ended' });

/**
 * Looks once a minute, for all runs of the task queue together, which of them have ended without a word: terminated,
 * timed out, or deleted. Ends once no request of the queue has channels.
 */
export async function watchEndedRuns(): Promise<void> {
  for (;;) {
    await sleep('60s');
    const looked: Partial<Awaited<ReturnType<LookForEndedRuns>>> | null = await lookForEndedRuns();
    if (looked?.open === 0) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew();
  }
}
