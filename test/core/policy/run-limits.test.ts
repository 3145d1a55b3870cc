/** The limits of a run, and the request that asks whether it goes on beyond one. */
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { continueTool } from '../../../src/core/base/tool-call.ts';
import { emptyLedger } from '../../../src/core/ledger/ledger-state.ts';
import { compileRules, ruleCase } from '../../../src/core/ledger/rule-case.ts';
import {
  continueArguments,
  continueAssessment,
  continueDefinition,
} from '../../../src/core/policy/continue-request.ts';
import type { Policy, PolicyLayers, RunLimits } from '../../../src/core/policy/policy.ts';
import { amountText, mergeRunLimits, reachedLimit, runLimitsOf } from '../../../src/core/policy/run-limits.ts';
import { changeRunSide, mergeRunSide } from '../../../src/core/policy/run-side.ts';
import { compileLayers, engine, evaluate } from '../../../src/core/policy/ruling.ts';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import { digestFor, grant } from '../generate-grants.ts';
import { agent, layers } from '../generate.ts';
import { runs } from '../../support/thorough.ts';
import { referenceAction } from './reference.ts';

const amount = fc.integer({ min: 1, max: 5 });
const limit = fc.record({ ask: amount, end: amount }, { requiredKeys: [] });
const limits: fc.Arbitrary<RunLimits> = fc.record(
  { turns: limit, calls: limit, tokens: limit, timeMs: limit, cost: limit },
  { requiredKeys: [] },
);
const used = fc.record({
  turns: fc.nat(12),
  calls: fc.nat(12),
  tokens: fc.nat(12),
  timeMs: fc.nat(12),
  cost: fc.nat(12),
});
const policyWith = (written: RunLimits): Policy => ({
  version: 1,
  rules: [],
  riskDefaults: {},
  approval: {},
  limits: written,
});
/** 2: it ends, 1: a person is asked, 0: it goes on. */
const strictness = (all: RunLimits | undefined, spent: Parameters<typeof reachedLimit>[1]): number => {
  const reached = reachedLimit(all ?? {}, spent);
  return reached === undefined ? 0 : reached.asks ? 1 : 2;
};

describe('the strictest of all layers counts', () => {
  test('one more policy never lets a run go further, wherever it stands', () => {
    fc.assert(
      fc.property(limits, limits, limits, limits, used, (ceiling, parent, ofAgent, ofRun, spent) => {
        const run = mergeRunSide(policyWith(ofAgent), policyWith(ofRun));
        const all: PolicyLayers = { ceiling: policyWith(ceiling), parents: [policyWith(parent)], run };
        const found = strictness(runLimitsOf(all), spent);
        for (const each of [ceiling, parent, ofAgent, ofRun]) {
          expect(found).toBeGreaterThanOrEqual(strictness(mergeRunLimits(each), spent));
        }
      }),
      { numRuns: runs(500) },
    );
  });

  test('a change of policy raises nothing', () => {
    fc.assert(
      fc.property(limits, limits, used, (before, change, spent) => {
        const base = mergeRunSide(policyWith(before));
        const run = changeRunSide(base, { policy: policyWith(change) });
        expect(strictness(runLimitsOf({ run }), spent)).toBeGreaterThanOrEqual(strictness(before, spent));
      }),
      { numRuns: runs(500) },
    );
  });

  test.each<[RunLimits, Partial<Record<string, number>>, Partial<Record<string, number>>, string | undefined]>([
    [{}, { turns: 100 }, {}, undefined],
    [{ turns: { end: 2 } }, { turns: 1 }, {}, undefined],
    [{ turns: { end: 2 } }, { turns: 2 }, {}, 'ends at 2 turns'],
    [{ calls: { end: 2 } }, { calls: 2 }, {}, undefined],
    [{ calls: { end: 2 } }, { calls: 3 }, {}, 'ends at 2 tool calls'],
    [{ calls: { ask: 2 } }, { calls: 5 }, { calls: 3 }, undefined],
    [{ calls: { ask: 2 } }, { calls: 6 }, { calls: 3 }, 'asks at 2 tool calls'],
    [{ turns: { ask: 1 } }, { turns: 1 }, {}, 'asks at 1 turn'],
    [{ tokens: { ask: 5 } }, { tokens: 7 }, {}, 'asks at 5 tokens'],
    [{ tokens: { ask: 5 } }, { tokens: 11 }, { tokens: 7 }, undefined],
    [{ tokens: { ask: 5 } }, { tokens: 12 }, { tokens: 7 }, 'asks at 5 tokens'],
    [{ tokens: { ask: 5, end: 12 } }, { tokens: 12 }, { tokens: 7 }, 'ends at 12 tokens'],
    [{ turns: { ask: 1 }, timeMs: { end: 60_000 } }, { turns: 1, timeMs: 60_000 }, {}, 'ends at 1m'],
    [{ timeMs: { ask: 60_000 } }, { timeMs: 59_999 }, {}, undefined],
    [{ cost: { ask: 0.5, end: 2 } }, { cost: 0.75 }, {}, 'asks at 0.5'],
    [{ cost: { ask: 0.5, end: 2 } }, { cost: 1.2 }, { cost: 0.75 }, undefined],
    [{ cost: { ask: 0.5, end: 2 } }, { cost: 2.1 }, { cost: 2 }, 'ends at 2'],
  ])('%j, of which %j was used since %j: %s', (written, spent, allowedFrom, expected) => {
    const reached = reachedLimit(written, { turns: 0, calls: 0, tokens: 0, timeMs: 0, cost: 0, ...spent }, allowedFrom);
    const text = reached && `${reached.asks ? 'asks' : 'ends'} at ${amountText(reached.measure, reached.amount)}`;
    expect(text).toBe(expected);
  });
});

