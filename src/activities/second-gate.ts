import type { PayloadConverter } from '@temporalio/common';
import type { ActivityExecuteInput, ActivityInboundCallsInterceptor, Next } from '@temporalio/worker';
import { ApplicationFailure, activityInfo, Context, getClient, log, metricMeter } from '@temporalio/activity';
import { z } from 'zod';
import type { Tool } from '../agents/definitions.ts';
import { type Registry, definitionOf } from '../agents/registry.ts';
import type { UngatedWindow } from '../agents/check-gated.ts';
import { validateArguments } from '../agents/define-tool.ts';
import { activityNames, channelsWorkflowType, standingDelegationType } from '../contract.ts';
import { type BoundFacts, type BoundPreview, factsChanged, isBoundFacts } from '../core/base/bound-preview.ts';
import { callDigest } from '../core/base/digest.ts';
import { type GatedDefinition, gatedArguments } from '../core/policy/gated-activity.ts';
import {
  isRepeatable,
  definitionChangedType,
  previewChangedType,
  payloadNotKeptType,
  payloadUnreadType,
  refusedBySecondGate,
  outcomeUnknownType,
  type JsonObject,
  type ToolDefinition,
  type secondGateTypes,
} from '../core/base/tool-call.ts';
import { isUndecodable } from '../core/base/undecodable.ts';
import { type ChangedDefinition, notAsRecorded, startHeartbeats, unavailable } from './call-tool.ts';
import type { CheckEdit, CheckEditResult } from './check-edit.ts';
import { type PreviewInput, takePreview } from './preview.ts';
import type { PresentCeiling } from './present-ceiling.ts';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { mayRun } from '../core/policy/modes.ts';
import type { Ruling } from '../core/policy/ruling.ts';
import { activityExecution } from './recorded-events.ts';
import { Permitted } from '../core/base/permit-metadata.ts';

/** The only activities that the workflow of a run's channels may use. It may not run tools. */
const channelActivities: readonly string[] = [
  activityNames.verifyCarried,
  activityNames.lookAtRequests,
  activityNames.channelNotify,
  activityNames.channelResolve,
  activityNames.channelDecide,
  activityNames.channelSettled,
  activityNames.lookForEndedRuns,
];
const activitiesOf: ReadonlyMap<string, readonly string[]> = new Map([
  [channelsWorkflowType, channelActivities],
  [standingDelegationType, [activityNames.delegateOpen]],
]);

/**
 * Activities whose refusal is retried, because another worker may trust the workflow or be able to read the arguments.
 * Without their results, a decision would count as late, a change of policy would be missed, or a run would end.
 */
const waitedFor: readonly string[] = [
  activityNames.arbitrate,
  activityNames.readParents,
  activityNames.checkApprovers,
  ...[...activitiesOf.values()].flat(),
];

/** The most approvers in a permit. No request can have more people who vote on it or delegate their seats. */
const maxApprovers = 10_000;

const digestShape = z.string().regex(/^[0-9a-f]{64}$/);
const permitShape = z.object({
  workflowId: z.string(),
  // The idempotency key has this id. Without it, two runs with one workflow id would have the same keys.
  firstExecutionRunId: z.string().min(1),
  callId: z.string(),
  digest: digestShape,
  definition: digestShape,
  outcome: z.enum(['allowed', 'approved']),
  agent: z.string(),
  caller: z.object({ userId: z.string(), groups: z.array(z.string()).optional() }).optional(),
  heartbeats: z.boolean().optional(),
  approvedBy: z
    .array(z.object({ reviewerId: z.string().optional(), keyId: z.string().optional() }))
    .max(maxApprovers)
    .optional(),
  bound: z.union([z.enum(['pending', 'unknown', 'hidden']), z.custom<BoundFacts>(isBoundFacts)]).optional(),
  // A forged number gains nothing, because the newest engine must allow the call as well.
  engine: z.number().optional().catch(undefined),
});

