import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 200;
/** The fewest attempts: a busy server may answer slowly, and may show an earlier state. */
const fewestProbes = 4;

/** Repeats `probe` until it finds a value. Undefined after `longestMs` milliseconds and at least 4 attempts. */
export async function lookUp<Found>(
  probe: () => Promise<Found | undefined>,
  longestMs: number,
): Promise<Found | undefined> {
  const until = Date.now() + longestMs;
  for (let probes = 1; ; probes++) {
    const found = await probe();
    if (found !== undefined || (Date.now() >= until && probes >= fewestProbes)) return found;
    await sleep(pollMs);
  }
}
