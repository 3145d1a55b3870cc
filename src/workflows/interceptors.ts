/** The interceptors of all workflows of a worker. They record facts about activations, and gate activities. */
import { type WorkflowInterceptors, ApplicationFailure, workflowInfo, type ActivateInput } from '@temporalio/workflow';
import { messageNames, parentsChangedName, workflowType } from '../contract.ts';
import { isUndecodable } from '../core/base/undecodable.ts';
import { endGuarded, guardOutbound } from './guarded/guarded-activities.ts';
import { failMalformed, noteActivities } from './sandbox/activity-results.ts';
import { activations, reservedSignalName } from './sandbox/activation.ts';
import { askingQueries, markExcess, markStrict } from './sandbox/strict-payloads.ts';
import { noteCommands, noteProgress, refuseAhead } from './sandbox/untaken-events.ts';
import { noteArguments } from './state/carried.ts';
import type { Payload } from '@temporalio/common';
import { payloadConverter } from './sandbox/payload-converter.ts';

const reservedPrefix = '__temporal_';
const named: readonly string[] = [...Object.values(messageNames), parentsChangedName];

/** Returns the interceptors. They order and mark the jobs of an activation before the workflow sees them. */
export function interceptors(): WorkflowInterceptors {
  const state = activations();
  state.installed = true;
  return {
    internals: [
      {
        activate(input, next) {
          const jobs = input.activation.jobs ?? [];
          const unread = unreadPayloadOf(jobs);
          // This fails the task, not the run: the server retries the task until a worker can read the payload.
          if (unread !== undefined) throw new Error(unread);
          failMalformed(jobs);
          markStrict(jobs);
          markExcess(jobs, workflowInfo().workflowType === workflowType);
          // A query has an activation of its own, which must change neither the clock nor the gate.
          if (jobs.some((job) => job.queryWorkflow != null)) {
            refuseAhead(input.activation);
            return next(input);
          }
          state.number++;
          noteProgress(input.activation);
          for (const { signalWorkflow } of jobs) {
            if (signalWorkflow == null) continue;
            if (signalWorkflow.signalName?.startsWith(reservedPrefix)) signalWorkflow.signalName = reservedSignalName;
            const name = signalWorkflow.signalName ?? '';
            if (!named.includes(name)) continue;
            const eventId = signalWorkflow.originatingEventId?.toString() ?? '';
            state.eventIds.set(name, [...(state.eventIds.get(name) ?? []), eventId]);
          }
          // A replay hands over recorded updates last, so hand them over last here, too.
          const updates = jobs.filter((job) => job.doUpdate != null);
          input.activation.jobs = [...jobs.filter((job) => job.doUpdate == null), ...updates];
          state.isBeingHandedOver = true;
          try {
            return next(input);
          } finally {
            state.isBeingHandedOver = false;
          }
        },
        concludeActivation(input, next) {
          noteCommands(input.commands);
          return next(input);
        },
      },
    ],
    outbound: [guardOutbound, noteActivities],
    inbound: [
      {
        // An agent run closes its own gate when it ends.
        execute(input, next) {
          noteArguments(input.args);
          return workflowInfo().workflowType === workflowType ? next(input) : endGuarded(next(input));
        },
        /** Refuses a query whose argument cannot be decoded, because it would otherwise answer a different question. */
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

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

/**
 * Returns why this activation cannot be processed yet; undefined if it can. A payload that a worker wrote may be in
 * external storage that cannot be read now, so the task must be repeated later. Payloads that clients write are not
 * checked here: they are refused as undecodable, because they must not delay a run (I5c).
 */
export function unreadPayloadOf(jobs: readonly Job[]): string | undefined {
  for (const { resolveActivity, resolveChildWorkflowExecution, initializeWorkflow } of jobs) {
    const carried = initializeWorkflow?.continuedFromExecutionRunId ? initializeWorkflow.arguments : [];
    const ofActivity = resolveActivity?.result?.completed?.result;
    const ofChild = resolveChildWorkflowExecution?.result?.completed?.result;
    for (const payload of [ofActivity, ofChild, ...(carried ?? [])]) {
      const why = payload == null ? undefined : whyUnread(payload);
      if (why !== undefined) {
        return `A payload of this run cannot be read: ${why}. Give each worker of the task queue the same largePayloads.`;
      }
    }
  }
  return undefined;
}

/** The most bytes of a payload that stands for one in external storage. Larger payloads need no check. */
const longestReference = 64;

function whyUnread(payload: Payload): string | undefined {
  if ((payload.data?.length ?? 0) > longestReference) return undefined;
  const value: unknown = payloadConverter.fromPayload(payload);
  return isUndecodable(value) && value.unread ? value.why : undefined;
}
