import { waitingUntil } from './eventually.ts';

export interface InTime<Played> {
  played: Played;
  seconds: number;
}

/**
 * Plays what has to happen within `seconds` after a request is opened in `play`, such as before its deadline. A busy
 * machine may be too slow for that. The clock says so before any result is looked at; then it is played again, with four
 * times the time, until the last of `secondsInTime`. A wait of `eventually` in `play` ends when the time is over; what
 * else is awaited there has to end by itself.
 */
export async function inTime<Played>(
  least: number,
  play: (seconds: number) => Promise<Played>,
): Promise<InTime<Played>> {
  const late: unknown[] = [];
  for (const seconds of secondsInTime(least)) {
    const endsAtMs = Date.now() + seconds * 1_000;
    try {
      const played = await waitingUntil(endsAtMs, () => play(seconds));
      if (Date.now() < endsAtMs) return { played, seconds };
      late.push(new Error(`not within ${seconds} s, but later`));
    } catch (error) {
      // What comes too late may be refused.
      if (Date.now() < endsAtMs) throw error;
      late.push(error);
    }
  }
  throw new AggregateError(late, `too late each time: ${String(late.at(-1))}`);
}

/** What `inTime` gives to `play`, for a policy that is written before. */
export function secondsInTime(least: number): number[] {
  return [1, 4, 16, 64].map((factor) => factor * least);
}
