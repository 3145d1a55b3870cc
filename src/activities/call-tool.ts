import { ApplicationFailure, Context, activityInfo } from '@temporalio/activity';
import type { Permit } from '../contract.ts';
import { parseJson, isObject } from '../core/base/json.ts';
import { sentences } from '../core/ledger/sentences.ts';
import { inlineLimits } from '../core/base/size-limits.ts';
import {
  isRepeatable,
  outcomeUnknownType,
  resultWithheldType,
  toolFailedType,
  refusedBySecondGate,
  type Json,
  type JsonObject,
  type ToolDefinition,
  type secondGateTypes,
} from '../core/base/tool-call.ts';
import type { ResultCheckContext, Tool, ToolContext, UnknownOutcomeError } from '../agents/definitions.ts';
import { type CheckEnd, runCheck } from './call-model.ts';
import type { OpenToolsets } from '../agents/define-toolset.ts';
import { definitionOf, type Registry } from '../agents/registry.ts';
import type { GatedDefinition } from '../core/policy/gated-activity.ts';
import type { CheckEditResult } from './check-edit.ts';
import { validateArguments } from '../agents/define-tool.ts';
import { aborted } from '../text/aborted.ts';

const longestMessage = 10_000;

/** Runs the tool's `checkResult` on a copy of the result. Resolves to undefined if the model may have the result. */
type Check = (result: Json, isError: boolean) => Promise<CheckEnd>;

/**
 * Returns the activity of one tool, which runs after the second gate. Its heartbeats show that the worker is alive. It
 * fails with `outcome_unknown` if it is cut off while the tool runs (I7). If the tool's `checkResult` keeps the result
 * from the model, it fails with `result_withheld`, and the failure has nothing of the result.
 */
export function callTool(
  tool: Tool,
  maxResultBytes = inlineLimits.resultBytes,
): (permit: Permit, args: JsonObject) => Promise<unknown> {
  return async (permit, args) => {
    const context = Context.current();
    const beat = startHeartbeats(context);
    const toTool = toolContext(context, permit);
    const check = checkOf(tool, args, toTool);
    try {
      return await givenResult(tool, await execute(tool, args, toTool, check), maxResultBytes, check);
    } finally {
      clearInterval(beat);
    }
  };
}

/** Heartbeats three times in each heartbeat time-out, until the caller clears the interval. Undefined without one. */
export function startHeartbeats(context: Context): NodeJS.Timeout | undefined {
  const { heartbeatTimeoutMs } = context.info;
  return heartbeatTimeoutMs ? setInterval(() => context.heartbeat(), heartbeatTimeoutMs / 3) : undefined;
}

/** Runs the tool. Converts an error to a failure that says whether the tool ran. `check` may withhold its message. */
async function execute(tool: Tool, args: JsonObject, context: ToolContext, check: Check | undefined): Promise<unknown> {
  try {
    return await tool.execute(args, context);
  } catch (error) {
    if (context.signal.aborted) throw leftInMidCall(tool);
    if (error instanceof Error && error.name === ('UnknownOutcomeError' satisfies UnknownOutcomeError['name'])) {
      throw outcomeUnknown(tool, error.message);
    }
    const failure = failed(tool, error);
    const end = await check?.(failure.message, true);
    throw end === undefined ? failure : withheld(end, failure.nonRetryable === true);
  }
}

/** Identifies one call among the calls of all runs, and names the call's agent and caller. */
type CallIdentity = Pick<Permit, 'workflowId' | 'firstExecutionRunId' | 'callId' | 'agent' | 'caller'>;

function toolContext(context: Context, permit: CallIdentity): ToolContext {
  const { workflowId, firstExecutionRunId, callId, agent, caller } = permit;
  const { cancellationSignal: signal, log } = context;
  const idempotencyKey = `${firstExecutionRunId}/${callId}`;
  return { signal, idempotencyKey, workflowId, callId, agent, caller, log };
}

/** Returns the tool's `checkResult` for the results of this call; undefined if the tool has no such check. */
function checkOf(tool: Tool, args: JsonObject, toTool: ToolContext): Check | undefined {
  if (tool.checkResult === undefined) return undefined;
  const { idempotencyKey: _, signal: cancellation, ...call } = toTool;
  // Copy the arguments now, because the tool may change them while it runs.
  const about: Omit<ResultCheckContext, 'signal' | 'isError'> = { ...call, args: structuredClone(args) };
  return (result, isError) =>
    runCheck((signal) => tool.checkResult!(structuredClone(result), { ...about, isError, signal }), cancellation);
}

/** Returns the result for the model, or a sentence if the result cannot be recorded. Throws if `check` withholds it. */
async function givenResult(tool: Tool, result: unknown, maxBytes: number, check: Check | undefined): Promise<unknown> {
  const read = readResult(result ?? null, maxBytes);
  if ('problem' in read) return sentences.resultNotGiven(read.problem);
  // Temporal writes bytes as they are, and not as JSON. A check reads JSON, so the model then gets what was checked.
  if (check === undefined && ArrayBuffer.isView(result)) return result;
  // Give the model the JSON that was measured, because the tool may still change the object that it returned.
  const given = parseJson(read.json) as Json;
  const notGiven = await check?.(given, false);
  if (notGiven === undefined) return given;
  // Without a verdict, the next attempt runs the tool and the check again, if the tool may be repeated.
  throw withheld(notGiven, !isRepeatable(tool) || 'refused' in notGiven);
}

