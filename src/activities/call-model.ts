import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { Assessor } from '../agents/assessor.ts';
import { settingsOf } from '../agents/model-call.ts';
import type { Registry } from '../agents/registry.ts';
import { inlineLimits } from '../core/base/size-limits.ts';
import { askModel } from '../models/ask-model.ts';
import { ModelFailure, toModelFailure } from '../models/model-failure.ts';
import { keepSecret } from '../models/quote.ts';
import { toPrompt } from '../models/to-prompt.ts';
import { assessCalls } from './assess-calls.ts';
import { boundCalls } from './bound-calls.ts';
import { checkCalls } from './check-calls.ts';
import { describeCalls } from './describe-calls.ts';
import { heartbeatAnswer } from './heartbeat-answer.ts';
import { redactCalls, shownBeside } from './redact-calls.ts';
import type { CallModelInput, CallModelResult } from './model-turn.ts';

export type CallModel = (input: CallModelInput) => Promise<CallModelResult>;

interface CallModelOptions {
  assessors?: readonly Assessor[];
  /** Set if this worker stores large payloads externally: the minimum size of these, in bytes. */
  thresholdBytes?: number;
}

/** After this many attempts with invalid output a model is given up; a rate limit or an outage ends. */
const attemptsAtInvalidOutput = 5;

/**
 * The activity `countersign.callModel`: one turn of the agent's model, its calls parsed, validated and assessed.
 *
 * Fails with an `ApplicationFailure` of type `model_rate_limited`, `model_unavailable`, `model_output_invalid`,
 * `model_refused` (not retryable) or `agent_unknown`; each message is one sentence without secrets (I13).
 */
export function createCallModel(
  registry: Registry,
  { assessors = [], thresholdBytes }: CallModelOptions = {},
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
    try {
      const prompt = toPrompt(input.instructions, input.messages);
      const tools = input.tools.map(toProviderTool);
      const { modelCall = {} } = agent;
      Object.values(modelCall.headers ?? {}).forEach(keepSecret);
      const turn = await askModel(
        agent.model,
        { ...settingsOf(modelCall), prompt, ...(tools.length > 0 && { tools }) },
        context.cancellationSignal,
        { streaming: modelCall.stream, onText: (text) => heartbeats.add(text) },
      );
      heartbeats.flush();
      // Only tools that the run recorded for its agent: the agent may not call another agent's tools.
      const toolNamed = (name: string) => (offered.has(name) ? registry.tool(name) : undefined);
      // A run keeps its first limits, but a worker that cannot store large payloads cannot serve the larger ones.
      const limits = (thresholdBytes === undefined ? undefined : input.sizeLimits) ?? inlineLimits;
      const calls = await checkCalls(turn, toolNamed, limits.argumentBytes);
      const described = await describeCalls(calls, toolNamed);
      const assessed = await assessCalls(described, {
        toolNamed,
        assessors,
        agent: agent.name,
        signal: context.cancellationSignal,
      });
      const redacted = redactCalls(assessed, toolNamed, input.redact);
      const text = turn.text.replace(/\p{Surrogate}/gu, '\uFFFD');
      const beside = { ...turn, text, calls: [], ...shownBeside(text, input, redacted) };
      const besideBytes = Buffer.byteLength(JSON.stringify(beside));
      const result = { ...beside, calls: boundCalls(redacted, { limits, besideBytes, thresholdBytes }) };
      checkSize(result, limits.turnBytes);
      return result;
    } catch (error) {
      if (context.cancellationSignal.aborted) throw context.cancellationSignal.reason;
      throw error instanceof ApplicationFailure
        ? error
        : toApplicationFailure(toModelFailure(error, Date.now()), context.info.attempt);
    } finally {
      heartbeats.stop();
    }
  };
}

function toProviderTool(tool: CallModelInput['tools'][number]): LanguageModelV4FunctionTool {
  const { name, description, schema } = tool;
  return { type: 'function', name, description, inputSchema: schema };
}

/** Fails if the text is too large, or if there are more refused calls than fit. */
function checkSize(result: CallModelResult, maxBytes: number): void {
  if (Buffer.byteLength(JSON.stringify(result)) > maxBytes) {
    throw new ModelFailure('model_output_invalid', `The model's answer is too large (more than ${maxBytes} bytes).`);
  }
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
