export interface InTime<Played> {
  played: Played;
  seconds: number;
}

/**
 * Plays what has to happen within `seconds` after a request is opened in `play`, such as before its deadline. A busy
 * machine may be too slow for that. The clock says so before any result is looked at; then it is played again, with four
 * times the time. What is too late must not wait for ever in `play`.
 */
export async function inTime<Played>(
  least: number,
  play: (seconds: number) => Promise<Played>,
): Promise<InTime<Played>> {
  for (let seconds = least; ; seconds *= 4) {
    const endsAtMs = Date.now() + seconds * 1_000;
    try {
      const played = await play(seconds);
      if (Date.now() < endsAtMs) return { played, seconds };
    } catch (error) {
      // What comes too late may be refused.
      if (Date.now() < endsAtMs) throw error;
    }
  }
}

/** What `inTime` may give to `play`, for a policy that is written before. */
export function secondsInTime(least: number): number[] {
  return [1, 4, 16, 64].map((factor) => factor * least);
}
