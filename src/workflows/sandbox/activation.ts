/**
 * What the gate must know of each activation (one workflow task handled) and the SDK does not tell workflow code: which
 * activation this is, whether all its jobs were handed over, and which history event brought a signal.
 */
import { runLocal } from './run-local.ts';

/** Signals whose names Temporal reserves would throw before any handler (I5b); they arrive under this name instead. */
export const reservedSignalName = 'countersign.reserved';

interface Activations {
  installed: boolean;
  number: number;
  isBeingHandedOver: boolean;
  /** Of signals that have not been handled, by their names. */
  eventIds: Map<string, string[]>;
}

/** What the interceptors write and `activation` reads. */
export const activations = (): Activations =>
  runLocal('activations', () => ({ installed: false, number: 0, isBeingHandedOver: false, eventIds: new Map() }));

export const activation = {
  /** False on a worker that was not made by `createWorker`: the gate refuses to work there. */
  get installed(): boolean {
    return activations().installed;
  },
  /** Counts activations of this run since the worker loaded it; only compared for equality within one run. */
  get number(): number {
    return activations().number;
  },
  /** True while the SDK hands the jobs of the activation to their handlers, one by one. */
  get isBeingHandedOver(): boolean {
    return activations().isBeingHandedOver;
  },
};
