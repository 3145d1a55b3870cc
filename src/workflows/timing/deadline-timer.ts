import { CancellationScope, sleep } from '@temporalio/workflow';
import { clock } from '../sandbox/clock.ts';

/** One durable timer for the earliest of many deadlines, instead of one for each request. */
export class DeadlineTimer {
  readonly #onFired: () => void;
  #running: { atMs: number; scope: CancellationScope } | undefined;

  constructor(onFired: () => void) {
    this.#onFired = onFired;
  }

  /** True if the timer fires by `atMs`, or no timer is needed and none runs. */
  firesBy(atMs: number | null): boolean {
    return atMs === null ? this.#running === undefined : this.#running !== undefined && this.#running.atMs <= atMs;
  }

  /** Starts the timer for `atMs` (workflow time), or cancels it; a timer that fires earlier stays. */
  set(atMs: number | null, summary: string): void {
    if (this.firesBy(atMs)) return;
    this.#running?.scope.cancel();
    this.#running = undefined;
    if (atMs === null) return;
    const scope = new CancellationScope();
    const running = { atMs, scope };
    this.#running = running;
    void scope.run(() => this.#fire(running, summary));
  }

  async #fire(running: { atMs: number }, summary: string): Promise<void> {
    try {
      await sleep(Math.max(1, running.atMs - clock.nowMs), { summary });
    } catch {
      // Cancelled: another timer replaced it, or none is needed.
      return;
    } finally {
      if (this.#running === running) this.#running = undefined;
    }
    clock.prove(running.atMs);
    this.#onFired();
  }
}
