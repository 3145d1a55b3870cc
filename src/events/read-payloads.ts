/** Reads payloads of a history. They are untrusted, because every client of the namespace can write arbitrary ones. */
import { type Usage, isUnfinished, type Unfinished, unfinishedOf } from '../core/base/model-answer.ts';
import type { RunCost } from '../core/policy/run-cost.ts';
import type { CallOutcome } from '../core/ledger/approval.ts';
import { type Assessment, assessmentShape } from '../core/assess/assessment.ts';
import { type Redaction, redactionShape } from '../core/redact/redaction.ts';
import { fits } from '../core/base/shape.ts';
import { type Json, type JsonObject } from '../core/base/tool-call.ts';
import { mostFiles, shownFile, type ShownFile } from '../core/base/user-files.ts';
import { isObject } from '../core/base/json.ts';
import { isUndecodable } from '../core/base/undecodable.ts';
import { nfc } from '../core/base/text.ts';
import type { Completion } from './run-event.ts';

export interface ModelMessage {
  role: 'user' | 'assistant' | 'tool';
  content: string;
  isError: boolean;
  files?: ShownFile[];
  messageId?: string;
}

export interface RunStart {
  agent: string;
  messages: ModelMessage[];
  callerUserId: string | null;
  metadata: JsonObject;
  lineage: string[];
  isSession: boolean;
}

/** Reads the argument of the workflow `agentRun`. Undefined if the run would refuse it. */
export function readRunInput(value: unknown): RunStart | undefined {
  const { agent, input, caller, metadata, parent, session } = objectIn(value) ?? {};
  const messages =
    typeof input === 'string' ? [{ role: 'user' as const, content: input, isError: false }] : messagesIn(input);
  if (typeof agent !== 'string' || messages === undefined) return undefined;
  const { userId } = objectIn(caller) ?? {};
  const { lineage } = objectIn(parent) ?? {};
  return {
    agent: nfc(agent),
    messages,
    callerUserId: typeof userId === 'string' ? userId : null,
    metadata: (objectIn(metadata) ?? {}) as JsonObject,
    lineage: Array.isArray(lineage) ? lineage.filter((each) => typeof each === 'string') : [],
    isSession: session === true,
  };
}

/** Reads the first argument of the activity `countersign.callModel`. Undefined if it has another form. */
export function readModelInput(
  value: unknown,
): { agent: string; turn: number; messages: ModelMessage[]; redacts: boolean } | undefined {
  const { agent, turn, messages, redact } = objectIn(value) ?? {};
  const read = messagesIn(messages);
  if (typeof agent !== 'string' || typeof turn !== 'number' || read === undefined) return undefined;
  return { agent, turn, messages: read, redacts: redact != null };
}

export interface ReadCall {
  toolName: string;
  arguments: Json;
  assessment?: Assessment;
  /** The parts of the arguments to hide. Absent if no activity has searched the arguments. */
  redaction?: CallRedaction;
}

/** What is needed to redact the arguments for reviewers. */
export type CallRedaction = Pick<Redaction, 'kinds' | 'values'>;

export interface ModelTurn {
  text: string;
  contextSummary?: string;
  calls: ReadCall[];
  finish?: Unfinished;
  structuredOutput?: JsonObject;
  outputProblem?: string;
}

/** Reads the result of the activity `countersign.callModel`. Undefined if it has another form. */
export function readModelTurn(value: unknown): ModelTurn | undefined {
  const { text, contextSummary, calls, finishReason, structuredOutput, outputProblem } = objectIn(value) ?? {};
  if (typeof text !== 'string' || !Array.isArray(calls)) return undefined;
  const finish = typeof finishReason === 'string' ? unfinishedOf(finishReason) : undefined;
  return {
    text,
    ...(typeof contextSummary === 'string' && { contextSummary }),
    calls: calls.map(readCall),
    ...(finish !== undefined && { finish }),
    ...readStructuredOutput(structuredOutput),
    ...(typeof outputProblem === 'string' && { outputProblem }),
  };
}

export function readStructuredOutput(value: unknown): { structuredOutput?: JsonObject } {
  const structuredOutput = objectIn(value) as JsonObject | undefined;
  return structuredOutput === undefined ? {} : { structuredOutput };
}

/** Reads a call of the model. A call without valid `args` has in `raw` what the model wrote, perhaps shortened. */
function readCall(value: unknown): ReadCall {
  const { tool, args, raw, assessment, redaction } = objectIn(value) ?? {};
  const call = { toolName: typeof tool === 'string' ? tool : '', arguments: (args ?? raw ?? {}) as Json };
  return {
    ...call,
    ...(fits(assessment, assessmentShape) && { assessment: assessment as Assessment }),
    ...(fits(redaction, redactionShape) && { redaction: redaction as CallRedaction }),
  };
}

/** Reads messages in a payload. Undefined if one has no known role; other invalid members get defaults. */
function messagesIn(value: unknown): ModelMessage[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const messages = value.map((each) => {
    const { role, content, isError, files, messageId } = objectIn(each) ?? {};
    if (role !== 'user' && role !== 'assistant' && role !== 'tool') return undefined;
    return {
      role,
      content: typeof content === 'string' ? content : '',
      isError: isError === true,
      ...(role === 'user' && Array.isArray(files) && { files: files.slice(0, mostFiles).map(shownFile) }),
      ...(role === 'user' && typeof messageId === 'string' && { messageId }),
    } as const;
  });
  return messages.includes(undefined) ? undefined : (messages as ModelMessage[]);
}

function objectIn(value: unknown): Record<string, unknown> | undefined {
  return isObject(value) && !isUndecodable(value) ? value : undefined;
}

const statuses = ['completed', 'closed', 'limit', 'cancelled'] as const;

/** Reads the result of the workflow `agentRun`. A run with an unreadable result has completed all the same. */
export function readRunResult(value: unknown): Completion {
  if (isUndecodable(value)) return { status: 'completed', output: '' };
  const result = (value ?? {}) as Partial<Record<keyof Completion, unknown>>;
  const { status, output, finish, structuredOutput, usage, nestedUsage, cost, outcomes } = result;
  return {
    status: statuses.find((each) => each === status) ?? 'completed',
    output: typeof output === 'string' ? output : '',
    ...(isUnfinished(finish) && { finish }),
    ...readStructuredOutput(structuredOutput),
    ...readUsage('usage', usage),
    ...readUsage('nestedUsage', nestedUsage),
    ...readCost(cost),
    ...(Array.isArray(outcomes) && { outcomes: outcomes as CallOutcome[] }),
  };
}

/** Reads token counts into a member `name`. Empty if they are invalid. */
function readUsage<Name extends string>(name: Name, value: unknown): Partial<Record<Name, Usage>> {
  const { inputTokens, outputTokens } = (objectIn(value) ?? {}) as Partial<Usage>;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return {};
  return { [name]: { inputTokens, outputTokens } } as Record<Name, Usage>;
}

/** Reads the cost in a run's result. Empty if it is invalid. */
function readCost(value: unknown): { cost?: RunCost } {
  const { amount, currency, unpriced = [] } = (objectIn(value) ?? {}) as Partial<RunCost>;
  const isCost = typeof amount === 'number' && amount >= 0 && typeof currency === 'string';
  if (!isCost || !fits(unpriced, 'texts')) return {};
  return { cost: { amount, currency, ...(unpriced.length > 0 && { unpriced }) } };
}

function isCount(value: number | undefined): value is number {
  return Number.isSafeInteger(value) && value! >= 0;
}
