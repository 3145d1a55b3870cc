import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 200;
/**
 * How often `probe` is called at least: a busy server may need longer for one response than the look-up lasts, and the
 * response may show an earlier state.
 */
const fewestProbes = 4;

/**
 * Repeats `probe` until it finds a value, and returns the value. Gives up, and returns undefined, after `longestMs` and
 * at least 4 attempts.
 */
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
