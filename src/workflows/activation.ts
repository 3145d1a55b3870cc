/**
 * What the gate must know of each activation (one workflow task handled) and the SDK does not tell workflow code: which
 * activation this is, whether all its jobs were handed over, and which history event brought a signal.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { messageNames, parentsChangedName, workflowType } from '../contract.ts';
import { isUndecodable } from '../core/undecodable.ts';
import { noteArguments } from './carried.ts';
import { endGuarded, guardOutbound } from './guarded-activities.ts';
import { ofThisRun } from './of-this-run.ts';
import { askingQueries, markExcess, markStrict } from './strict-payloads.ts';
import { unreadPayloadOf } from './unread-payload.ts';

/** Signals whose names Temporal reserves would throw before any handler (I5b); they arrive under this name instead. */
export const reservedSignalName = 'countersign.reserved';
const reservedPrefix = '__temporal_';

const named: readonly string[] = [...Object.values(messageNames), parentsChangedName];

interface Activations {
  installed: boolean;
  number: number;
  isBeingHandedOver: boolean;
  /** Of signals that have not been handled, by their names. */
  eventIds: Map<string, string[]>;
}

const ofRun = (): Activations =>
  ofThisRun('activations', () => ({ installed: false, number: 0, isBeingHandedOver: false, eventIds: new Map() }));

export const activation = {
  /** False on a worker that was not made by `createWorker`: the gate refuses to work there. */
  get installed(): boolean {
    return ofRun().installed;
  },
  /** Counts activations of this run since the worker loaded it; only compared for equality within one run. */
  get number(): number {
    return ofRun().number;
  },
  /** True while the SDK hands the jobs of the activation to their handlers, one by one. */
  get isBeingHandedOver(): boolean {
    return ofRun().isBeingHandedOver;
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
          markStrict(jobs);
          markExcess(jobs, workflowInfo().workflowType === workflowType);
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
          // Recorded updates come last on replay, so they come last here, too.
          const updates = jobs.filter((job) => job.doUpdate != null);
          input.activation.jobs = [...jobs.filter((job) => job.doUpdate == null), ...updates];
          state.isBeingHandedOver = true;
          try {
            return next(input);
          } finally {
            state.isBeingHandedOver = false;
          }
        },
      },
    ],
    outbound: [guardOutbound],
    inbound: [
      {
        // An agent run sees to its own end.
        execute(input, next) {
          noteArguments(input.args);
          return workflowInfo().workflowType === workflowType ? next(input) : endGuarded(next(input));
        },
        /** An answer to another question than the one asked would be worse than none. */
        // oxlint-disable-next-line require-await -- a throw in an activation would fail its task
        async handleQuery(input, next) {
          const unread = askingQueries.includes(input.queryName) ? input.args.find(isUndecodable) : undefined;
          if (unread === undefined) return next(input);
          const message = `the argument of query '${input.queryName}' could not be decoded: ${unread.why}`;
          throw ApplicationFailure.nonRetryable(message, 'undecodable');
        },
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
