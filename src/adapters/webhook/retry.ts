import { setTimeout as sleep } from 'node:timers/promises';
import { isProblemError, isTransient } from '../../core/base/problem.ts';

export interface RetryOptions {
  /** The most transient failures in a row that are followed by another attempt. */
  retries: number;
  /** The wait after the first failure, in milliseconds; it doubles each time, up to a minute. */
  firstWaitMs: number;
  /** The wait after an attempt without a value, in milliseconds. Default: `firstWaitMs`. */
  intervalMs?: number;
  signal: AbortSignal;
}

const longestWaitMs = 60_000;

/**
 * Repeats `attempt` until it returns a value. Throws an error that is not transient, a transient one after too many in a
 * row, and the signal's reason.
 */
export async function retryUntilValue<Value>(
  attempt: () => Promise<Value | undefined>,
  { retries, firstWaitMs, intervalMs = firstWaitMs, signal }: RetryOptions,
): Promise<Value> {
  let failures = 0;
  for (;;) {
    signal.throwIfAborted();
    let waitMs = intervalMs;
    try {
      const value = await attempt();
      if (value !== undefined) return value;
      failures = 0;
    } catch (error) {
      signal.throwIfAborted();
      if (!isProblemError(error) || !isTransient(error.code) || failures === retries) throw error;
      waitMs = Math.min(firstWaitMs * 2 ** failures, longestWaitMs);
      failures++;
    }
    await untilLater(waitMs, signal);
  }
}

async function untilLater(waitMs: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(waitMs, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
