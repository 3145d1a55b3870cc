import { inlineLimits, type SizeLimits } from '../core/base/size-limits.ts';
import { startOfText, checkCalls, describeCalls } from './check-calls.ts';
import type { ModelCall, CallModelInput, CallModelResult } from './model-turn.ts';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Agent, Verdict, Tool } from '../agents/definitions.ts';
import { shownTranscript, newInput } from '../contract.ts';
import type { KeptMessage } from '../contract/provider-turn.ts';
import type { ProblemCode } from '../core/base/problem.ts';
import { parseWith } from '../agents/tool-schema.ts';
import { unfinishedOf, unfinishedText } from '../core/base/model-answer.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { parseObject } from '../models/parse-object.ts';
import { quote, keepSecret } from '../models/quote.ts';
import { type RawTurn, askModel } from '../models/ask-model.ts';
import { aborted } from '../text/aborted.ts';
import { oneSentence } from '../text/visible-text.ts';
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { Assessor } from '../agents/advisor.ts';
import { settingsOf } from '../agents/model-call.ts';
import { isActivity, type Registry } from '../agents/registry.ts';
import { filesText, shownFile } from '../core/base/user-files.ts';
import { leftOutFiles, refusedFiles, outputInstructions, toPrompt } from '../models/to-prompt.ts';
import { ModelFailure, toModelFailure } from '../models/model-failure.ts';
import { assessCalls } from './assess-calls.ts';
import { findTools } from './load-agent.ts';
import { heartbeatAnswer } from './heartbeat-answer.ts';
import type { PresentCeiling } from './present-ceiling.ts';
import { redactCalls, shownBeside } from './redact-calls.ts';

export interface CallBounds {
  limits: SizeLimits;
  /** The bytes of the turn without its calls. */
  besideBytes: number;
  /** Payloads of at least this many bytes are stored externally. Absent if all payloads travel inline. */
  thresholdBytes?: number;
}

/** The bytes that a call adds to the message that starts its tool, if its arguments are in external storage. */
const referenceBytes = 1_000;
/** The bytes that a refused call may take in the turn. It keeps only `refusedCharacters` of its arguments. */
const refusedBytes = 1_600;
const refusedCharacters = 200;

/**
 * Refuses each call that would make a turn too large, and returns the others unchanged: a call runs with all its
 * arguments or not at all. Two sums are limited. The whole turn is one payload. The arguments that travel inline may
 * all be in one message to the server, which starts the tools and may have 4 MB.
 */
export function boundCalls(
  calls: readonly ModelCall[],
  { limits, besideBytes, thresholdBytes = Infinity }: CallBounds,
): ModelCall[] {
  let turnBytes = besideBytes;
  let inlineBytes = 0;
  return calls.map((call, index) => {
    const bytes = Buffer.byteLength(JSON.stringify(call));
    const bytesInline = bytes < thresholdBytes ? bytes : referenceBytes;
    // The calls after this one may have to be refused, which also takes bytes.
    const reservedBytes = (calls.length - 1 - index) * refusedBytes;
    const isTurnFull = turnBytes + bytes + reservedBytes > limits.turnBytes;
    if (isTurnFull || inlineBytes + bytesInline > inlineLimits.turnBytes) {
      turnBytes += refusedBytes;
      return refused(call, isTurnFull ? limits.turnBytes : inlineLimits.turnBytes);
    }
    turnBytes += bytes;
    inlineBytes += bytesInline;
    return call;
  });
}

/** Returns the call with a sentence for the model in place of its arguments. `most` is the limit in bytes. */
function refused({ id, tool, args, raw }: ModelCall, most: number): ModelCall {
  const written = args ?? raw ?? {};
  const bytes = Buffer.byteLength(JSON.stringify(written));
  return {
    id,
    tool,
    raw: startOfText(written, refusedCharacters),
    problem: `Error: arguments: ${bytes} bytes, and with the calls before it more than the ${most} of one turn; make fewer or smaller calls at a time`,
  };
}

/** How often a model call is attempted if the agent's check of the input gives no verdict. */
const attempts = 5;

