const [firstMs, longestMs] = [1_000, 3_600_000];
/** A call that lasted this long has reached its channel, so the next wait is short again. */
const realCallMs = 60_000;

/** The waits between calls. They grow to an hour, because calls may fail for days and each adds to history. */
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
