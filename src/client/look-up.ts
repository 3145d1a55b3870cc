import { setTimeout as sleep } from 'node:timers/promises';

/** A request that is there may not be seen yet, so it is looked for this long before it is unknown. Milliseconds. */
const lookUpMs = 3_000;
const pollMs = 200;

/** Repeats `probe` until it finds something, for 3 seconds. */
export async function lookUp<Found>(probe: () => Promise<Found | undefined>): Promise<Found | undefined> {
  const until = Date.now() + lookUpMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined || Date.now() >= until) return found;
    await sleep(pollMs);
  }
}
