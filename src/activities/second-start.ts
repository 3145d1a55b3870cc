import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import { outcomeUnknownType } from '../core/base/tool-failure.ts';

/**
 * Refuses to start a call that may have run before (I7). A call with side effects has only one attempt, but an operator
 * can make the server start it again: by more attempts, a reset or an unpause of the activity, or a reset of the
 * workflow. Each of these changes the activity's attempt number or scheduled time. Heartbeat details are no proof,
 * because `--reset-heartbeats` removes them.
 */
export function refuseSecondStart(name: string): void {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = activityInfo();
  if (attempt === 1 && currentAttemptScheduledTimestampMs === scheduledTimestampMs) return;
  throw ApplicationFailure.nonRetryable(
    `'${name}' may have been started before and is not started again`,
    outcomeUnknownType,
  );
}
