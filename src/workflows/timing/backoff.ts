const [firstMs, longestMs] = [1_000, 3_600_000];
/** A call that lasted this long did reach its channel, so the waits begin anew. */
const realCallMs = 60_000;

/** Waits between calls that grow to an hour: a worker may lack the channel for days, and each call adds to history. */
export class Backoff {
  #count = 0;

  next(lastedMs = 0): number {
    if (lastedMs >= realCallMs) this.reset();
    return backoffMs(this.#count++);
  }

  reset(): void {
    this.#count = 0;
  }
}

export function backoffMs(count: number): number {
  return Math.min(firstMs * 2 ** count, longestMs);
}
