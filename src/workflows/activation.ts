/**
 * What the gate must know of each activation (one workflow task handled) and the SDK does not tell workflow code:
 * which activation this is, and which history event brought a signal. The interceptor below tells it.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { workflowInfo } from '@temporalio/workflow';
import { messageNames, parentsChangedName, workflowType } from '../contract.ts';
import { endGuarded, guardOutbound } from './guarded-activities.ts';
import { ofThisRun } from './of-this-run.ts';
import { unreadPayloadOf } from './unread-payload.ts';

/** Signals whose names Temporal reserves would throw before any handler (I5b); they arrive under this name instead. */
export const reservedSignalName = 'countersign.reserved';
const reservedPrefix = '__temporal_';

const named: readonly string[] = [...Object.values(messageNames), parentsChangedName];

interface Activations {
  installed: boolean;
  number: number;
  listeners: Set<() => void>;
  /** Of signals that have not been handled, by their names. */
  eventIds: Map<string, string[]>;
}

const ofRun = (): Activations =>
  ofThisRun('activations', () => ({ installed: false, number: 0, listeners: new Set(), eventIds: new Map() }));

export const activation = {
  /** False on a worker that was not made by `createWorker`: the gate refuses to work there. */
  get installed(): boolean {
    return ofRun().installed;
  },
  /** Counts activations of this run since the worker loaded it; only compared for equality within one run. */
  get number(): number {
    return ofRun().number;
  },
  /**
   * Calls `listener` at the start of every activation, before its signals are handled; not of one that brings updates
   * alone. A refused update leaves nothing in history, and a replay would not find what was done because of it: what
   * depends on the clock or on the length of history is looked at here and nowhere else (I12).
   */
  onStart(listener: () => void): void {
    ofRun().listeners.add(listener);
  },
};

/** The history event that brought the signal of ours now being handled: the second argument of its handler. */
export type SignalEventId = string;

export function interceptors(): WorkflowInterceptors {
  const state = ofRun();
  state.installed = true;
  return {
    internals: [
      {
        activate(input, next) {
          const jobs = input.activation.jobs ?? [];
          const unread = unreadPayloadOf(jobs);
          // Not a failure of the run: its task is tried again until a worker reads it, and what is there then counts.
          if (unread !== undefined) throw new Error(unread);
          // Queries come alone and leave the clock where it was: they must leave the gate as it is, too.
          if (jobs.some((job) => job.queryWorkflow != null)) return next(input);
          state.number++;
          for (const { signalWorkflow } of jobs) {
            if (signalWorkflow == null) continue;
            if (signalWorkflow.signalName?.startsWith(reservedPrefix)) signalWorkflow.signalName = reservedSignalName;
            const name = signalWorkflow.signalName ?? '';
            if (!named.includes(name)) continue;
            const eventId = signalWorkflow.originatingEventId?.toString() ?? '';
            state.eventIds.set(name, [...(state.eventIds.get(name) ?? []), eventId]);
          }
          // After each job the SDK lets go on whoever waits. A replay does not find the refused updates: they come last,
          // when nobody waits any more for what the others brought, so that the order of commands is the same (I12).
          const updates = jobs.filter((job) => job.doUpdate != null);
          const others = jobs.filter((job) => job.doUpdate == null);
          input.activation.jobs = [...others, ...updates];
          if (others.length > 0) for (const listener of state.listeners) listener();
          return next(input);
        },
      },
    ],
    outbound: [guardOutbound],
    inbound: [
      {
        // An agent run sees to its own end.
        execute: (input, next) =>
          workflowInfo().workflowType === workflowType ? next(input) : endGuarded(next(input)),
        handleSignal(input, next) {
          const eventIds = state.eventIds.get(input.signalName);
          if (eventIds === undefined) return next(input);
          // Signals of one name are handled in the order of their events.
          return next({ ...input, args: [input.args[0], eventIds.shift() ?? ''] });
        },
      },
    ],
  };
}
