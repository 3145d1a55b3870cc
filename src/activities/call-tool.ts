import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Permit } from '../contract.ts';
import { outcomeUnknownType, toolFailedType } from '../core/base/tool-failure.ts';
import { inlineLimits } from '../core/base/size-limits.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { isRepeatable } from '../core/base/tool-call.ts';
import type { Tool, ToolContext } from '../agents/definitions.ts';

/**
 * The activity of one tool. It runs after the second gate, heartbeats by itself every third of its time-out so that
 * a killed worker is noticed, and says `outcome_unknown` when the worker leaves while the tool runs (I7).
 */
export function callTool(
  tool: Tool,
  maxResultBytes = inlineLimits.resultBytes,
): (permit: Permit, args: JsonObject) => Promise<unknown> {
  return async (permit, args) => {
    const context = Context.current();
    const { heartbeatTimeoutMs } = context.info;
    // A tool without heartbeats has a time-out of zero.
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

function toolContext(context: Context, { workflowId, callId, agent, caller }: Permit): ToolContext {
  return {
    signal: context.cancellationSignal,
    idempotencyKey: `${workflowId}/${callId}`,
    workflowId,
    callId,
    agent,
    ...(caller === undefined ? {} : { caller }),
    log: context.log,
  };
}

function checked(name: string, result: unknown, maxResultBytes: number): unknown {
  const json = JSON.stringify(result ?? null);
  if (json === undefined) throw new TypeError(`tool '${name}' returned what is not JSON`);
  const bytes = Buffer.byteLength(json);
  if (bytes <= maxResultBytes) return result ?? null;
  // Never silently cut: the tool ran, and its author must return less.
  throw ApplicationFailure.nonRetryable(
    `the tool ran, but its result has ${bytes} bytes and at most ${maxResultBytes} can be kept`,
    toolFailedType,
  );
}

// What is not to be repeated fails for good: retryable, it would wait for an unpause where an operator paused it, and be
// started again where an operator gave it more attempts.

function leftInMidCall(tool: Tool): ApplicationFailure {
  return ApplicationFailure.create({
    message: `tool '${tool.name}' was cut off while it ran`,
    type: outcomeUnknownType,
    nonRetryable: !isRepeatable(tool),
  });
}

/** The author's error, with its message for the model; its own type must not pass for one of ours. */
function failed(tool: Tool, error: unknown): ApplicationFailure {
  const message = error instanceof Error ? error.message : String(error);
  const nonRetryable = !isRepeatable(tool) || (error instanceof ApplicationFailure && error.nonRetryable === true);
  return ApplicationFailure.create({ message: message.slice(0, 10_000), type: toolFailedType, nonRetryable });
}
