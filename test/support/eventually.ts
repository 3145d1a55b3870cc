import { setTimeout as sleep } from 'node:timers/promises';

/** Probes are calls of a server: while a wait is short they are frequent, later they spare the processor. */
const intervalMs = (probes: number): number => Math.min(25 * 2 ** Math.floor(probes / 10), 500);

const waits = new Map<symbol, { what: string; since: number }>();

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
  const wait = Symbol(what);
  waits.set(wait, { what, since: Date.now() });
  try {
    for (let probes = 1; ; probes++) {
      const found = await probe();
      if (found !== undefined && found !== false) return found;
      if (Date.now() > until) throw new Error(`not within ${timeoutMs} ms: ${what}`);
      await sleep(intervalMs(probes));
    }
  } finally {
    waits.delete(wait);
  }
}

/** What `eventually` waits for now in this process: a test that runs out of time says so. */
export function waitsNow(): string[] {
  return [...waits.values()].map(({ what, since }) => `${what} (for ${Math.round((Date.now() - since) / 1_000)} s)`);
}

/** Waits without a time limit until `condition` holds, in tools that a test releases. Rejects when `signal` aborts. */
export async function holds(condition: () => boolean, signal?: AbortSignal): Promise<void> {
  while (!condition()) await sleep(20, undefined, { signal });
}
