import { ApplicationFailure, CompleteAsyncError, type Context } from '@temporalio/activity';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { thrownByChannel } from '../../core/base/tool-call.ts';
import { errorText, NotTaken, retryAfterOf } from '../outgoing/not-taken.ts';

/** Failure types of the activities themselves. Older workflows know them by these, so a channel's error has none. */
const reservedTypes: readonly string[] = ['NotCalled', 'WorkerShutdown'];

export function workerShutDown(): ApplicationFailure {
  return ApplicationFailure.retryable('the worker was shut down', 'WorkerShutdown');
}

/** The error to throw after the signal of a call has aborted. If the worker shuts down, the error is retryable. */
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

/** Converts an error of the activity itself, and not of the channel: it is retried, as another worker may succeed. */
export function failureOf(error: unknown): unknown {
  if (error instanceof CompleteAsyncError || isMarked(error)) return error;
  return ApplicationFailure.retryable(messageOf(error), 'NotCalled');
}

/**
 * Converts a channel's error to a failure. The type is the error's name, which the model may see. The details contain
 * the receiver's retry delay, because a workflow cannot read `nextRetryDelay`.
 */
function markedFailure(error: unknown): ApplicationFailure {
  const failure = error instanceof ApplicationFailure ? error : undefined;
  const type = failure === undefined ? nameOf(error) : failure.type;
  const isFinal = error instanceof NotTaken && error.isFinal;
  const retryDelay = failure === undefined ? retryAfterOf(error) : failure.nextRetryDelay;
  return ApplicationFailure.create({
    message: messageOf(error),
    type: type == null || reservedTypes.includes(type) ? 'Error' : type,
    nonRetryable: failure?.nonRetryable ?? isFinal,
    nextRetryDelay: retryDelay ?? undefined,
    category: failure?.category ?? undefined,
    details: [thrownByChannel, retryDelay == null ? null : msToNumber(retryDelay), ...(failure?.details ?? [])],
  });
}

function nameOf(error: unknown): string | undefined {
  return error instanceof Error ? error.name : undefined;
}

function isMarked(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.details?.[0] === thrownByChannel;
}

function messageOf(error: unknown): string {
  return errorText(error).slice(0, 2_000);
}
