import { ApplicationFailure, CompleteAsyncError, type Context } from '@temporalio/activity';

/** The types of failures by which a channel has not failed: the workflow makes the call again. */
const reserved: readonly string[] = ['NotCalled', 'WorkerShutdown'];

/** The channel was not called: another attempt, perhaps by another worker, may call it. No channel can throw this. */
export class NotCalled extends Error {}

export function workerShutDown(): ApplicationFailure {
  return ApplicationFailure.retryable('the worker was shut down', 'WorkerShutdown');
}

/** A worker that shuts down interrupts its channels: the call is made again, whatever the channel threw at its signal. */
export function interrupted({ cancellationDetails, cancellationSignal }: Context, error: unknown): unknown {
  return cancellationDetails?.workerShutdown === true ? workerShutDown() : (cancellationSignal.reason ?? error);
}

/** What a channel threw. The failure has the error's name, which the model may be told, and its message. */
export function failureOf(error: unknown): unknown {
  if (error instanceof NotCalled) return ApplicationFailure.retryable(error.message, 'NotCalled');
  if (!(error instanceof Error) || error instanceof CompleteAsyncError) return error;
  if (error instanceof ApplicationFailure && !reserved.includes(error.type ?? '')) return error;
  const { name, message } = error;
  // An error of a channel does not pass for a call that was not made.
  const type = reserved.includes(name) || error instanceof ApplicationFailure ? 'Error' : name;
  return ApplicationFailure.create({ message: message.slice(0, 2_000), type, nonRetryable: false });
}
