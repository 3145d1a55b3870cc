import { createHash } from 'node:crypto';
import { publicKeyOf } from '../../src/client/send/sign-message.ts';
import type { JsonObject } from '../../src/core/base/tool-call.ts';
import type { PlannedChange, PlannedRun } from './schedule.ts';

/** The longest total wait of a request, in milliseconds. */
export const longestWaitMs = 120_000;

const people = ['ann', 'bob', 'dan', 'eve'] as const;

export const keyIdOf = (person: string): string => `${person}-key`;

/** 32 bytes in base64, the same in every process. */
export const privateKeyOf = (person: string): string => createHash('sha256').update(person).digest('base64');

/**
 * The workers' policy. It leaves the rules to the runs, limits how long a request waits, and names the owner of each
 * key.
 */
export const ceiling = {
  version: 1,
  approval: { max_timeout: `${longestWaitMs}ms` },
  rules: [{ pattern: '*', action: 'allow' }],
  directory: { people: Object.fromEntries(people.map((person) => [person, { keys: [keyIdOf(person)] }])) },
  reviewer_keys: Object.fromEntries(people.map((person) => [keyIdOf(person), publicKeyOf(privateKeyOf(person))])),
};

/** The policy that a run starts with. It has rules only if the plan names reviewers. */
export function policyOf(plan: PlannedRun): JsonObject {
  const rules = ['note', 'slow', 'again'].map((pattern) => ({ pattern, action: 'ask', ...asksOf(plan) }));
  return { version: 1, approval: settingsOf(plan), ...(plan.reviewers.length > 0 && { rules }) };
}

/** A changed policy keeps the reviewers. */
export function changedPolicyOf(plan: PlannedRun, { tool: pattern, action }: PlannedChange): JsonObject {
  const rule = { pattern, action, ...(action === 'ask' && asksOf(plan)) };
  return { version: 1, approval: settingsOf(plan), rules: [rule] };
}

/** The high retry limit keeps denials of a tool from ending the asking. */
function settingsOf({ timeoutMs }: PlannedRun): JsonObject {
  return { timeout: `${timeoutMs}ms`, max_retries_after_deny: 100 };
}

function asksOf({ reviewers, votes, verified }: PlannedRun): { ask?: JsonObject } {
  if (reviewers.length === 0) return {};
  const counted = votes && { quorum: votes.quorum, veto: votes.veto, ...oneOfEach(votes.oneOfEach) };
  return { ask: { reviewers, ...counted, ...(verified && { verified }) } };
}

function oneOfEach(names: string[]): { one_of_each?: string[] } {
  return names.length === 0 ? {} : { one_of_each: names };
}
