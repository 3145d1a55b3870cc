import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Permit } from '../contract.ts';
import { outcomeUnknownType, toolFailedType } from '../core/base/tool-failure.ts';
import { sentences } from '../core/ledger/sentences.ts';
import { inlineLimits } from '../core/base/size-limits.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { isRepeatable } from '../core/base/tool-call.ts';
import type { Tool, ToolContext } from '../agents/definitions.ts';

/**
 * The activity of one tool. It runs after the second gate. It heartbeats every third of its heartbeat time-out, so that
 * a killed worker is noticed, and fails with `outcome_unknown` if it is cut off while the tool runs (I7).
 */
export function callTool(
  tool: Tool,
  maxResultBytes = inlineLimits.resultBytes,
): (permit: Permit, args: JsonObject) => Promise<unknown> {
  return async (permit, args) => {
    const context = Context.current();
    const { heartbeatTimeoutMs } = context.info;
    // A tool without heartbeats has a heartbeat time-out of zero.
    const beat = heartbeatTimeoutMs ? setInterval(() => context.heartbeat(), heartbeatTimeoutMs / 3) : undefined;
    try {
      return givenResult(await tool.execute(args, toolContext(context, permit)), maxResultBytes);
    } catch (error) {
      if (context.cancellationSignal.aborted) throw leftInMidCall(tool);
      throw failed(tool, error);
    } finally {
      clearInterval(beat);
    }
  };
}

function toolContext(context: Context, permit: Permit): ToolContext {
  const { workflowId, firstExecutionRunId, callId, agent, caller } = permit;
  return {
    signal: context.cancellationSignal,
    idempotencyKey: `${firstExecutionRunId ?? workflowId}/${callId}`,
    workflowId,
    callId,
    agent,
    caller,
    log: context.log,
  };
}

/** The tool's result, or a sentence for the model in its place. */
function givenResult(result: unknown, maxResultBytes: number): unknown {
  const problem = resultProblem(result ?? null, maxResultBytes);
  if (problem === undefined) return result ?? null;
  return sentences.resultNotGiven(problem);
}

function resultProblem(result: unknown, maxResultBytes: number): string | undefined {
  let json: string | undefined;
  try {
    json = JSON.stringify(result);
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return `it is not JSON: ${reason.slice(0, 200)}`;
  }
  if (json === undefined) return `it is not JSON: a ${typeof result}`;
  const bytes = Buffer.byteLength(json);
  return bytes <= maxResultBytes ? undefined : `it has ${bytes} bytes, and at most ${maxResultBytes} can be kept`;
}

// A call that must not be repeated fails with a non-retryable error. A retryable one would wait for an unpause if an
// operator paused the activity, and would start again if an operator allowed more attempts.

function leftInMidCall(tool: Tool): ApplicationFailure {
  return ApplicationFailure.create({
    message: `tool '${tool.name}' was cut off while it ran`,
    type: outcomeUnknownType,
    nonRetryable: !isRepeatable(tool),
  });
}

/** The author's error, with its message for the model. Its type is replaced: it must not pass for one of ours. */
function failed(tool: Tool, error: unknown): ApplicationFailure {
  const message = error instanceof Error ? error.message : String(error);
  const nonRetryable = !isRepeatable(tool) || (error instanceof ApplicationFailure && error.nonRetryable === true);
  return ApplicationFailure.create({ message: message.slice(0, 10_000), type: toolFailedType, nonRetryable });
}
