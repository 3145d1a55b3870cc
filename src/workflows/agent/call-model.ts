import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { CallModelInput, CallModelResult, JournalCarrier } from '../../activities/model-turn.ts';
import { activityNames } from '../../contract.ts';
import type { ModelCallLimits } from '../../core/policy/run-config.ts';

const { [activityNames.callModel]: activity } = proxyActivities<{
  [activityNames.callModel]: (input: CallModelInput, carrier: JournalCarrier) => Promise<CallModelResult>;
}>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '30s',
  retry: { maximumAttempts: 10 },
});

/** Calls the model in an activity, for as long and as often as the agent declares. One call at a time. */
export class ModelCall {
  #scope: CancellationScope | undefined;

  make(
    summary: string,
    { timeoutMs, heartbeatTimeoutMs, maxAttempts }: ModelCallLimits = {},
    args: [CallModelInput, JournalCarrier],
  ): Promise<CallModelResult> {
    // Temporal merges these into the defaults above, and an undefined option would replace a default.
    const options = {
      summary,
      ...(timeoutMs !== undefined && { startToCloseTimeout: timeoutMs }),
      ...(heartbeatTimeoutMs !== undefined && { heartbeatTimeout: heartbeatTimeoutMs }),
      ...(maxAttempts !== undefined && { retry: { maximumAttempts: maxAttempts } }),
    };
    this.#scope = new CancellationScope();
    return this.#scope.run(() => activity.executeWithOptions(options, args));
  }

  /** Cancels the call in flight, if there is one. */
  cancel(): void {
    this.#scope?.cancel();
  }
}
