const [firstMs, longestMs] = [1_000, 3_600_000];
/** A call that lasted as long as this was no failure to call. */
const realCallMs = 60_000;

/**
 * The waits between calls of a channel that were not made, or were interrupted. They grow to an hour, because a worker
 * that lacks the channel may do so for days, and each call adds to history.
 */
export class Backoff {
  #waitMs = firstMs;

  /** The next wait, after a call that lasted so long. */
  next(lastedMs: number): number {
    if (lastedMs >= realCallMs) this.reset();
    const waitMs = this.#waitMs;
    this.#waitMs = Math.min(2 * waitMs, longestMs);
    return waitMs;
  }

  reset(): void {
    this.#waitMs = firstMs;
  }
}
