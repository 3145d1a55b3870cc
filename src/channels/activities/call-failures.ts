import { ApplicationFailure, CompleteAsyncError, type Context } from '@temporalio/activity';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { thrownByChannel } from '../../core/base/tool-failure.ts';
import { NotTaken, retryAfterOf } from '../outgoing/not-taken.ts';

/** The types of failures that are not the channel's, for workflows that do not know the mark. */
const reserved: readonly string[] = ['NotCalled', 'WorkerShutdown'];

export function workerShutDown(): ApplicationFailure {
  return ApplicationFailure.retryable('the worker was shut down', 'WorkerShutdown');
}

/**
 * A worker that shuts down interrupts its channels: the call is repeated, whatever error the channel threw at its
 * signal.
 */
export function interrupted({ cancellationDetails, cancellationSignal }: Context, error: unknown): unknown {
  return cancellationDetails?.workerShutdown === true ? workerShutDown() : (cancellationSignal.reason ?? error);
}

/** Runs a function of a channel, and marks its errors as the channel's own failure. */
export async function ofChannel<Result>(call: () => Promise<Result> | Result): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw markedFailure(error);
  }
}

/** The failure of a call of a channel. Without the mark, a retry, perhaps on another worker, may succeed. */
export function failureOf(error: unknown): unknown {
  if (error instanceof CompleteAsyncError || isMarked(error)) return error;
  return ApplicationFailure.retryable(errorMessage(error), 'NotCalled');
}

/**
 * It has the error's name, which the model may see, and its message. The receiver's retry delay is a detail, too,
 * because no workflow can read `nextRetryDelay`.
 */
function markedFailure(error: unknown): ApplicationFailure {
  const isFailure = error instanceof ApplicationFailure;
  const type = isFailure ? error.type : error instanceof Error ? error.name : undefined;
  const isFinal = error instanceof NotTaken && error.isFinal;
  const { nonRetryable = isFinal, category, details } = isFailure ? error : ({} as Partial<ApplicationFailure>);
  const nextRetryDelay = isFailure ? error.nextRetryDelay : retryAfterOf(error);
  return ApplicationFailure.create({
    message: errorMessage(error),
    type: type == null || reserved.includes(type) ? 'Error' : type,
    nonRetryable: nonRetryable ?? false,
    nextRetryDelay: nextRetryDelay ?? undefined,
    category: category ?? undefined,
    details: [thrownByChannel, nextRetryDelay == null ? null : msToNumber(nextRetryDelay), ...(details ?? [])],
  });
}

function isMarked(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.details?.[0] === thrownByChannel;
}

function errorMessage(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 2_000);
}