export interface SecondGateOptions {
  registry: Registry;
  /** Plain activities that only a gated workflow may use, by name. */
  gated: ReadonlyMap<string, GatedDefinition>;
  /** The time in which an activity of `gated` may be called without a permit, by name. */
  ungated: ReadonlyMap<string, UngatedWindow>;
  /** Workflow types whose calls the operator trusts: `agentRun` and those named to `createWorker`. */
  workflowTypes: readonly string[];
  ceiling: PresentCeiling;
  /** Checks the arguments of a call whose tool has changed, by the present definition of the tool. */
  checkEdit: CheckEdit;
  payloadConverter: PayloadConverter;
}

/** The end of a refusal: it tells the operator how to let executions run that began before their calls were gated. */
const olderExecutions =
  ': gate the call in its workflow, and admit executions that are older than the gate with gatedSince and ungatedUntil (docs/deploy.md)';

/**
 * The second gate runs before every tool, every gated activity and every activity of Countersign. It permanently
 * refuses a call that no gate of a trusted workflow has admitted (I1). It also applies the operator's ceiling, as this
 * worker has it now, so that a forged start or a foreign workflow cannot run what the ceiling denies.
 */
export function secondGate({
  registry,
  gated,
  ungated,
  workflowTypes,
  ceiling,
  checkEdit,
  payloadConverter,
}: SecondGateOptions): ActivityInboundCallsInterceptor {
  const definitions = new Map<string, ToolDefinition>(gated);
  for (const each of registry.tools) definitions.set(each.name, definitionOf(each));

  async function execute(
    input: ActivityExecuteInput,
    next: Next<ActivityInboundCallsInterceptor, 'execute'>,
  ): Promise<unknown> {
    const ofGated = permitOfCall();
    const { activityType, workflowExecution, workflowType } = activityInfo();
    const listed = registry.toolsets.owns(activityType)
      ? await registry.toolsets.find(activityType, { fresh: true })
      : undefined;
    const tool = listed === undefined ? registry.tool(activityType) : 'tool' in listed ? listed.tool : undefined;
    const activity = gated.get(activityType);
    const called = tool ?? activity;
    const window = ofGated === undefined ? ungated.get(activityType) : undefined;
    if (called !== undefined && !isRepeatable(called) && window === undefined) refuseSecondStart(called.name);
    if (listed !== undefined && 'problem' in listed) throw unavailable(listed.problem);
    if (called === undefined && !activityType.startsWith('countersign.')) {
      if (ofGated === undefined) return next(input);
      throw refused(
        'forbidden',
        `'${activityType}' is gated in its workflow and not on this worker: name it in 'gated'`,
      );
    }
    if (workflowExecution === undefined || workflowType === undefined) {
      throw refused('forbidden', `'${activityType}' runs only inside a workflow, where its calls pass a gate`);
    }
    const isBeside = activitiesOf.get(workflowType)?.includes(activityType) === true;
    if (!isBeside && !workflowTypes.includes(workflowType)) {
      throw refusedHere(
        activityType,
        'forbidden',
        `workflow type '${workflowType}' may not use '${activityType}': name it in 'workflowTypes' of the worker`,
      );
    }
    const undecodable = input.args.find(isUndecodable);
    // Fail retryably: another worker, or this worker later, may be able to read an argument in external storage.
    if (undecodable?.unread === true) throw unread(`an argument of '${activityType}': ${undecodable.why}`);
    if (undecodable !== undefined) {
      throw refusedHere(activityType, 'undecodable', `an argument of '${activityType}' could not be decoded`);
    }
    if (called === undefined) return next(input);
    if (activity !== undefined && window !== undefined) {
      const problem = await ungatedProblem(window, ceiling.ruleOutside(activity, readGated(activity, input.args)));
      if (problem === undefined) {
        noteUngatedCall(window);
        return next(input);
      }
      throw refused(problem.type, problem.message);
    }
    // A tool is called by `agentRun` alone, which writes the permit before the arguments.
    const permit = permitShape.safeParse(activity === undefined ? input.args[0] : ofGated);
    if (!permit.success || permit.data.workflowId !== workflowExecution.workflowId) {
      const remedy = activity === undefined ? '' : olderExecutions;
      throw refused('forbidden', `'${called.name}' was called without a permit of this workflow's gate${remedy}`);
    }
    const { digest, definition, agent, caller, engine, outcome, bound, approvedBy = [], heartbeats } = permit.data;
    // Check the definition before the digest: under another definition, the same arguments may have another digest.
    const present = definitions.get(called.name) ?? definitionOf(tool!);
    if (definition !== present.definition) {
      if (listed !== undefined) throw notAsRecorded(called.name);
      const args = (input.args[1] ?? {}) as JsonObject;
      throw changed({
        definition: present,
        checked: tool === undefined ? undefined : await checkEdit({ agent, tool: tool.name, args, caller, engine }),
      });
    }
    const args = activity === undefined ? (input.args[1] as JsonObject) : readGated(activity, input.args);
    if (digestOf(called.name, args, definition) !== digest) {
      throw refused('digest_mismatch', `the arguments of '${called.name}' are not those that passed the gate`);
    }
    const denial = ceiling.denial(called, args, { agent, caller, engine });
    if (denial !== undefined) throw refused('denied_by_policy', denial);
    const revocation = ceiling.revocation(approvedBy);
    // The failure carries all revocations, so that the run counts none of these people for its next calls.
    if (revocation !== undefined) throw refused('denied_by_policy', revocation, { revoked: ceiling.revoked });
    if (tool === undefined)
      return runGated(input, { heartbeats, isRepeatable: isRepeatable(called), payloadConverter }, next);
    const valid = await validateArguments(tool, args);
    if ('problem' in valid) throw refused('arguments_invalid', valid.problem);
    if (tool.bind === undefined || outcome !== 'approved') return next(input);
    const checked = (): Promise<CheckEditResult> => checkEdit({ agent, tool: tool.name, args, caller, engine });
    // The permit binds no preview, because the run recorded the tool before it had `bind`: the run must ask again.
    if (bound === undefined) throw changed({ definition: present, checked: await checked() });
    const changes = await changedPreview(tool, args, bound, { agent, caller });
    if (changes.length > 0) throw previewChanged({ definition: present, checked: await checked(), changes });
    return next(input);
  }

  return {
    async execute(input, next) {
      try {
        return await execute(input, next);
      } catch (error) {
        // A refusal says that the call did not run, but an earlier attempt may have run it.
        if (isRefusal(error)) refuseSecondStart(activityInfo().activityType, error.message);
        throw error;
      }
    },
  };
}