/**
 * Runs the agent's `checkInput`. If the check refuses the input, throws `input_refused`, which is not retried. If the
 * check gives no verdict, throws `check_failed`, which is retried some times: a service behind it may answer then.
 */
export async function checkInput(
  { name, checkInput: check }: Pick<Agent, 'name' | 'checkInput'>,
  messages: readonly KeptMessage[],
  { cancellationSignal, info, log }: Pick<Context, 'cancellationSignal' | 'info' | 'log'>,
): Promise<void> {
  if (check === undefined) return;
  // Give the check a copy, which it may change, without the messages that it has refused before.
  const checked = structuredClone(shownTranscript(messages.filter((each) => !isRefused(each))));
  const workflowId = info.workflowExecution?.workflowId ?? '';
  const end = await runCheck((signal) => check(checked, { workflowId, agent: name, log, signal }), cancellationSignal);
  cancellationSignal.throwIfAborted();
  if (end === undefined) return;
  if ('refused' in end) throw failure('input_refused', `The input was refused: ${end.refused}`, true);
  throw failure(
    'check_failed',
    `The input for agent '${name}' was not checked: ${end.failed}`,
    info.attempt >= attempts,
  );
}

function isRefused(message: KeptMessage): boolean {
  return message.role === 'user' && message.refused === true;
}

function failure(type: ProblemCode, message: string, nonRetryable: boolean): ApplicationFailure {
  return ApplicationFailure.create({ message, type, nonRetryable });
}

/** The most bytes of structured output. The turn contains the value and also its text, whose quotes are escaped. */
const maxOutputBytes = 400_000;
/** How often a model is asked to correct its answer, counted from the last message of the user. */
const mostCorrections = 2;

/**
 * Reads a final answer by the agent's `output` schema: returns the value, or a sentence that asks the model for a
 * correction. Returns neither if the answer has calls or the agent has no `output`. After two corrections, throws an
 * error that is not retried, because a retry would send the same prompt again.
 */
export async function checkOutput(
  turn: Pick<RawTurn, 'text' | 'calls' | 'finishReason'>,
  { name, output }: Pick<Agent, 'name' | 'output'>,
  { messages }: Pick<CallModelInput, 'messages'>,
): Promise<Pick<CallModelResult, 'structuredOutput' | 'outputProblem'>> {
  if (output === undefined || turn.calls.length > 0) return {};
  const read = await readOutput(turn, { name, output });
  if ('value' in read) return { structuredOutput: read.value };
  if (correctionsIn(messages) < mostCorrections) return { outputProblem: read.problem };
  throw ApplicationFailure.nonRetryable(
    `The answer of agent '${name}' does not fit its output after ${mostCorrections} corrections (${quote(read.problem)}).`,
    'model_output_invalid',
  );
}

/** Returns the value of a model's last text, checked by the schema of `output`, or what is wrong with the text. */
async function readOutput(
  { text, finishReason }: Pick<RawTurn, 'text' | 'finishReason'>,
  { name, output }: Pick<Required<Agent>, 'name' | 'output'>,
): Promise<{ value: JsonObject } | { problem: string }> {
  // Check this first: a text that was cut off may still be valid JSON by chance.
  const unfinished = unfinishedOf(finishReason);
  if (unfinished !== undefined) return { problem: `output: ${unfinishedText(unfinished)}` };
  if (text.trim() === '') return { problem: 'output: expected JSON, got no text' };
  const parsed = parseObject('output', text, maxOutputBytes);
  if ('problem' in parsed) return parsed;
  try {
    const valid = await parseWith('output', output, parsed.value);
    const bytes = 'value' in valid ? Buffer.byteLength(JSON.stringify(valid.value)) : 0;
    if (bytes <= maxOutputBytes) return valid;
    return { problem: `output: ${bytes} bytes with its defaults, expected at most ${maxOutputBytes}` };
  } catch {
    // A custom check of the schema threw. Its message is for the agent's author, so the model does not get it.
    return { problem: `output: a check of agent '${name}' failed on it` };
  }
}

