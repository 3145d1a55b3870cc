/** What a starter may send, and what a run may say below a ceiling, for every policy and every call. */
import { expect, test } from 'vitest';
import fc from 'fast-check';
import { actions } from '../../../src/core/policy/action.ts';
import { directoriesOf } from '../../../src/core/ledger/panel.ts';
import { compileRules, ruleCase, type Case } from '../../../src/core/ledger/rule-case.ts';
import { hidingProblem } from '../../../src/policy-file/hiding-problem.ts';
import { limitsOf } from '../../../src/core/policy/limits.ts';
import { modes, type Mode } from '../../../src/core/policy/modes.ts';
import { beyondDenying } from '../../../src/policy-file/only-denies.ts';
import type { Policy, PolicyLayers } from '../../../src/core/policy/policy.ts';
import { redactionSettings } from '../../../src/core/policy/redaction-settings.ts';
import { engine, type RuledCall, type Ruling } from '../../../src/core/policy/ruling.ts';
import { mergeRunSide } from '../../../src/core/policy/run-side.ts';
import { namesToShow } from '../../../src/core/policy/show.ts';
import { least, runs } from '../../support/thorough.ts';
import * as generated from '../generate.ts';
import { approval, loosened, loosenedLimits, policy } from './strictness.ts';

/** A policy with everything that loosens, hides or floods somewhere in it. */
const anyPolicy: fc.Arbitrary<Policy> = fc
  .record({
    one: fc.oneof(generated.policy, generated.modedPolicy, policy),
    approval: fc.oneof(fc.constant({}), approval),
    others: fc.record(
      {
        redact: fc.constantFrom<Policy['redact']>(
          { patterns: [] },
          { patterns: [{ name: 'ALL', pattern: '.+' }] },
          { patterns: [], also: ['to'] },
        ),
        assess: fc.constant<Policy['assess']>([{ pattern: '*', severity: 'safe', reversible: true }]),
        directory: fc.constant<Policy['directory']>({ people: { eve: { groups: ['finance'], keys: [] } } }),
      },
      { requiredKeys: [] },
    ),
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
      generated.call,
      ({ ceiling, agent }, input, inputMode, theCall) => {
        fc.pre(beyondDenying({ policy: input, mode: inputMode }) === undefined);
        const [was, is] = [mergeRunSide(agent), mergeRunSide(agent, input, inputMode)];
        const before: PolicyLayers = { ...(ceiling && { ceiling }), ...(was && { run: was }) };
        const after: PolicyLayers = { ...before, ...(is && { run: is }) };
        const [first, second] = [caseOf(before, theCall), caseOf(after, theCall)];
        expect(strictness(second.ruling)).toBeGreaterThanOrEqual(strictness(first.ruling));
        expect(second.assessment).toEqual(first.assessment);
        expect(hiddenMore(before, after)).toEqual([]);
        expect(loosenedLimits(first.limits, second.limits)).toEqual([]);
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
  const counts = { calls: 0, asks: 0, denials: 0, irreversible: 0 };
  const run = { agent: 'ops' };
  return ruleCase(compileRules(policies), { ...theCall, digest: '' }, run, { engine, counts, grants: [] }, 0);
}

test('below a ceiling, no run hides what its agent and the ceiling show', () => {
  let changed = 0;
  fc.assert(
    fc.property(anyPolicy, fc.option(anyPolicy, { nil: undefined }), anyPolicy, mode, (ceiling, agent, input, mode) => {
      fc.pre(hidingProblem(input) === undefined);
      const before: PolicyLayers = { ceiling, ...(agent && { run: agent }) };
      const after: PolicyLayers = { ceiling, run: mergeRunSide(agent, input, mode)! };
      expect(hiddenMore(before, after)).not.toContain('arguments');
      // A run may switch on what the others name. The built-in kinds never hide what says what a call does.
      const named = [ceiling, agent].flatMap((each) => each?.redact ?? []);
      const { also, patterns } = redactionSettings(after) ?? {};
      expect(
        subset(
          also,
          named.flatMap((each) => each.also ?? []),
        ),
      ).toBe(true);
      expect(
        subset(
          patterns,
          named.flatMap((each) => each.patterns),
        ),
      ).toBe(true);
      if (hiddenMore(after, before).length > 0 || (also ?? []).length > 0) changed += 1;
    }),
    { numRuns: runs(1_000) },
  );
  expect(changed).toBeGreaterThan(least(50));
});
