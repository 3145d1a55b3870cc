import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 200;
/** A busy server may need longer than the whole look-up for one response, which may show an earlier state. */
const fewestProbes = 4;

/** Repeats `probe` until it finds a value: for up to `longestMs`, and up to 4 times if it takes longer. */
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