function correctionsIn(messages: readonly KeptMessage[]): number {
  const lastUserIndex = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(lastUserIndex + 1).filter((each) => 'outputProblem' in each).length;
}

const longestMs = 30_000;

/** How a check ended: `refused` with the check's reason, or `failed` without a verdict. Undefined if it passed. */
export type CheckEnd = { refused: string } | { failed: string } | undefined;

/** Runs a check by the author of an agent or a tool, for at most 30 seconds or until `cancellation`. Never throws. */
export async function runCheck(
  check: (signal: AbortSignal) => Verdict,
  cancellation: AbortSignal,
  timeoutMs = longestMs,
): Promise<CheckEnd> {
  const signal = AbortSignal.any([cancellation, AbortSignal.timeout(timeoutMs)]);
  try {
    const checking = Promise.resolve().then(() => check(signal));
    const verdict: unknown = await Promise.race([checking, aborted(signal)]);
    if (verdict === undefined) return undefined;
    if (typeof verdict === 'string') return { refused: oneSentence(verdict) || 'no reason given' };
    return { failed: 'the check gave neither a text nor undefined' };
  } catch (error) {
    if (cancellation.aborted) return { failed: 'the check was cut off' };
    if (signal.aborted) return { failed: `the check took longer than ${timeoutMs} ms` };
    // Use only the error's type: its message may have checked values, which must not enter history (I13).
    return { failed: oneSentence(`the check failed: ${error instanceof Error ? error.name : typeof error}`) };
  }
}

export type CallModel = (input: CallModelInput) => Promise<CallModelResult>;

interface CallModelOptions {
  assessors?: readonly Assessor[];
  /** Finds the calls that the second gate would refuse, before reviewers are asked. */
  ceiling?: PresentCeiling;
  /** The size, in bytes, from which this worker stores payloads externally. Absent: it stores none. */
  thresholdBytes?: number;
}

/** After this many attempts, invalid output fails for good. A rate limit is retried longer, because it ends. */
const attemptsAtInvalidOutput = 5;

/**
 * The activity `countersign.callModel`: one turn of the agent's model, its calls parsed, validated and assessed, and
 * its final answer checked by the agent's `output`. Before that, the agent's `checkInput` may refuse the call.
 *
 * Fails with an `ApplicationFailure` of type `model_rate_limited`, `model_unavailable`, `model_output_invalid`,
 * `model_refused` (not retryable), `input_refused` (not retryable), `check_failed` or `agent_unknown`; each message is
 * one sentence without secrets (I13).
 */
