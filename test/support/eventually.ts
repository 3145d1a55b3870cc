import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Calls `probe` until it returns a value and returns that value. After `timeoutMs` it throws an error that names
 * `what`.
 */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 200_000,
): Promise<T> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > until) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(25);
  }
}

/** Waits without a time limit until `condition` holds, in tools that a test releases. Rejects when `signal` aborts. */
export async function holds(condition: () => boolean, signal?: AbortSignal): Promise<void> {
  while (!condition()) await sleep(20, undefined, { signal });
}
