/** What has to be undone at the end, in reverse order of how it was made; each even if another one fails. */
export class CleanUp {
  readonly #steps: (() => Promise<unknown>)[] = [];
  #begun = false;

  /** Throws once the end has begun: what is made then would stay behind. */
  add(step: () => Promise<unknown>): void {
    this.check();
    this.#steps.push(step);
  }

  check(): void {
    if (this.#begun) throw new Error('The demo is ending.');
  }

  async run(): Promise<void> {
    this.#begun = true;
    for (const step of this.#steps.toReversed()) await step().catch(() => undefined);
  }
}
