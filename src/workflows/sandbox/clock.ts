/**
 * The clock of a run. In a workflow, `Date.now()` is the start of the workflow task. A fired timer or the recorded time
 * of a message proves a later time. No other workflow code reads a clock (docs/decisions/0058).
 */
import { activations } from './activation.ts';
import { runLocal } from './run-local.ts';

/** The time of one activation. `atMs` grows while the SDK hands over jobs that prove a later time. */
export interface Moment {
  readonly atMs: number;
}

interface Clock {
  provenMs: number;
  activation: number;
  moment: { atMs: number };
}

const state = (): Clock => runLocal('clock', () => ({ provenMs: 0, activation: -1, moment: { atMs: 0 } }));

/**
 * The time by the worker's own clock, which differs on each replay: only code that refuses queries may read it. The SDK
 * replaces `Date` in workflows, but `Date.prototype.constructor` is still the original one.
 */
export const workerNowMs = (): number => (Date.prototype.constructor as DateConstructor).now();

export const clock = {
  /** The time in milliseconds. It never goes back. If the activation writes a command, a replay has the same time. */
  get nowMs(): number {
    return Math.max(Date.now(), state().provenMs);
  },

  /** The time of this activation. Read its `atMs` only once the SDK has handed over all jobs of the activation. */
  get moment(): Moment {
    const now = state();
    if (now.activation !== activations().number) {
      now.activation = activations().number;
      now.moment = { atMs: clock.nowMs };
    }
    return now.moment;
  },

  prove(atMs: number): void {
    const now = state();
    now.provenMs = Math.max(now.provenMs, atMs);
    if (now.activation === activations().number) now.moment.atMs = Math.max(now.moment.atMs, atMs);
  },
};
