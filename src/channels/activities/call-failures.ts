import { ApplicationFailure, CompleteAsyncError, type Context } from '@temporalio/activity';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { thrownByChannel } from '../../core/base/tool-failure.ts';
import { NotTaken, retryAfterOf } from '../outgoing/not-taken.ts';

/**
 * The types of failures that the activities themselves throw. An error of a channel never gets such a type, because
 * older workflows tell the two apart by the type only.
 */
const reservedTypes: readonly string[] = ['NotCalled', 'WorkerShutdown'];

export function workerShutDown(): ApplicationFailure {
  return ApplicationFailure.retryable('the worker was shut down', 'WorkerShutdown');
}

/**
 * The failure of a call whose signal has aborted. If the worker shuts down, the call is repeated, whatever the channel
 * threw.
 */
export function interrupted({ cancellationDetails, cancellationSignal }: Context, error: unknown): unknown {
  return cancellationDetails?.workerShutdown === true ? workerShutDown() : (cancellationSignal.reason ?? error);
}

/** Runs a function of a channel, and marks its errors as thrown by the channel. */
export async function ofChannel<Result>(call: () => Promise<Result> | Result): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw markedFailure(error);
  }
}

/**
 * The failure of a call of a channel. An error that the channel did not throw becomes retryable: a retry, perhaps on
 * another worker, may succeed.
 */
export function failureOf(error: unknown): unknown {
  if (error instanceof CompleteAsyncError || isMarked(error)) return error;
  return ApplicationFailure.retryable(errorMessage(error), 'NotCalled');
}

/**
 * The failure for an error that a channel threw. It has the error's name, which the model may see, and its message. Its
 * details have the retry delay of the receiver, because a workflow cannot read `nextRetryDelay`.
 */
function markedFailure(error: unknown): ApplicationFailure {
  const isFailure = error instanceof ApplicationFailure;
  const type = isFailure ? error.type : error instanceof Error ? error.name : undefined;
  const isFinal = error instanceof NotTaken && error.isFinal;
  const { nonRetryable = isFinal, category, details } = isFailure ? error : ({} as Partial<ApplicationFailure>);
  const nextRetryDelay = isFailure ? error.nextRetryDelay : retryAfterOf(error);
  return ApplicationFailure.create({
    message: errorMessage(error),
    type: type == null || reservedTypes.includes(type) ? 'Error' : type,
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