test.each([
  [0.1 + 0.2, undefined, '0.3'],
  [2.5, { currency: 'EUR', models: {} }, '2.5 EUR'],
])('a cost of %d with prices %j: %s', (cost, prices, text) => expect(amountText('cost', cost, prices)).toBe(text));

test('of no limits, none', () => {
  expect(mergeRunLimits(undefined, {})).toBeUndefined();
  expect(mergeRunLimits({ turns: { end: 3 } }, undefined, { turns: { ask: 2 } })).toStrictEqual({
    turns: { ask: 2, end: 3 },
  });
});

test.each<[RunLimits, number, string | undefined]>([
  [{}, 9, undefined],
  [{ tokens: { end: 9 } }, 9, undefined],
  [{ cost: { ask: 5 } }, 1, 'asks at 5'],
  [{ cost: { end: 5 } }, 1, 'asks at 5'],
  [{ cost: { end: 5 } }, 5, 'ends at 5'],
])('%j, at a cost that is not known but for %d: %s', (written, cost, expected) => {
  const spent = { turns: 0, calls: 0, tokens: 0, timeMs: 0, cost };
  const reached = reachedLimit(written, spent, {}, true);
  expect(reached && `${reached.asks ? 'asks' : 'ends'} at ${amountText(reached.measure, reached.amount)}`).toBe(
    expected,
  );
});

describe('the request', () => {
  const args = continueArguments({ measure: 'tokens', amount: 5 });
  const call = { tool: continueTool, args, risk: continueDefinition.risk };

  test('is never allowed, whatever rules, modes and grants say, and otherwise ruled like a call', () => {
    fc.assert(
      fc.property(layers, agent, fc.array(grant), (all, theAgent, grants) => {
        const standing = grants.map((each) => ({ ...each, tool: continueTool, approved: true }));
        const context = { agent: theAgent, grants: standing, digest: digestFor, assessment: continueAssessment };
        const { action, ask } = evaluate(compileLayers(all), call, context as object);
        expect(action).not.toBe('allow');
        if (action === 'ask') expect(ask?.always).toBe(false);
        const asking = (each: Policy): Policy => ({
          ...each,
          riskDefaults: { read_only: 'ask', write: 'ask', destructive: 'ask' },
          rules: each.rules.filter((rule) => rule.action !== 'allow'),
        });
        const asked: PolicyLayers = {
          ...(all.ceiling && { ceiling: asking(all.ceiling) }),
          ...(all.parents && { parents: all.parents.map(asking) }),
          ...(all.run && { run: asking(all.run) }),
        };
        const expected = referenceAction(asked, call, theAgent) === 'deny' ? 'deny' : 'ask';
        expect(evaluate(compileLayers(all), call, { agent: theAgent }).action).toBe(expected);
      }),
      { numRuns: runs(2_000) },
    );
  });

  test('never runs unanswered', () => {
    const written = { rules: [{ pattern: continueTool, action: 'ask', ask: { on_timeout: 'allow' } }] };
    const parsed = parsePolicy({ ...written, approval: { on_timeout: 'allow' } }, { ceiling: true });
    if ('problems' in parsed) throw new Error(parsed.problems[0]!.message);
    const rules = compileRules({ ceiling: parsed.policy });
    const asked = { ...call, digest: '', assessed: continueAssessment };
    const { ruling, terms } = ruleCase(rules, asked, {}, emptyLedger(engine), 0);
    expect(ruling).toMatchObject({ action: 'ask', rule: 'ceiling#1' });
    expect(terms).toMatchObject({ onTimeout: 'deny', always: false });
  });

  test.each([
    ['countersign:continue', true],
    ['*', true],
    ['countersign*', true],
    ['countersign', false],
    ['countersign:other', false],
  ])('pattern %s matches it: %s', (pattern, isMatched) => {
    const run = { version: 1 as const, rules: [{ pattern, action: 'deny' as const }], riskDefaults: {}, approval: {} };
    expect(evaluate(compileLayers({ run }), call).action).toBe(isMatched ? 'deny' : 'ask');
  });
});

describe('in a policy file', () => {
  test.each<[string, RunLimits | string]>([
    ['{ turns: 5 }', { turns: { end: 5 } }],
    ['{ tokens: { ask: 5 }, time: 2h }', { tokens: { ask: 5 }, timeMs: { end: 7_200_000 } }],
    ['{ calls: { ask: 1, end: 2 }, time: { ask: 1m } }', { calls: { ask: 1, end: 2 }, timeMs: { ask: 60_000 } }],
    ['{}', {}],
    ['{ turns: 0 }', "'turns' must be a whole number from 1 to 100000"],
    ['{ turns: 1.5 }', "'turns' must be a whole number from 1 to 100000"],
    ['{ turns: { end: 0 } }', "'end' must be a whole number from 1 to 100000"],
    ['{ turns: {} }', "'turns' must have 'ask', 'end' or both"],
    ['{ turns: { end: 5, and: 5 } }', "unknown key 'and'; known here are ask, end"],
    ['{ time: never }', "'time' must be a whole number and a unit, such as 30s, 5m, 1h or 1d"],
    ['{ time: 0s }', "'time' must be longer than 0"],
    ['{ time: 5 }', "'time' must be a duration such as 2h, or a map of 'ask' and 'end', not 5"],
    ['{ cents: 5 }', "unknown key 'cents'"],
  ])('%s', (text, expected) => {
    const parsed = parsePolicy(`limits: ${text}`);
    if ('problems' in parsed) expect(parsed.problems[0]!.message).toContain(expected);
    else expect(parsed.policy.limits).toEqual(expected);
  });
});