/** True for a permanent refusal of the second gate, from which the run concludes that the call did not run. */
function isRefusal(error: unknown): error is ApplicationFailure {
  return (
    error instanceof ApplicationFailure && error.nonRetryable === true && error.details?.[0] === refusedBySecondGate
  );
}

function readGated(activity: GatedDefinition, given: readonly unknown[]): JsonObject {
  const read = gatedArguments(activity, given);
  if ('args' in read) return read.args;
  throw refused('arguments_invalid', read.problem);
}

function digestOf(tool: string, args: JsonObject, definition: string): string | undefined {
  try {
    return callDigest({ tool, args, definition });
  } catch {
    return undefined;
  }
}

/** Creates the failure for a tool that is not the admitted one (I8). The workflow asks again about the present tool. */
function changed(change: ChangedDefinition): ApplicationFailure {
  const message = `'${change.definition.name}' has another definition on this worker than the one that passed the gate`;
  return ApplicationFailure.nonRetryable(message, definitionChangedType, refusedBySecondGate, change);
}

/** Creates the failure for changed facts of a bound preview. The workflow asks again, and shows what has changed. */
function previewChanged(change: ChangedDefinition): ApplicationFailure {
  const message = `what '${change.definition.name}' would change is not what its reviewers approved`;
  return ApplicationFailure.nonRetryable(message, previewChangedType, refusedBySecondGate, change);
}