export function createCallModel(
  registry: Registry,
  { assessors = [], ceiling, thresholdBytes }: CallModelOptions = {},
): CallModel {
  return async (input) => {
    const context = Context.current();
    const { cancellationSignal: signal } = context;
    const agent = registry.agent(input.agent);
    // Fail retryably: during a rollout, the next attempt may reach a worker that has the agent.
    if (agent === undefined) {
      throw ApplicationFailure.retryable(`This worker has no agent '${input.agent}': add it.`, 'agent_unknown');
    }
    const offered = new Set(input.tools.map((tool) => tool.name));
    const heartbeats = heartbeatAnswer(context);
    const fresh = newInput(input.messages).flatMap((each) => (each.role === 'user' ? (each.files ?? []) : []));
    try {
      await checkInput(agent, input.messages, context);
      const { provider } = agent.model;
      const { outputSchema: schema } = agent;
      const instructions = schema === undefined ? input.instructions : outputInstructions(input.instructions, schema);
      const whyNot = await leftOutFiles(agent);
      for (const file of fresh) {
        const reason = whyNot(file);
        if (reason !== undefined)
          throw inputRefused(`The input with ${filesText([shownFile(file)])} was refused: ${reason}.`);
      }
      const prompt = toPrompt(instructions, input.messages, provider, whyNot);
      const tools = input.tools.map(toProviderTool);
      const { modelCall = {} } = agent;
      Object.values(modelCall.headers ?? {}).forEach(keepSecret);
      const { parts, ...turn } = await askModel(
        agent.model,
        {
          ...settingsOf(modelCall),
          prompt,
          // Send tools or a response format, never both: with a format, some servers make no calls.
          ...(tools.length > 0 ? { tools } : schema !== undefined && { responseFormat: formatOf(schema) }),
        },
        signal,
        { streaming: modelCall.stream, onText: (text) => heartbeats.add(text) },
      );
      heartbeats.flush();
      // Find only the tools that the run recorded for this agent: it may not call the tools of another agent.
      const asked = turn.calls.map(({ tool }) => tool).filter((name) => offered.has(name));
      const found = await findTools(registry, asked);
      const { toolNamed } = found;
      // The run recorded its limits at its start. A worker without external storage must use the inline limits.
      const limits = (thresholdBytes === undefined ? undefined : input.sizeLimits) ?? inlineLimits;
      const calls = await checkCalls(turn, found, limits.argumentBytes);
      const described = await describeCalls(calls, toolNamed);
      const assessed = await assessCalls(described, { toolNamed, assessors, agent: agent.name, signal });
      const startable = ceiling === undefined ? assessed : noteDenied(assessed, input, toolNamed, ceiling);
      const redacted = redactCalls(startable, toolNamed, input.redact);
      const output = await checkOutput(turn, agent, input);
      const text = turn.text.replace(/\p{Surrogate}/gu, '\uFFFD');
      const kept = parts === undefined ? {} : { providerTurn: { provider, parts } };
      const model = agent.model.modelId;
      const gone = ceiling?.revoked === undefined ? {} : { revoked: ceiling.revoked };
      const shown = shownBeside(text, input, redacted);
      const beside = { ...turn, model, text, calls: [], ...output, ...kept, ...gone, ...shown };
      const besideBytes = Buffer.byteLength(JSON.stringify(beside));
      const result = { ...beside, calls: boundCalls(redacted, { limits, besideBytes, thresholdBytes }) };
      checkSize(result, limits.turnBytes);
      return result;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof ApplicationFailure) throw error;
      const failure = toModelFailure(error, Date.now());
      const refused = refusedFiles(error, failure, fresh);
      throw refused === undefined ? toApplicationFailure(failure, context.info.attempt) : inputRefused(refused);
    } finally {
      heartbeats.stop();
    }
  };
}

/** Adds `cannotStart` to each call that the second gate would refuse. Older runs, without `engine`, do not read it. */
function noteDenied(
  calls: readonly ModelCall[],
  { agent, caller, engine }: CallModelInput,
  toolNamed: (name: string) => Tool | undefined,
  ceiling: PresentCeiling,
): ModelCall[] {
  return calls.map((call) => {
    const tool = toolNamed(call.tool);
    if (engine === undefined || call.args === undefined || tool === undefined || !isActivity(tool)) return call;
    const cannotStart = ceiling.denial(tool, call.args, { agent, caller, engine });
    return cannotStart === undefined ? call : { ...call, cannotStart };
  });
}

function toProviderTool(tool: CallModelInput['tools'][number]): LanguageModelV4FunctionTool {
  const { name, description, schema } = tool;
  return { type: 'function', name, description, inputSchema: schema };
}

function formatOf(schema: JsonObject): LanguageModelV4CallOptions['responseFormat'] {
  return { type: 'json', name: 'output', schema };
}

function checkSize(result: CallModelResult, maxBytes: number): void {
  if (Buffer.byteLength(JSON.stringify(result)) > maxBytes) {
    throw new ModelFailure('model_output_invalid', `The model's answer is too large (more than ${maxBytes} bytes).`);
  }
}

/** Creates the failure for a file that the model does not accept. The run then keeps the message from the model. */
function inputRefused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'input_refused');
}

/** Creates the activity's failure. It gets no cause, which could carry secret values into history (I13). */
function toApplicationFailure(failure: ModelFailure, attempt: number): ApplicationFailure {
  const { kind, message, retryAfterMs } = failure;
  return ApplicationFailure.create({
    message,
    type: kind,
    nonRetryable: kind === 'model_refused' || (kind === 'model_output_invalid' && attempt >= attemptsAtInvalidOutput),
    nextRetryDelay: retryAfterMs,
  });
}
