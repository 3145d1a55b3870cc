/**
 * The clock of a run. Workflow time, the start of the task, is a lower bound: a fired timer proves when it was due, a
 * message when it was recorded. No other workflow code reads a clock (docs/decisions/0058).
 */
import { activations } from './activation.ts';
import { runLocal } from './run-local.ts';

/** The time of one activation. Jobs that are handed over later may prove a later one. */
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
 * The worker's own clock, in milliseconds. It differs on each replay, so it decides only whether a query is answered.
 * The SDK replaces `Date`; the prototype still leads to the original.
 */
export const workerNowMs = (): number => (Date.prototype.constructor as DateConstructor).now();

export const clock = {
  /** Never goes back. Equal on each replay, in an activation that writes a command. */
  get nowMs(): number {
    return Math.max(Date.now(), state().provenMs);
  },

  /** The time of this activation. Read it once all jobs are handed over. */
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
