import { setTimeout as sleep } from 'node:timers/promises';

/** Calls `probe` until its result is not false. Throws after `timeoutMs` (default: one minute). */
export async function until<T>(what: string, probe: () => Promise<T | false>, timeoutMs = 60_000): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const found = await probe();
    if (found !== false) return found;
    if (Date.now() > end) throw new Error(`not within ${timeoutMs / 1_000} s: ${what}`);
    await sleep(20);
  }
}
