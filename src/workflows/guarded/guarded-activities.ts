/** The activities that pass the gate of this run, whichever code schedules them: the workflow, or a library. */
import type { WorkflowOutboundCallsInterceptor } from '@temporalio/workflow';
import { ApplicationFailure, ContinueAsNew, isCancellation, workflowInfo } from '@temporalio/workflow';
import { callDigest } from '../../core/base/digest.ts';
import type { GateConfig } from '../../core/policy/gate-config.ts';
import type { GatedActivity, GatedDefinition } from '../../core/policy/gated-activity.ts';
import { gatedDefinition, renewedDefinition } from '../../core/policy/gated-activity.ts';
import { redactionSettings } from '../../core/policy/redaction-settings.ts';
import type { RequestRecord } from '../../core/ledger/ledger.ts';
import type { ToolCall } from '../../core/base/tool-call.ts';
import { consultAdvisors } from '../gate/consult-advisors.ts';
import type { RunContext } from '../../core/ledger/recorded-context.ts';
import type { Gate } from '../gate/gate.ts';
import { callGated, type CallUnderWay } from './call-gated.ts';
import { runLocal } from '../sandbox/run-local.ts';

// oxlint-disable-next-line no-explicit-any -- as Temporal's own activity types: any arguments
type AnyFunction = (...args: any[]) => any;

/** Declares the activities `Activities` to the gate: those named here are gated, the others are not. */
export type Gated<Activities> = {
  readonly [Name in keyof Activities]?: GatedActivity & {
    /** The text that reviewers see beside the call, at most 500 characters. Default: `Workflow TYPE`. */
    about?: (...args: Activities[Name] extends AnyFunction ? Parameters<Activities[Name]> : never) => string;
  };
};

interface Guarded {
  gate: Gate;
  definitions: Map<string, GatedDefinition>;
  about: Map<string, AnyFunction>;
  /** The names of the options in the declaration of each activity. */
  optionNames: Map<string, string[]>;
  /** Requests that an earlier execution opened and that no call waits for yet. */
  carried: RequestRecord[];
  config?: GateConfig;
  /** The caller and the metadata that were given to the first `load`. */
  context?: RunContext;
  /** Calls of gated activities whose callers have neither a result nor an error yet. */
  underWay: Set<CallUnderWay>;
  /** True once the workflow has ended, or has handed everything to its next execution. */
  ended: boolean;
}

const ofRun = (): { guarded?: Guarded } => runLocal('guarded', () => ({}));

/** Returns the record of this run's gated activities, or creates it. Throws if the run has another gate. */
export function guardedBy(gate: Gate): Guarded {
  const guarded = (ofRun().guarded ??= {
    gate,
    definitions: new Map(),
    about: new Map(),
    optionNames: new Map(),
    carried: [],
    underWay: new Set(),
    ended: false,
  });
  if (guarded.gate === gate) return guarded;
  throw ApplicationFailure.nonRetryable('A workflow can have only one ApprovalGate', 'internal');
}

/** Records declarations, by which `guardOutbound` knows gated activities. Returns `activities`. Throws after `load`. */
export function guardActivities<Activities extends object>(
  gate: Gate,
  activities: Activities,
  // oxlint-disable-next-line no-generated-empty-object-type -- it is empty for \`object\` alone
  declared: Gated<Activities>,
): Activities {
  const { definitions, about, optionNames, config } = guardedBy(gate);
  if (config !== undefined) {
    throw ApplicationFailure.nonRetryable('ApprovalGate: call guard() before load(), which records it', 'internal');
  }
  for (const [name, options] of Object.entries<Gated<Record<string, AnyFunction>>[string]>(declared)) {
    if (options === undefined) continue;
    definitions.set(name, gatedDefinition(name, options));
    optionNames.set(name, Object.keys(options));
    if (options.about !== undefined) about.set(name, options.about);
  }
  return activities;
}

