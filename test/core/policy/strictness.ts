/** Random policies that ask about one call, and the ways in which what binds it became looser. */
import { expect } from 'vitest';
import fc from 'fast-check';
import { askTermsOf, type AskTerms, type Requirement } from '../../../src/core/policy/ask-terms.ts';
import type { Limits } from '../../../src/core/policy/limits.ts';
import {
  grantKinds,
  type ApprovalSettings,
  type AskSettings,
  type Policy,
  type PolicyLayers,
} from '../../../src/core/policy/policy.ts';
import { compileLayers, evaluate } from '../../../src/core/policy/ruling.ts';

export const minute = 60_000;
const someone = fc.uniqueArray(fc.constantFrom('ann', 'bob', 'eve', 'group:finance'), { minLength: 1, maxLength: 2 });
const durationMs = fc.constantFrom(1, 2, 3, 60).map((minutes) => minutes * minute);
const seconds = fc.constantFrom(1_000, 2_000, 61_000);
const onTimeout = fc.constantFrom('deny' as const, 'allow' as const);
const ask: fc.Arbitrary<AskSettings> = fc.record(
  {
    reviewers: someone,
    quorum: fc.constantFrom(1, 2),
    oneOfEach: someone,
    veto: fc.boolean(),
    verified: fc.boolean(),
    allowSelf: fc.boolean(),
    timeoutMs: fc.oneof(durationMs, fc.constant(null)),
    warnBeforeMs: durationMs,
    remindMs: fc.oneof(durationMs, fc.constant(1_000)),
    escalate: fc.array(fc.record({ afterMs: fc.oneof(durationMs, seconds), to: someone }), {
      minLength: 1,
      maxLength: 3,
    }),
    onTimeout,
    always: fc.constantFrom(false as const, ...grantKinds),
  },
  { requiredKeys: [] },
);
/** Always sets a timeout: without one the default applies, and a layer that says 1h is longer than that. */
export const approval: fc.Arbitrary<ApprovalSettings> = fc
  .record({
    timeoutMs: fc.oneof(durationMs, fc.constant(null)),
    others: fc.record(
      {
        onTimeout,
        maxPending: fc.constantFrom(1, 5, 50),
        maxRetriesAfterDeny: fc.constantFrom(0, 1, 5),
        denialsHoldFor: fc.constantFrom('message' as const, 'run' as const),
        maxIrreversiblePerRun: fc.constantFrom(0, 5),
        includeArguments: fc.boolean(),
        redact: fc.boolean(),
        show: fc.constantFrom(false as const, { pay: ['amount'] }),
        batch: fc.constantFrom('parallel' as const, 'sequential' as const),
        cachedResults: fc.boolean(),
        deniedAs: fc.constantFrom('result' as const, 'error' as const),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ timeoutMs, others }) => ({ timeoutMs, ...others }));
export const policy: fc.Arbitrary<Policy> = fc
  .record({
    asks: fc.array(
      fc.record({ ask: fc.option(ask, { nil: undefined }), action: fc.constantFrom('ask' as const, 'allow' as const) }),
      { maxLength: 2 },
    ),
    approval,
  })
  .map(({ asks, approval }) => ({
    version: 1,
    rules: asks.map(({ ask, action }) => ({ pattern: 'pay', action, ...(action === 'ask' && ask && { ask }) })),
    riskDefaults: {},
    approval,
  }));
/** Asks, and permits everything that only a ceiling can, so that it is never stricter than another layer. */
export const permissive: Policy = {
  version: 1,
  rules: [{ pattern: '*', action: 'ask', ask: { veto: false, allowSelf: true } }],
  riskDefaults: {},
  approval: {
    timeoutMs: null,
    maxTimeoutMs: null,
    onTimeout: 'allow',
    maxPending: 50,
    maxRetriesAfterDeny: 100,
    redact: false,
  },
};

export const call = { tool: 'pay', args: {}, risk: 'read_only' as const };
export function termsOf(layers: PolicyLayers): AskTerms {
  const ruling = evaluate(compileLayers(layers), call);
  expect(ruling.action).toBe('ask');
  return askTermsOf(layers, ruling, call);
}

const neutral = ({ reviewers, quorum, oneOfEach, escalate }: Requirement): boolean =>
  quorum === 1 && [reviewers, oneOfEach, escalate].every((list) => list.length === 0);
const demands = (one: Requirement, other: Requirement): boolean => {
  const { layer: _, ...rest } = other;
  return JSON.stringify(rest) === JSON.stringify({ ...one, layer: undefined });
};
export const orForEver = (durationMs: number | null): number => durationMs ?? Infinity;

/** The ways in which `after` is looser than `before`. */
export function loosened(before: AskTerms, after: AskTerms): string[] {
  const kinds = [false, ...grantKinds];
  const checks: Record<string, boolean> = {
    // A call that is denied at its deadline may be denied sooner. One that runs then may not run sooner.
    timeout:
      after.onTimeout === 'deny'
        ? orForEver(after.timeoutMs) <= orForEver(before.timeoutMs)
        : orForEver(after.timeoutMs) >= orForEver(before.timeoutMs),
    onTimeout: before.onTimeout === 'allow' || after.onTimeout === 'deny',
    requirements: before.requirements.every(
      (each) => neutral(each) || after.requirements.some((other) => demands(each, other)),
    ),
    named: !before.named || after.named,
    veto: !before.veto || after.veto,
    verified: !before.verified || after.verified,
    allowSelf: before.allowSelf || !after.allowSelf,
    warning: (after.warnBeforeMs ?? 0) >= (before.warnBeforeMs ?? 0),
    reminder: orForEver(after.remindMs) <= orForEver(before.remindMs),
    steps: before.escalate.every((step) =>
      after.escalate.some((each) => JSON.stringify(each) === JSON.stringify(step)),
    ),
    always: kinds.indexOf(after.always) <= kinds.indexOf(before.always),
  };
  return Object.keys(checks).filter((key) => !checks[key]);
}

export function loosenedLimits(before: Limits, after: Limits): string[] {
  const checks: Record<keyof Limits, boolean> = {
    timeoutMs: orForEver(after.timeoutMs) <= orForEver(before.timeoutMs),
    maxPending: after.maxPending <= before.maxPending,
    maxRetriesAfterDeny: after.maxRetriesAfterDeny <= before.maxRetriesAfterDeny,
    denialsHoldFor: before.denialsHoldFor === 'message' || after.denialsHoldFor === 'run',
    maxIrreversiblePerRun: orForEver(after.maxIrreversiblePerRun) <= orForEver(before.maxIrreversiblePerRun),
    includeArguments: before.includeArguments || !after.includeArguments,
    redact: !before.redact || after.redact,
    batch: before.batch === 'parallel' || after.batch === 'sequential',
    cachedResults: before.cachedResults || !after.cachedResults,
    deniedAs: before.deniedAs === 'result' || after.deniedAs === 'error',
  };
  return (Object.keys(checks) as (keyof Limits)[]).filter((key) => !checks[key]);
}
