/** What a starter may send, and what a run may say below a ceiling, for every policy and every call. */
import { expect, test } from 'vitest';
import fc from 'fast-check';
import { actions, modes, type Mode } from '../../../src/core/policy/modes.ts';
import { emptyLedger } from '../../../src/core/ledger/ledger-state.ts';
import { directoriesOf } from '../../../src/core/ledger/panel.ts';
import { compileRules, ruleCase, type Case } from '../../../src/core/ledger/rule-case.ts';
import { hidingProblem, beyondDenying } from '../../../src/policy-file/parse-run-policy.ts';
import { severityRank } from '../../../src/core/assess/assessment.ts';
import { adviseRuling } from '../../../src/core/policy/advice.ts';
import { limitsOf, type Limits } from '../../../src/core/policy/limits.ts';
import {
  defaultMaxPending,
  defaultMaxRetriesAfterDeny,
  defaultMinRemindMs,
  type Policy,
  type PolicyLayers,
} from '../../../src/core/policy/policy.ts';
import { ceilingRedaction, redactionSettings } from '../../../src/core/policy/redaction-settings.ts';
import { engine, type RuledCall, type Ruling } from '../../../src/core/policy/ruling.ts';
import { mergeRunLimits, runLimitsOf } from '../../../src/core/policy/run-limits.ts';
import { mergeRunSide, namesToShow } from '../../../src/core/policy/run-side.ts';
import { least, runs } from '../../support/thorough.ts';
import * as generated from '../generate.ts';
import { approval, call, loosened, loosenedLimits, minute, orForEver, policy } from './strictness.ts';

const advisor = fc.record({ name: fc.constantFrom('own', 'model'), mayApprove: fc.boolean() });
const limit = fc.record({ ask: fc.constantFrom(1, 9), end: fc.constantFrom(2, 10) }, { requiredKeys: [] });
/** The keys of a policy that are not below, and that a run may have: a new one has to be added here. */
const everyOther = {
  redact: fc.constantFrom<NonNullable<Policy['redact']>>(
    { patterns: [] },
    { patterns: [{ name: 'ALL', pattern: '.+' }] },
    { patterns: [], also: ['to'] },
    { patterns: [], kinds: ['EMAIL'] },
    { patterns: [], kinds: ['IBAN', 'CARD'] },
  ),
  assess: fc.constantFrom<NonNullable<Policy['assess']>>(
    [{ pattern: '*', severity: 'safe', reversible: true }],
    [{ pattern: 'pay', severity: 'high' }],
  ),
  directory: fc.constant<NonNullable<Policy['directory']>>({ people: { eve: { groups: ['finance'], keys: [] } } }),
  advisor,
  limits: fc.record({ turns: limit, cost: limit }, { requiredKeys: [] }),
} satisfies Record<
  Exclude<
    keyof Policy,
    'version' | 'mode' | 'rules' | 'riskDefaults' | 'approval' | 'prices' | 'reviewerKeys' | 'revoked'
  >,
  fc.Arbitrary<unknown>
>;

/** A policy with everything that loosens, hides or floods somewhere in it. */
const anyPolicy: fc.Arbitrary<Policy> = fc
  .record({
    one: fc.oneof(generated.policy, generated.modedPolicy, policy),
    approval: fc.oneof(fc.constant({}), approval),
    others: fc.record(everyOther, { requiredKeys: [] }),
  })
  .map(({ one, approval: written, others }) => ({ ...one, ...others, approval: { ...one.approval, ...written } }));
const denying: fc.Arbitrary<Policy> = generated.policy.map(({ rules, ...rest }) => ({
  ...rest,
  rules: rules.map((rule) => ({ ...rule, action: 'deny' as const })),
  riskDefaults: {},
}));
/** Denies, and says one thing besides that may loosen, hide or flood. */
const oneMore: fc.Arbitrary<Policy> = fc
  .record({ base: denying, other: anyPolicy, seed: fc.nat() })
  .map(({ base, other, seed }) => {
    const settings = Object.entries(other.approval).map(([key, value]) => ({ approval: { [key]: value } }));
    const others = Object.entries(other).flatMap(([key, value]) => (key === 'approval' ? [] : [{ [key]: value }]));
    const asking = { rules: other.rules.map((rule) => ({ ...rule, action: 'ask' as const })) };
    const all = [...settings, ...others, asking];
    return { ...base, ...all[seed % all.length] };
  });
