import type { ActivityOptions } from '@temporalio/workflow';
import type { ModelCallLimits } from '../../core/policy/run-config.ts';

/** How long and how often a model call is tried, as the agent declares it. */
export function modelActivityOptions({
  timeoutMs,
  heartbeatTimeoutMs,
  maxAttempts,
}: ModelCallLimits = {}): ActivityOptions {
  // Temporal merges these into the defaults above, and an undefined option would replace a default.
  return {
    ...(timeoutMs !== undefined && { startToCloseTimeout: timeoutMs }),
    ...(heartbeatTimeoutMs !== undefined && { heartbeatTimeout: heartbeatTimeoutMs }),
    ...(maxAttempts !== undefined && { retry: { maximumAttempts: maxAttempts } }),
  };
}
