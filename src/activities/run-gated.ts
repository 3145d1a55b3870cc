import type { ActivityExecuteInput, ActivityInboundCallsInterceptor, Next } from '@temporalio/worker';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { outcomeUnknownType } from '../core/tool-failure.ts';

/**
 * Runs a gated activity after the second gate, with its own arguments only. Heartbeats in its place where its author
 * does not, so that a killed worker is noticed, and says `outcome_unknown` when the worker leaves in mid-call (I7).
 */
export async function runGated(
  input: ActivityExecuteInput,
  heartbeats: boolean,
  next: Next<ActivityInboundCallsInterceptor, 'execute'>,
): Promise<unknown> {
  const context = Context.current();
  const { activityType, heartbeatTimeoutMs } = context.info;
  const beat =
    heartbeats && heartbeatTimeoutMs !== undefined
      ? setInterval(() => context.heartbeat(), Math.max(heartbeatTimeoutMs / 3, 1))
      : undefined;
  try {
    return await next({ ...input, args: input.args.slice(1) });
  } catch (error) {
    // A cancellation that the workflow asked for stays one.
    if (context.cancellationSignal.aborted && context.cancellationDetails?.cancelRequested !== true) {
      throw ApplicationFailure.retryable(`activity '${activityType}' was cut off while it ran`, outcomeUnknownType);
    }
    throw error;
  } finally {
    clearInterval(beat);
  }
}
