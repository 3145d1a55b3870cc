import type { Session } from './connect.ts';
import { translateServerError } from '../../connection/server-error.ts';

/** The time limit of one call to the server, including its retries, in milliseconds. */
const defaultTimeoutMs = 10_000;

/** Calls the server within a time limit. Throws every error as a `ProblemError` with one sentence. */
export async function callServer<Answer>(
  session: Session,
  call: () => Promise<Answer>,
  options: { workflowId?: string; timeoutMs?: number } = {},
): Promise<Answer> {
  try {
    return await session.connection.withDeadline(Date.now() + (options.timeoutMs ?? defaultTimeoutMs), call);
  } catch (error) {
    throw translateServerError(error, {
      address: session.address,
      namespace: session.namespace,
      workflowId: options.workflowId,
    });
  }
}

/**
 * Runs calls to the server that end when `signal` aborts. The SDK's `withAbortSignal` leaves a listener on its signal,
 * which keeps the response of the call as long as the signal lives; so it gets a signal that lives as long as the
 * calls. Throws the signal's reason if it has aborted before, and the server's errors unchanged.
 */
export async function untilAborted<Answer>(
  { connection }: Session,
  signal: AbortSignal,
  call: () => Promise<Answer>,
): Promise<Answer> {
  signal.throwIfAborted();
  const own = new AbortController();
  const abort = (): void => own.abort(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    return await connection.withAbortSignal(own.signal, call);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Calls `act` for each element, at most `most` at a time, and returns the results in the order of the elements. */
export async function inParallel<One, Result>(
  all: readonly One[],
  most: number,
  act: (one: One) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = all.entries();
  const lane = async (): Promise<void> => {
    for (const [index, one] of left) results[index] = await act(one);
  };
  await Promise.all(Array.from({ length: Math.min(most, all.length) }, lane));
  return results;
}

/**
 * Resolves when `changed` does, `signal` aborts, or `afterMs` milliseconds are over. Leaves no listener and no timer
 * behind.
 */
export function changedOrAborted(changed: Promise<void>, signal: AbortSignal, afterMs?: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = afterMs === undefined ? undefined : setTimeout(done, afterMs);
    // A signal that has aborted fires no event.
    if (signal.aborted) return done();
    signal.addEventListener('abort', done);
    void changed.then(done);
  });
}
