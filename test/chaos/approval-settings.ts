import type { JsonObject } from '../../src/core/tool-call.ts';
import type { PlannedChange, PlannedRun } from './schedule.ts';

/** How long a request may wait in all, in milliseconds. */
export const longestWaitMs = 120_000;

/** The workers' policy: it leaves the rules to the runs, and lets nothing wait for ever. */
export const ceiling = {
  version: 1,
  approval: { max_timeout: `${longestWaitMs}ms` },
  rules: [{ pattern: '*', action: 'allow' }],
};

/** What a run begins with: its reviewers, if it names any. */
export function policyOf(plan: PlannedRun): JsonObject {
  const rules = ['note', 'slow', 'again'].map((pattern) => ({ pattern, action: 'ask', ...asksOf(plan) }));
  return { version: 1, approval: settingsOf(plan), ...(plan.reviewers.length > 0 && { rules }) };
}

/** A change does not change who decides. */
export function changedPolicyOf(plan: PlannedRun, { tool: pattern, action }: PlannedChange): JsonObject {
  const rule = { pattern, action, ...(action === 'ask' && asksOf(plan)) };
  return { version: 1, approval: settingsOf(plan), rules: [rule] };
}

/** Denials of one tool are no reason here to stop asking. */
function settingsOf({ timeoutMs }: PlannedRun): JsonObject {
  return { timeout: `${timeoutMs}ms`, max_retries_after_deny: 100 };
}

function asksOf({ reviewers }: PlannedRun): { ask?: { reviewers: string[] } } {
  return reviewers.length === 0 ? {} : { ask: { reviewers } };
}