/** Passes each call of a gated activity through the gate. Other activities are scheduled as usual. */
export const guardOutbound: WorkflowOutboundCallsInterceptor = {
  scheduleActivity(input, next) {
    const { guarded } = ofRun();
    const activity = guarded?.definitions.get(input.activityType);
    if (guarded === undefined || activity === undefined) return next(input);
    return callGated(
      {
        gate: guarded.gate,
        underWay: guarded.underWay,
        activity,
        contextSummary: summaryOf(guarded, activity.name, input.args),
        takeUp: (call) => takeUp(guarded.carried, call),
        consult: (call, consultation) => {
          return consultAdvisors(call, consultation, redactionSettings(guarded.gate.policies));
        },
        renew: (present) => renew(guarded, present),
        hasEnded: () => guarded.ended,
      },
      input,
      next,
    );
  },
  scheduleLocalActivity(input, next) {
    if (ofRun().guarded?.definitions.has(input.activityType) !== true) return next(input);
    throw ApplicationFailure.nonRetryable(
      `'${input.activityType}' is gated: schedule it as a regular activity, not as a local one`,
      'internal',
    );
  },
};

/** True while a gated call runs, or waits for something else than an open request. Continue-as-new would lose it. */
export function hasGatedCall(): boolean {
  const { guarded } = ofRun();
  if (guarded === undefined) return false;
  const { gate, underWay } = guarded;
  return [...underWay].some(({ waitsFor }) => waitsFor === undefined || gate.settlement(waitsFor) !== undefined);
}

/** Awaits the end of a custom workflow and then ends its gate, unless the workflow continues as new. */
export async function endGuarded<Result>(running: Promise<Result>): Promise<Result> {
  try {
    const result = await running;
    await close('the workflow ended');
    return result;
  } catch (error) {
    if (!(error instanceof ContinueAsNew)) {
      await close(isCancellation(error) ? 'the workflow was cancelled' : 'the workflow ended');
    }
    throw error;
  }
}

/** Ends the gate, if it is loaded, after its last messages: cancels open requests, writes the rest of the journal. */
async function close(reason: string): Promise<void> {
  const { guarded } = ofRun();
  if (guarded?.config === undefined) return;
  guarded.ended = true;
  const { gate } = guarded;
  await gate.drain();
  gate.cancelAll(reason);
  await gate.drain();
  gate.writeLast();
}

/** Finds the request that an earlier execution opened for the same call, and removes it from `carried`. */
function takeUp(
  carried: RequestRecord[],
  { tool, args }: ToolCall,
): { callId: string; requestId: string; definition: string } | undefined {
  // Compare with the original request, before any edit, by the definition that its reviewers were asked about.
  const isOfCall = ({ origin, request, ruled: { definition } }: RequestRecord): boolean =>
    (origin ?? request).digest === callDigest({ tool, args, definition });
  const index = carried.findIndex(isOfCall);
  const [record] = index < 0 ? [] : carried.splice(index, 1);
  if (record === undefined) return undefined;
  const { callId, origin, request, ruled } = record;
  return { callId, requestId: (origin ?? request).requestId, definition: ruled.definition };
}

/** Replaces a changed definition in this execution and in the config that `carry` returns. Keeps the greater risk. */
function renew({ definitions, config }: Guarded, present: GatedDefinition): GatedDefinition {
  const known = definitions.get(present.name);
  const renewed = known === undefined ? present : renewedDefinition(present, known);
  definitions.set(present.name, renewed);
  if (config !== undefined) {
    config.gated = config.gated.map((each) => (each.name === present.name ? renewed : each));
  }
  return renewed;
}

/** Returns the requests that are open, or whose call was approved and has not ended. */
export function unfinished({ ledger }: Gate): RequestRecord[] {
  const pending = new Set(ledger.outcomes.flatMap(({ ran, requestId }) => (ran === 'pending' ? [requestId] : [])));
  return [...ledger.open, ...ledger.settled.filter(({ request }) => pending.has(request.requestId))];
}

/** The text that reviewers see beside a call. An error in the author's `about` does not fail the call. */
function summaryOf({ about }: Guarded, name: string, args: readonly unknown[]): string {
  try {
    return String(about.get(name)?.(...args) ?? `Workflow ${workflowInfo().workflowType}`);
  } catch {
    return `Workflow ${workflowInfo().workflowType}`;
  }
}