/** Takes the preview again, and returns what has changed since reviewers saw it; an empty list if the call may run. */
async function changedPreview(
  tool: Tool,
  args: JsonObject,
  bound: BoundPreview,
  calledBy: Pick<PreviewInput, 'agent' | 'caller'>,
): Promise<string[]> {
  // The policy hides previews from reviewers, so their approval binds none.
  if (bound === 'hidden') return [];
  if (bound === 'pending' || bound === 'unknown')
    return ['The approval was given without a preview that it could bind'];
  const context = Context.current();
  const beat = startHeartbeats(context);
  try {
    const now = await takePreview(tool, args, calledBy);
    // The run no longer waits for the call, or this worker stops.
    if (context.cancellationSignal.aborted) return ['Just before the start, the call was cut off'];
    if (now.state === 'ready' && now.bound !== undefined) return factsChanged(bound, now.bound);
    const why = now.state === 'failed' ? `: ${now.message}` : '';
    return [`Just before the start, the tool could not say what would change${why}`];
  } finally {
    clearInterval(beat);
  }
}

function unread(message: string): ApplicationFailure {
  return ApplicationFailure.create({ message, type: payloadUnreadType, nonRetryable: false });
}

type Refusal = (typeof secondGateTypes)[number];

/** Creates a refusal that another worker may not share. It is retryable for the activities of `waitedFor`. */
function refusedHere(activityType: string, type: Refusal, message: string): ApplicationFailure {
  if (!waitedFor.includes(activityType)) return refused(type, message);
  return ApplicationFailure.create({ message, type, nonRetryable: false, details: [refusedBySecondGate] });
}

function refused(type: Refusal, message: string, ...more: unknown[]): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type, refusedBySecondGate, ...more);
}

/** Runs a gated activity, with heartbeats if `heartbeats` is true. A worker's shutdown gives `outcome_unknown` (I7). */
async function runGated(
  input: ActivityExecuteInput,
  options: { heartbeats?: boolean; isRepeatable: boolean; payloadConverter: PayloadConverter },
  next: Next<ActivityInboundCallsInterceptor, 'execute'>,
): Promise<unknown> {
  const context = Context.current();
  const { activityType } = context.info;
  const beat = options.heartbeats === true ? startHeartbeats(context) : undefined;
  let result: unknown;
  try {
    result = await next(input);
  } catch (error) {
    // A cancellation that the workflow requested stays a cancellation.
    if (context.cancellationSignal.aborted && context.cancellationDetails?.cancelRequested !== true) {
      // A retryable failure of a paused activity would reach the workflow only after an operator's unpause.
      throw ApplicationFailure.create({
        message: `activity '${activityType}' was cut off while it ran`,
        type: outcomeUnknownType,
        nonRetryable: !options.isRepeatable,
      });
    }
    throw error;
  } finally {
    clearInterval(beat);
  }
  return asRead(result, options.payloadConverter);
}

/**
 * Returns the result as the workflow will read it. Throws a failure of its own type if the result cannot be written:
 * later, Temporal would report an error of the activity, and the model would call the activity again.
 */
function asRead(result: unknown, converter: PayloadConverter): unknown {
  let read: unknown;
  try {
    read = converter.fromPayload(converter.toPayload(result));
  } catch (error) {
    throw notKept('it is neither JSON nor bytes', error as Error);
  }
  if (isUndecodable(read)) throw notKept(`it is ${read.why}`);
  return read;
}

function notKept(message: string, cause?: Error): ApplicationFailure {
  return ApplicationFailure.create({ message, type: payloadNotKeptType, nonRetryable: true, cause });
}

