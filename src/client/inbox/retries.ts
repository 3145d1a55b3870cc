import { optionalTsToDate } from '@temporalio/common/lib/time.js';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import type { Session } from '../server/connect.ts';
import { readPayload } from '../server/read-payload.ts';

type Failure = temporal.api.failure.v1.IFailure;

/** An activity of a run, such as a model call, that has failed and is retried. */
export interface Retry {
  /** The type of the activity: `countersign.callModel`, or the name of a tool. */
  activity: string;
  /** The number of the attempt that runs or comes next. */
  attempt: number;
  /** The most attempts, from the activity's start; some failures end it earlier. Absent: no limit. */
  maxAttempts?: number;
  /** Why the last attempt failed. */
  message: string;
  /** The type of that failure, such as `model_unavailable`. */
  type?: string;
  /** ISO 8601; absent while an attempt runs. */
  nextAttemptAt?: string;
}

/**
 * The retries of a run, from the server's description of it: workflow code sees only the end of an activity, not its
 * attempts.
 */
export async function retriesOf(session: Session, { raw }: WorkflowExecutionDescription): Promise<Retry[]> {
  const retries = (raw.pendingActivities ?? []).map(async (pending): Promise<Retry[]> => {
    const { activityType, attempt, maximumAttempts, lastFailure, nextAttemptScheduleTime } = pending;
    if (lastFailure == null) return [];
    const type = lastFailure.applicationFailureInfo?.type;
    const nextAttemptAt = optionalTsToDate(nextAttemptScheduleTime)?.toISOString();
    const retry = {
      activity: activityType?.name ?? '',
      attempt: attempt ?? 1,
      ...(maximumAttempts ? { maxAttempts: maximumAttempts } : {}),
      message: await failureMessage(session, lastFailure),
      ...(type ? { type } : {}),
      ...(nextAttemptAt === undefined ? {} : { nextAttemptAt }),
    };
    return [retry];
  });
  return (await Promise.all(retries)).flat();
}

/** The message of a failure, which a codec may have encrypted. */
async function failureMessage(session: Session, { message, encodedAttributes }: Failure): Promise<string> {
  const read = encodedAttributes == null ? undefined : await readPayload(session, encodedAttributes);
  const { message: encoded } = (read ?? {}) as { message?: unknown };
  return typeof encoded === 'string' ? encoded : (message ?? '');
}
