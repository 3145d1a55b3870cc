import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Permit } from '../contract.ts';
import { outcomeUnknownType, toolFailedType } from '../core/base/tool-failure.ts';
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
      const result = await tool.execute(args, toolContext(context, permit));
      return checked(tool.name, result, maxResultBytes);
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

function checked(name: string, result: unknown, maxResultBytes: number): unknown {
  const json = JSON.stringify(result ?? null);
  if (json === undefined) throw new TypeError(`tool '${name}' returned a value that is not JSON`);
  const bytes = Buffer.byteLength(json);
  if (bytes <= maxResultBytes) return result ?? null;
  // Do not truncate the result silently: the tool ran, and its author must return less.
  throw ApplicationFailure.nonRetryable(
    `the tool ran, but its result has ${bytes} bytes and at most ${maxResultBytes} can be kept`,
    toolFailedType,
  );
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
