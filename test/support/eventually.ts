import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** Probes are calls of a server: while a wait is short they are frequent, later they spare the processor. */
const intervalMs = (probes: number): number => Math.min(25 * 2 ** Math.floor(probes / 10), 500);

/** What is waited for. A function is asked when the wait fails, so that the message says the last state. */
export type Awaited = string | (() => string);

const textOf = (what: Awaited): string => (typeof what === 'string' ? what : what());

const waits = new Map<symbol, { what: Awaited; since: number }>();
const moments = new AsyncLocalStorage<number>();

/**
 * Calls `probe` until it returns a value and returns that value. After `timeoutMs` it throws an error that names
 * `what`.
 */
export async function eventually<T>(
  what: Awaited,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 200_000,
): Promise<T> {
  const since = Date.now();
  const until = Math.min(since + timeoutMs, moments.getStore() ?? Infinity);
  const wait = Symbol('wait');
  waits.set(wait, { what, since });
  try {
    for (let probes = 1; ; probes++) {
      const found = await probe();
      if (found !== undefined && found !== false) return found;
      if (Date.now() > until) throw new Error(`not within ${until - since} ms: ${textOf(what)}`);
      await sleep(intervalMs(probes));
    }
  } finally {
    waits.delete(wait);
  }
}

/** Does `work`, in which no wait of `eventually` goes on after this moment. */
export function waitingUntil<T>(endsAtMs: number, work: () => Promise<T>): Promise<T> {
  return moments.run(endsAtMs, work);
}

/** What `eventually` waits for now in this process: a test that runs out of time says so. */
export function waitsNow(): string[] {
  return [...waits.values()].map(
    ({ what, since }) => `${textOf(what)} (for ${Math.round((Date.now() - since) / 1_000)} s)`,
  );
}

/** Waits without a time limit until `condition` holds, in tools that a test releases. Rejects when `signal` aborts. */
export async function holds(condition: () => boolean, signal?: AbortSignal): Promise<void> {
  while (!condition()) await sleep(20, undefined, { signal });
}
