/**
 * Plays what has to happen before a deadline, which is `seconds` after a request is opened in `play`. Beside other work a
 * machine may be too slow for that: then it is played again, with twice the time.
 */
export async function beforeDeadline<Played>(
  least: number,
  play: (seconds: number) => Promise<Played>,
): Promise<{ played: Played; seconds: number }> {
  for (let seconds = least; ; seconds *= 2) {
    const endsAt = Date.now() + seconds * 1_000;
    try {
      const played = await play(seconds);
      if (Date.now() < endsAt) return { played, seconds };
    } catch (error) {
      // What comes too late may be refused.
      if (Date.now() < endsAt) throw error;
    }
  }
}
