import type { JsonObject } from '../../src/core/tool-call.ts';
import type { PlannedRun } from './schedule.ts';

/** What every policy of a run says; denials of one tool are no reason here to stop asking. */
export function approvalSettings({ timeoutMs }: PlannedRun): JsonObject {
  return { timeout: `${timeoutMs}ms`, max_retries_after_deny: 100 };
}