/** Returns the result as JSON, or why it cannot be recorded: it is not JSON, or it is too large. */
function readResult(result: unknown, maxBytes: number): { json: string } | { problem: string } {
  let json: string | undefined;
  try {
    json = JSON.stringify(result);
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return { problem: `it is not JSON: ${reason.slice(0, 200)}` };
  }
  if (json === undefined) return { problem: `it is not JSON: a ${typeof result}` };
  const bytes = Buffer.byteLength(json);
  return bytes <= maxBytes ? { json } : { problem: `it has ${bytes} bytes, and at most ${maxBytes} can be kept` };
}

// Failures of a tool that must not be repeated are not retryable, because an operator could allow another attempt.

function leftInMidCall(tool: Tool): ApplicationFailure {
  return outcomeUnknown(tool, `tool '${tool.name}' was cut off while it ran`);
}

/** Creates the failure of a call whose outcome is unknown. It is retryable only if the tool may be repeated. */
function outcomeUnknown(tool: Tool, message: string): ApplicationFailure {
  const nonRetryable = !isRepeatable(tool);
  return ApplicationFailure.create({
    message: message.slice(0, longestMessage),
    type: outcomeUnknownType,
    nonRetryable,
  });
}

/** Converts an error of the tool's author. Replaces its type, because it could equal a type of Countersign. */
function failed(tool: Tool, error: unknown): ApplicationFailure {
  const message = error instanceof Error ? error.message : String(error);
  const nonRetryable = !isRepeatable(tool) || (error instanceof ApplicationFailure && error.nonRetryable === true);
  return ApplicationFailure.create({ message: message.slice(0, longestMessage), type: toolFailedType, nonRetryable });
}

function withheld(end: NonNullable<CheckEnd>, nonRetryable: boolean): ApplicationFailure {
  const message = 'refused' in end ? end.refused : end.failed;
  return ApplicationFailure.create({ message, type: resultWithheldType, nonRetryable });
}

/** Returns the activity of all tools of toolsets. A tool that has changed since the run recorded it does not run. */
export function callToolsetTool(
  toolsets: OpenToolsets,
  maxResultBytes: number,
): (permit: Permit, args: JsonObject) => Promise<unknown> {
  return async (permit, args) => {
    const { activityType } = activityInfo();
    if (!toolsets.owns(activityType)) {
      // Temporal's worker throws the same error for a name that it does not know.
      throw ApplicationFailure.retryable(`'${activityType}' is no activity of this worker`, 'NotFoundError');
    }
    // The second gate has listed the toolset for this call already.
    const found = await toolsets.find(activityType, { fresh: false });
    if ('problem' in found) throw unavailable(found.problem);
    if (definitionOf(found.tool).definition !== permit.definition) throw notAsRecorded(activityType);
    return callTool(found.tool, maxResultBytes)(permit, args);
  };
}

const type = 'tool_unavailable' satisfies (typeof secondGateTypes)[number];

export function unavailable(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type, refusedBySecondGate);
}

/** Creates the refusal of a tool that has changed since the run recorded it: reviewers allowed the former tool. */
export function notAsRecorded(tool: string): ApplicationFailure {
  return unavailable(
    `tool '${tool}' has changed since this run recorded it, so it does not run here; runs that start now take it as it is`,
  );
}

/** The report of the second gate on an admitted call whose tool or preview has changed since. */
export interface ChangedDefinition {
  /** The definition of the tool on the worker that refused to start it. */
  definition: ToolDefinition | GatedDefinition;
  /** For a tool: the arguments as the new schema parses them, or why they cannot run. Absent for a gated activity. */
  checked?: CheckEditResult;
  /** If only the preview has changed: sentences about what reviewers have not seen. Otherwise absent. */
  changes?: string[];
}

interface ReconcileInput extends CallIdentity {
  tool: string;
  definition: string;
  args: JsonObject;
}

/** The answer of a tool's `reconcile`. `result` is what the model gets. Absent if the tool does not know it. */
export type ReconciledCall = { ran: 'yes'; result?: Json } | { ran: 'no' | 'unknown' };

export type Reconcile = (input: ReconcileInput) => Promise<ReconciledCall>;

const longestMs = 30_000;

/**
 * Returns the activity `countersign.reconcile`. It asks a tool what became of a call whose outcome is unknown (I7): it
 * calls the tool's `reconcile`, never `execute`. The activity is retried if `reconcile` throws or is too slow.
 */
export function createReconcile(registry: Registry, maxResultBytes = inlineLimits.resultBytes): Reconcile {
  return async ({ tool: name, definition, args, ...call }) => {
    const tool = registry.tool(name);
    // During a rollout, the next attempt may reach a worker that has the called version of the tool.
    if (tool?.reconcile === undefined || definitionOf(tool).definition !== definition) {
      throw ApplicationFailure.retryable(`this worker has another tool '${name}' than the one that was called`);
    }
    const valid = await validateArguments(tool, args);
    // Like `execute`, `reconcile` gets only arguments that the schema accepts.
    if ('problem' in valid) return { ran: 'unknown' };
    const toTool = toolContext(Context.current(), call);
    const signal = AbortSignal.any([toTool.signal, AbortSignal.timeout(longestMs)]);
    const asking = Promise.resolve().then(() => tool.reconcile!(args, { ...toTool, signal }));
    const answer: unknown = await Promise.race([asking, aborted(signal)]);
    const ran = isObject(answer) ? answer['ran'] : undefined;
    if (ran === 'no' || ran === 'unknown') return { ran };
    if (ran !== 'yes') throw ApplicationFailure.nonRetryable(`tool '${name}': reconcile returned no { ran }`);
    const { result } = answer as { result?: unknown };
    if (result === undefined) return { ran };
    const check = checkOf(tool, args, toTool);
    return { ran, result: (await givenResult(tool, result, maxResultBytes, check)) as Json };
  };
}
