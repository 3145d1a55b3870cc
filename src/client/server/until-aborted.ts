import type { Session } from './connect.ts';

/**
 * Runs calls to the server that end when `signal` aborts. The SDK's `withAbortSignal` leaves a listener behind on its signal,
 * which holds the answer of the call for as long as the signal lives; so it gets a signal that lives as long as the calls.
 * Throws the signal's reason if it has aborted before, and the server's errors unchanged.
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