/**
 * Refuses to start a call that may have run before (I7). A call with side effects has only one attempt, but an operator
 * can make the server start it again: by more attempts, a reset or an unpause of the activity, or a reset of the
 * workflow. Each changes the attempt's number or scheduled time. Heartbeat details are no proof, because
 * `--reset-heartbeats` removes them.
 */
export function refuseSecondStart(name: string, why?: string): void {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = activityInfo();
  if (attempt === 1 && currentAttemptScheduledTimestampMs === scheduledTimestampMs) return;
  throw ApplicationFailure.nonRetryable(
    `'${name}' may have been started before and is not started again${why === undefined ? '' : `: ${why}`}`,
    outcomeUnknownType,
  );
}

/** The name of the metric that counts calls without a permit, by activity and workflow type. */
export const ungatedCallsMetric = 'countersign_ungated_calls';

/**
 * Returns why the present call, which has no permit, must not run; undefined if it may. It may run until `ungatedUntil`
 * if its execution started before `gatedSince`, as the server says (I1), unless a rule or the mode of the ceiling
 * denies it. A risk default of the ceiling does not deny it.
 */
export async function ungatedProblem(
  { sinceMs, untilMs }: UngatedWindow,
  { action, rule, mode, reason }: Ruling,
): Promise<{ type: 'denied_by_policy' | 'forbidden'; message: string } | undefined> {
  const { activityType } = activityInfo();
  const isByRiskDefault = rule === null && mode === undefined;
  if (!mayRun(action) && !isByRiskDefault) {
    return { type: 'denied_by_policy', message: reason ?? `the operator's policy denies '${activityType}'` };
  }
  const without = (why: string) =>
    ({ type: 'forbidden', message: `'${activityType}' was called without a permit, and ${why}` }) as const;
  if (Date.now() >= untilMs) return without(`ungatedUntil, ${isoOf(untilMs)}, has passed`);
  const startedAtMs = await executionStartedAtMs();
  if (startedAtMs < sinceMs) return undefined;
  return without(`its execution started at ${isoOf(startedAtMs)}, not before gatedSince, ${isoOf(sinceMs)}`);
}

/** Counts and logs a call that runs without a permit, so that an operator sees when the last such call was. */
export function noteUngatedCall({ untilMs }: UngatedWindow): void {
  const { activityType, workflowType = '' } = activityInfo();
  metricMeter
    .createCounter(ungatedCallsMetric, 'calls', 'Gated activities that ran without a permit (ungatedUntil)')
    .add(1, { activityType, workflowType });
  log.warn(`'${activityType}' runs without a permit: its execution is older than its gate`, {
    ungatedUntil: isoOf(untilMs),
  });
}

/** Asks the server when this execution started. Infinity if the server does not say, so that it counts as new. */
async function executionStartedAtMs(): Promise<number> {
  const { connection, options } = getClient();
  const { workflowExecutionInfo } = await connection.workflowService.describeWorkflowExecution({
    namespace: options.namespace,
    execution: activityExecution(),
  });
  const startTime = workflowExecutionInfo?.startTime;
  return startTime?.seconds == null ? Infinity : tsToMs(startTime);
}

function isoOf(atMs: number): string {
  return Number.isFinite(atMs) ? new Date(atMs).toISOString() : 'an unknown time';
}

const permits = new WeakMap<Context, object>();

/** Separates a call's permit from its arguments. Must be the first interceptor, so that others see only arguments. */
export const separatePermit: ActivityInboundCallsInterceptor = {
  execute(received, next) {
    const args = received.args.map((arg) => (arg instanceof Permitted ? arg.value : arg));
    const [first] = received.args;
    if (!(first instanceof Permitted)) return next({ ...received, args });
    permits.set(Context.current(), first.permit);
    // The gate adds an empty argument to a call without arguments, to carry the permit.
    const hasNone = args.length === 1 && args[0] === undefined;
    return next({ ...received, args: hasNone ? [] : args });
  },
};

export function permitOfCall(): object | undefined {
  return permits.get(Context.current());
}
