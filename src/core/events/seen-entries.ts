/** Which journal entries have been seen. Payloads repeat entries, and may carry them out of order. */
export class SeenEntries {
  /** Every entry up to this one has been seen. */
  #upTo = 0;
  readonly #beyond = new Set<number>();

  /** True the first time. */
  take(seq: number): boolean {
    if (seq <= this.#upTo || this.#beyond.has(seq)) return false;
    this.#beyond.add(seq);
    while (this.#beyond.delete(this.#upTo + 1)) this.#upTo += 1;
    return true;
  }

  /** Takes what is missing before the first entry that was seen as seen: the server no longer has it. */
  startLate(): void {
    if (this.#upTo > 0 || this.#beyond.size === 0) return;
    this.#upTo = Math.min(...this.#beyond) - 1;
    while (this.#beyond.delete(this.#upTo + 1)) this.#upTo += 1;
  }

  /** The entries that are missing between those that were seen: `[first, last]`. */
  get missing(): [number, number][] {
    const gaps: [number, number][] = [];
    let expected = this.#upTo + 1;
    for (const seq of [...this.#beyond].sort((one, other) => one - other)) {
      if (seq > expected) gaps.push([expected, seq - 1]);
      expected = seq + 1;
    }
    return gaps;
  }
}
