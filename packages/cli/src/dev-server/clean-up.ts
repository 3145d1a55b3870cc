/** Runs steps at the end, in reverse order; each runs even if another one fails. */
export class CleanUp {
  readonly #steps: (() => Promise<unknown>)[] = [];
  #begun = false;

  /** Adds a step. Throws once the clean-up has begun, because the step would never run. */
  add(step: () => Promise<unknown>): void {
    this.check();
    this.#steps.push(step);
  }

  check(): void {
    if (this.#begun) throw new Error('Everything is being stopped.');
  }

  async run(): Promise<void> {
    this.#begun = true;
    for (const step of this.#steps.toReversed()) await step().catch(() => undefined);
  }
}
