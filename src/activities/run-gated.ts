import type { ActivityExecuteInput, ActivityInboundCallsInterceptor, Next } from '@temporalio/worker';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { outcomeUnknownType } from '../core/base/tool-failure.ts';

/**
 * Runs a gated activity after the second gate. Heartbeats for the activity if its author does not, so that a killed
 * worker is noticed. Fails with `outcome_unknown` if the worker shuts down in mid-call (I7).
 */
export async function runGated(
  input: ActivityExecuteInput,
  options: { heartbeats: boolean; isRepeatable: boolean },
  next: Next<ActivityInboundCallsInterceptor, 'execute'>,
): Promise<unknown> {
  const context = Context.current();
  const { activityType, heartbeatTimeoutMs } = context.info;
  const beat =
    options.heartbeats && heartbeatTimeoutMs !== undefined
      ? setInterval(() => context.heartbeat(), Math.max(heartbeatTimeoutMs / 3, 1))
      : undefined;
  try {
    return await next(input);
  } catch (error) {
    // A cancellation that the workflow requested stays a cancellation.
    if (context.cancellationSignal.aborted && context.cancellationDetails?.cancelRequested !== true) {
      // A retryable failure would wait for an unpause if an operator paused the activity.
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
}