const mode: fc.Arbitrary<Mode | undefined> = fc.option(fc.constantFrom(...modes), { nil: undefined, freq: 2 });
const anyCall: fc.Arbitrary<RuledCall> = fc.oneof(generated.call, fc.constant(call));
/** How long a call waits is meaningful if it is asked about, and then it is among its terms. */
const loosenedBeside = (before: Limits, after: Limits): string[] =>
  loosenedLimits(before, after).filter((each) => each !== 'timeoutMs');
const strictness = ({ action }: Ruling): number => actions.indexOf(action);
const subset = (some: readonly unknown[] = [], all: readonly unknown[] = []): boolean => {
  const texts = all.map((each) => JSON.stringify(each));
  return some.every((each) => texts.includes(JSON.stringify(each)));
};

/** What the layers `after` hide of a call of `tool`, and those `before` do not. */
function hiddenMore(before: PolicyLayers, after: PolicyLayers): string[] {
  const [was, is] = [redactionSettings(before), redactionSettings(after)];
  const checks: Record<string, boolean> = {
    arguments: limitsOf(after).includeArguments || !limitsOf(before).includeArguments,
    kinds: subset(is?.kinds, was?.kinds),
    patterns: subset(is?.patterns, was?.patterns),
    also: subset(is?.also, was?.also),
    show: subset(namesToShow(before, 'pay', ['to']), namesToShow(after, 'pay', ['to'])),
  };
  return Object.keys(checks).filter((key) => !checks[key]);
}

