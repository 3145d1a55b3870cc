import { setTimeout as sleep } from 'node:timers/promises';

/** How long to look for a request that may not be visible yet before it counts as unknown, in milliseconds. */
const lookUpMs = 3_000;
const pollMs = 200;

/** Repeats `probe` until it finds something, for up to 3 seconds. */
export async function lookUp<Found>(probe: () => Promise<Found | undefined>): Promise<Found | undefined> {
  const until = Date.now() + lookUpMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined || Date.now() >= until) return found;
    await sleep(pollMs);
  }
}
