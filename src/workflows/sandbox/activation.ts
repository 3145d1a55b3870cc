/**
 * Facts about each activation that the SDK does not give to workflow code: which activation it is, whether all its jobs
 * were handed over, and which history event brought a signal. An activation handles one workflow task, or a query.
 */
import { runLocal } from './run-local.ts';
import { ApplicationFailure } from '@temporalio/workflow';

/** A signal whose name Temporal reserves gets this name, because the SDK would throw before any handler ran (I5b). */
export const reservedSignalName = 'countersign.reserved';

interface Activations {
  /** False on a worker without the interceptors of this package. `Gate` throws there. */
  installed: boolean;
  /** Counts the activations of this run since the worker loaded it. Compare it only for equality and within one run. */
  number: number;
  /** True while the SDK hands the activation's jobs to their handlers, one by one. */
  isBeingHandedOver: boolean;
  /** Event ids of signals that have not been handled, by signal name. */
  eventIds: Map<string, string[]>;
  /** The length of history in the last activation, the start of its task, and whether it was a replay. */
  last: { historyLength: number; startedMs: number; isReplayed: boolean };
  isOfUpdates: boolean;
  /** Updates that were accepted and have not ended, by their protocol instance id. */
  accepted: Set<string>;
  /** The last task that the server cannot withdraw: how many events its commands leave, and what they create. */
  kept: { historyLength: number; startedMs: number; written: number; made: Set<string> };
  /** Activities and child workflows of cancellation type `ABANDON`, which keep running after a cancellation. */
  abandoned: Set<string>;
  /** The history length at the last activation that brought events. Undefined if that activation was a replay. */
  takenLength?: number | undefined;
  /** The number of commands since the activation of `takenLength` that leave one event each. */
  written: number;
  /** True if perhaps a query, and not a workflow task, brought the events of the last activation. */
  isAhead: boolean;
  /** True if the last activation was the first one after a replay, and brought new events. */
  isFirst: boolean;
  /** True if a query followed that first activation, whose events the query may have brought. */
  isQueried: boolean;
  /**
   * The `number` of the last activation in which a few more events would have made the run continue as new. A lost
   * attempt of a task adds such events, so a repeated task may do what the first attempt did not.
   */
  nearlyOutgrown?: number;
}

export const activations = (): Activations =>
  runLocal('activations', () => ({
    installed: false,
    number: 0,
    isBeingHandedOver: false,
    eventIds: new Map(),
    last: { historyLength: 0, startedMs: NaN, isReplayed: false },
    isOfUpdates: false,
    accepted: new Set(),
    kept: { historyLength: 0, startedMs: NaN, written: 0, made: new Set() },
    abandoned: new Set(),
    written: 0,
    isAhead: false,
    isFirst: false,
    isQueried: false,
  }));

export const needsPlugin =
  'ApprovalGate needs a worker made by createWorker, or with CountersignPlugin, from countersign/worker';

export function misused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'internal');
}