test('what a starter may send allows no more, shortens no veto, hides no more and floods nobody', () => {
  const counts = { sent: 0, denied: 0, asked: 0 };
  fc.assert(
    fc.property(
      fc.record({ ceiling: anyPolicy, agent: anyPolicy }, { requiredKeys: [] }),
      fc.oneof(denying, oneMore, anyPolicy),
      mode,
      anyCall,
      ({ ceiling, agent }, input, inputMode, theCall) => {
        fc.pre(beyondDenying({ policy: input, mode: inputMode }) === undefined);
        const [was, is] = [mergeRunSide(agent), mergeRunSide(agent, input, inputMode)];
        const before: PolicyLayers = { ...(ceiling && { ceiling }), ...(was && { run: was }) };
        const after: PolicyLayers = { ...before, ...(is && { run: is }) };
        const [first, second] = [caseOf(before, theCall), caseOf(after, theCall)];
        expect(strictness(second.ruling)).toBeGreaterThanOrEqual(strictness(first.ruling));
        expect(second.assessment).toEqual(first.assessment);
        expect(hiddenMore(before, after)).toEqual([]);
        expect(loosenedBeside(first.limits, second.limits)).toEqual([]);
        expect(directoriesOf(after)).toEqual(directoriesOf(before));
        counts.sent += 1;
        if (second.ruling.action === 'deny' && first.ruling.action !== 'deny') counts.denied += 1;
        if (second.ruling.action !== 'ask') return;
        counts.asked += 1;
        expect(loosened(first.terms, second.terms)).toEqual([]);
        expect(second.terms.remindMs).toBe(first.terms.remindMs);
      },
    ),
    { numRuns: runs(3_000) },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(least(100));
});

function caseOf(policies: PolicyLayers, theCall: RuledCall): Case {
  const run = { agent: 'ops' };
  return ruleCase(compileRules(policies), { ...theCall, digest: '' }, run, emptyLedger(engine), 0);
}

/**
 * Ceilings bound what only they can: how long people may be waited for, and how often they may be notified. Each sets
 * the limits that have a default, because one that does not leaves them to the layers below.
 */
const defaults = { timeoutMs: minute, maxPending: defaultMaxPending, maxRetriesAfterDeny: defaultMaxRetriesAfterDeny };
const anyCeiling: fc.Arbitrary<Policy> = fc
  .record({
    base: anyPolicy,
    bounds: fc.record(
      { minRemindMs: fc.constantFrom(1_000, 2_000, 3 * minute), maxTimeoutMs: fc.constantFrom(minute, null) },
      { requiredKeys: [] },
    ),
  })
  .map(({ base, bounds }) => ({ ...base, approval: { ...defaults, ...base.approval, ...bounds } }));

test('below a ceiling, reviewers are shown, asked, waited for and notified at least as it says', () => {
  const counts = { refused: 0, hides: 0, asked: 0, both: 0, spaced: 0, approved: 0 };
  fc.assert(
    fc.property(
      anyCeiling,
      fc.option(anyPolicy, { nil: undefined }),
      anyPolicy,
      mode,
      anyCall,
      (ceiling, agent, input, inputMode, theCall) => {
        const isRefused = hidingProblem(input, ceilingRedaction(ceiling)) !== undefined;
        const agents: PolicyLayers = { ceiling, ...(agent && { run: agent }) };
        const after: PolicyLayers = { ceiling, run: mergeRunSide(agent, input, inputMode)! };
        // Cards keep the values that lists do not show.
        const hidden = hiddenMore(agents, after).filter((each) => each !== 'show');
        if (isRefused) counts.refused++;
        if (hidden.length > 0) counts.hides++;
        if (isRefused) return;
        expect(hidden).toEqual([]);
        const [first, second] = [caseOf({ ceiling }, theCall), caseOf(after, theCall)];
        expect(strictness(second.ruling)).toBeGreaterThanOrEqual(strictness(first.ruling));
        expect(severityRank(second.assessment.severity)).toBeGreaterThanOrEqual(
          severityRank(first.assessment.severity),
        );
        expect(first.assessment.reversible || !second.assessment.reversible).toBe(true);
        expect(second.assessment.requiresApproval || !first.assessment.requiresApproval).toBe(true);
        expect(directoriesOf(after).ceiling).toEqual(directoriesOf({ ceiling }).ceiling);
        expect(loosenedBeside(first.limits, second.limits)).toEqual([]);
        expect(mergeRunLimits(runLimitsOf({ ceiling }), runLimitsOf(after)) ?? {}).toEqual(runLimitsOf(after));
        if (second.ruling.action !== 'ask') return;
        counts.asked++;
        const { minRemindMs = defaultMinRemindMs } = ceiling.approval;
        const timesMs = second.terms.requirements.flatMap(({ layer, escalate }) =>
          layer === 'ceiling' ? [] : escalate.map(({ afterMs }) => afterMs),
        );
        const own = first.ruling.action === 'ask' ? first.terms : undefined;
        expect(orForEver(second.terms.remindMs)).toBeGreaterThanOrEqual(
          Math.min(orForEver(own?.remindMs ?? null), minRemindMs),
        );
        for (const [index, timeMs] of [0, ...new Set(timesMs.toSorted((one, other) => one - other))].entries()) {
          const nextMs = timesMs.filter((each) => each > timeMs);
          if (nextMs.length === 0) continue;
          expect(Math.min(...nextMs) - timeMs).toBeGreaterThanOrEqual(minRemindMs);
          if (index > 0) counts.spaced++;
        }
        expect(second.terms.escalate.length).toBeLessThanOrEqual(new Set(timesMs).size + (own?.escalate.length ?? 0));
        if (own === undefined) return;
        counts.both++;
        expect(loosened(own, second.terms)).toEqual([]);
        const approving = ['own', 'model'].map((name) => ({ advisor: name, answer: 'approve' as const }));
        const advised = (ruling: Ruling): Ruling =>
          adviseRuling(ruling, approving, { risk: 'write', reversible: true });
        if (advised(second.ruling).action === 'allow') {
          counts.approved++;
          expect(advised(first.ruling).action).toBe('allow');
        }
      },
    ),
    // Many, because few policies escalate twice.
    { numRuns: runs(18_000) },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(least(10));
});
