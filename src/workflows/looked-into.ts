import type { Receipt } from '../core/approval.ts';

/** What activities are finding out about messages. A run that ends first refuses these in that very step. */
export class LookedInto {
  readonly #ends = new Set<() => void>();

  /**
   * Waits for what is found out about one message. Where the run ends first, `refuse` is called in that step, so that its
   * entry is not too late for the journal, and its receipt is the answer.
   */
  async wait<Found extends object>(
    looking: Promise<Found>,
    refuse: () => Receipt,
  ): Promise<Found | { ended: Receipt }> {
    let receipt: Receipt | undefined;
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = () => {
        receipt = refuse();
        resolve();
      };
    });
    this.#ends.add(end);
    try {
      const found = await Promise.race([looking, ended]);
      // What was found out in the step that ended the run came too late all the same.
      return receipt === undefined ? (found as Found) : { ended: receipt };
    } catch (error) {
      if (receipt === undefined) throw error;
      return { ended: receipt };
    } finally {
      this.#ends.delete(end);
    }
  }

  /** The run ends. */
  endAll(): void {
    for (const end of this.#ends) end();
    this.#ends.clear();
  }
}
