/**
 * Facts about each activation (the handling of one workflow task) that the SDK does not give to workflow code: which
 * one it is, whether all its jobs were handed over, and which history event brought a signal.
 */
import { runLocal } from './run-local.ts';
import { ApplicationFailure } from '@temporalio/workflow';

/** Signals whose names Temporal reserves would throw before any handler (I5b); they are renamed to this. */
export const reservedSignalName = 'countersign.reserved';

interface Activations {
  /** False on a worker without the interceptors of this package: the gate throws there. */
  installed: boolean;
  /** Counts the activations of this run since the worker loaded it. Compare it only for equality and within one run. */
  number: number;
  /** True while the SDK hands the activation's jobs to their handlers, one by one. */
  isBeingHandedOver: boolean;
  /** Event ids of signals that have not been handled, by signal name. */
  eventIds: Map<string, string[]>;
  /** How far history had come in the last activation, the start of its task, and whether it was a replay. */
  last: { historyLength: number; startedMs: number; isReplayed: boolean };
  isOfUpdates: boolean;
  /** Updates that were accepted and have not ended, by their protocol instance id. */
  accepted: Set<string>;
  /** The last task that the server keeps for sure, how many events its commands leave, and what they made. */
  kept: { historyLength: number; startedMs: number; written: number; made: Set<string> };
  /** Activities and children that go on when they are cancelled. */
  abandoned: Set<string>;
  /** How far history had come with the last activation that brought events, unless a replay handed it over. */
  takenLength?: number | undefined;
  /** How many commands followed since then that leave an event each. */
  written: number;
  /** True if a query, not a task, may have brought the events of the last activation. */
  isAhead: boolean;
  /** True if the last activation brought the first events that were no replay. */
  isFirst: boolean;
  /** True if a query came after those events, so that it may have brought them with the start of an attempt. */
  isQueried: boolean;
  /** The last activation in which a few events more would have made the run continue as new. */
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
