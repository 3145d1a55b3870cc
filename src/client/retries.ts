import { optionalTsToDate } from '@temporalio/common/lib/time.js';
import type { WorkflowExecutionDescription } from '@temporalio/client';

/** An activity of a run, such as a model call, that has failed and is tried again. */
export interface Retry {
  /** Its type: `countersign.callModel`, or the name of a tool. */
  activity: string;
  /** The number of the attempt that runs or comes next. */
  attempt: number;
  /** The most attempts, as the activity was started; some failures end it earlier. Absent: no limit. */
  maxAttempts?: number;
  /** Why the last attempt failed. */
  message: string;
  /** The type of that failure, such as `model_unavailable`. */
  type?: string;
  /** ISO 8601; absent while an attempt runs. */
  nextAttemptAt?: string;
}

/**
 * The retries of a run, from the server's description of it: workflow code sees an activity end, and nothing of its
 * attempts.
 */
export function retriesOf({ raw }: WorkflowExecutionDescription): Retry[] {
  return (raw.pendingActivities ?? []).flatMap((pending) => {
    const { activityType, attempt, maximumAttempts, lastFailure, nextAttemptScheduleTime } = pending;
    if (lastFailure == null) return [];
    const type = lastFailure.applicationFailureInfo?.type;
    const nextAttemptAt = optionalTsToDate(nextAttemptScheduleTime)?.toISOString();
    return {
      activity: activityType?.name ?? '',
      attempt: attempt ?? 1,
      ...(maximumAttempts ? { maxAttempts: maximumAttempts } : {}),
      message: lastFailure.message ?? '',
      ...(type ? { type } : {}),
      ...(nextAttemptAt === undefined ? {} : { nextAttemptAt }),
    };
  });
}
