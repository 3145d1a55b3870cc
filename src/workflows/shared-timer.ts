import { CancellationScope, sleep } from '@temporalio/workflow';

/** One durable timer for the earliest of many deadlines: not one per request (design section 5). */
export class SharedTimer {
  #armed: { atMs: number; scope: CancellationScope } | undefined;

  /** True if the timer stands as `atMs` needs it: armed for it or earlier, or for nothing when it is null. */
  serves(atMs: number | null): boolean {
    return atMs === null ? this.#armed === undefined : this.#armed !== undefined && this.#armed.atMs <= atMs;
  }

  /** Arms the timer for `atMs` (workflow time), or stops it; an earlier one that is armed stays. */
  arm(atMs: number | null, summary: string): void {
    if (this.serves(atMs)) return;
    this.#armed?.scope.cancel();
    this.#armed = undefined;
    if (atMs === null) return;
    const scope = new CancellationScope();
    const armed = { atMs, scope };
    this.#armed = armed;
    const forget = (): void => {
      if (this.#armed === armed) this.#armed = undefined;
    };
    void scope.run(() => sleep(Math.max(1, atMs - Date.now()), { summary })).then(forget, forget);
  }
}
