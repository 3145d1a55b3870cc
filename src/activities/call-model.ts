import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { Assessor } from '../agents/advisor.ts';
import type { Tool } from '../agents/definitions.ts';
import { settingsOf } from '../agents/model-call.ts';
import { isActivity, type Registry } from '../agents/registry.ts';
import { inlineLimits } from '../core/base/size-limits.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { filesText, shownFile } from '../core/base/user-files.ts';
import { newInput } from '../contract.ts';
import { leftOutFiles, refusedFiles } from '../models/files-for-model.ts';
import { askModel } from '../models/ask-model.ts';
import { ModelFailure, toModelFailure } from '../models/model-failure.ts';
import { outputInstructions, toPrompt } from '../models/to-prompt.ts';
import { keepSecret } from '../models/quote.ts';
import { assessCalls } from './assess-calls.ts';
import { boundCalls } from './bound-calls.ts';
import { checkCalls } from './check-calls.ts';
import { checkInput } from './check-input.ts';
import { checkOutput } from './check-output.ts';
import { describeCalls } from './describe-calls.ts';
import { findTools } from './find-tools.ts';
import { heartbeatAnswer } from './heartbeat-answer.ts';
import type { PresentCeiling } from './present-ceiling.ts';
import { redactCalls, shownBeside } from './redact-calls.ts';
import type { CallModelInput, CallModelResult, ModelCall } from './model-turn.ts';

export type CallModel = (input: CallModelInput) => Promise<CallModelResult>;

interface CallModelOptions {
  assessors?: readonly Assessor[];
  /** Says before anybody is asked which calls the second gate would refuse. */
  ceiling?: PresentCeiling;
  /** Set if this worker stores large payloads externally: the minimum size of these, in bytes. */
  thresholdBytes?: number;
}

/** After this many attempts with invalid output a model is given up; a rate limit or an outage ends. */
const attemptsAtInvalidOutput = 5;

/**
 * The activity `countersign.callModel`: one turn of the agent's model, its calls parsed, validated and assessed, and its
 * final answer checked by the agent's `output`. Before that, the agent's `checkInput` may refuse the call.
 *
 * Fails with an `ApplicationFailure` of type `model_rate_limited`, `model_unavailable`, `model_output_invalid`,
 * `model_refused` (not retryable), `input_refused` (not retryable), `check_failed` or `agent_unknown`; each message is one
 * sentence without secrets (I13).
 */
export function createCallModel(
  registry: Registry,
  { assessors = [], ceiling, thresholdBytes }: CallModelOptions = {},
): CallModel {
  return async (input) => {
    const context = Context.current();
    const agent = registry.agent(input.agent);
    // Retryable: during a rollout the next attempt may reach a worker that has the agent.
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
          // Never both: reviewers read what the model says beside its calls, and some servers then make no call at all.
          ...(tools.length > 0 ? { tools } : schema !== undefined && { responseFormat: formatOf(schema) }),
        },
        context.cancellationSignal,
        { streaming: modelCall.stream, onText: (text) => heartbeats.add(text) },
      );
      heartbeats.flush();
      // Only tools that the run recorded for its agent: the agent may not call another agent's tools.
      const asked = turn.calls.map(({ tool }) => tool).filter((name) => offered.has(name));
      const found = await findTools(registry, asked);
      const { toolNamed } = found;
      // A run keeps its first limits, but a worker that cannot store large payloads cannot serve the larger ones.
      const limits = (thresholdBytes === undefined ? undefined : input.sizeLimits) ?? inlineLimits;
      const calls = await checkCalls(turn, found, limits.argumentBytes);
      const described = await describeCalls(calls, toolNamed);
      const assessed = await assessCalls(described, {
        toolNamed,
        assessors,
        agent: agent.name,
        signal: context.cancellationSignal,
      });
      const startable = ceiling === undefined ? assessed : noteDenied(assessed, input, toolNamed, ceiling);
      const redacted = redactCalls(startable, toolNamed, input.redact);
      const output = await checkOutput(turn, agent, input);
      const text = turn.text.replace(/\p{Surrogate}/gu, '\uFFFD');
      const kept = parts === undefined ? {} : { providerTurn: { provider, parts } };
      const model = agent.model.modelId;
      const gone = ceiling?.revoked === undefined ? {} : { revoked: ceiling.revoked };
      const beside = {
        ...turn,
        model,
        text,
        calls: [],
        ...output,
        ...kept,
        ...gone,
        ...shownBeside(text, input, redacted),
      };
      const besideBytes = Buffer.byteLength(JSON.stringify(beside));
      const result = { ...beside, calls: boundCalls(redacted, { limits, besideBytes, thresholdBytes }) };
      checkSize(result, limits.turnBytes);
      return result;
    } catch (error) {
      if (context.cancellationSignal.aborted) throw context.cancellationSignal.reason;
      if (error instanceof ApplicationFailure) throw error;
      const failure = toModelFailure(error, Date.now());
      const refused = refusedFiles(error, failure, fresh);
      throw refused === undefined ? toApplicationFailure(failure, context.info.attempt) : inputRefused(refused);
    } finally {
      heartbeats.stop();
    }
  };
}

/** Notes the calls that the second gate would refuse, for runs that read it. */
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

/** Fails if the text is too large, or if there are more refused calls than fit. */
function checkSize(result: CallModelResult, maxBytes: number): void {
  if (Buffer.byteLength(JSON.stringify(result)) > maxBytes) {
    throw new ModelFailure('model_output_invalid', `The model's answer is too large (more than ${maxBytes} bytes).`);
  }
}

/** A file that the model does not take: what was said with it never reaches the model. */
function inputRefused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'input_refused');
}

/** Without the cause: its message, address and body may hold what must not be written to history (I13). */
function toApplicationFailure(failure: ModelFailure, attempt: number): ApplicationFailure {
  const { kind, message, retryAfterMs } = failure;
  return ApplicationFailure.create({
    message,
    type: kind,
    nonRetryable: kind === 'model_refused' || (kind === 'model_output_invalid' && attempt >= attemptsAtInvalidOutput),
    nextRetryDelay: retryAfterMs,
  });
}
