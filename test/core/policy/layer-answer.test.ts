/** Which rule a ruling reports, and what it lists about the rules that ask. */
import { expect, test } from 'vitest';
import { applyMode, type Mode } from '../../../src/core/policy/modes.ts';
import type { Policy, PolicyLayers, Rule } from '../../../src/core/policy/policy.ts';
import {
  compileLayers,
  engine,
  evaluate,
  type RuledCall,
  type Ruling,
  type RulingContext,
} from '../../../src/core/policy/ruling.ts';
import { mergeRunSide } from '../../../src/core/policy/run-side.ts';

const policy = (rules: Rule[], more: Partial<Policy> = {}): Policy => ({
  version: 1,
  rules,
  riskDefaults: {},
  approval: {},
  ...more,
});
const ruled = (layers: PolicyLayers, call: Partial<RuledCall> = {}, context: RulingContext = {}): Ruling =>
  evaluate(compileLayers(layers), { tool: 'pay', args: {}, risk: 'write', ...call }, context);
const rule = (action: Rule['action'], more: Partial<Rule> = {}): Rule => ({ pattern: 'pay', action, ...more });
const failing = 'args.missing';
const grants = [{ grantId: 'g', tool: 'pay', approved: true, scope: { kind: 'tool' } }] as const;

test('a failing rule is reported, not an ask that a later allow lifted', () => {
  const run = policy([rule('ask', { id: 'early' }), rule('allow'), rule('ask', { id: 'failing', when: failing })]);
  expect(ruled({ run })).toMatchObject({ action: 'ask', rule: 'failing' });
});

test.each<[string, Rule, object | undefined]>([
  ['an ask brings its terms', rule('ask', { when: failing, ask: { quorum: 2 } }), { quorum: 2 }],
  ['an ask without terms brings none', rule('ask', { when: failing }), undefined],
])('among rules that cannot be evaluated: %s', (_, each, expected) => {
  const [first] = ruled({ run: policy([each], { riskDefaults: { write: 'allow' } }) }).ask?.by ?? [];
  expect(first).toEqual(expected && { rule: 'run#1', layer: 'run', ...expected });
});

test('every asking rule is listed with its layer', () => {
  const ask = { quorum: 2 };
  const agent = policy([rule('ask', { ask })]);
  const layers = {
    ceiling: policy([]),
    parents: [policy([rule('allow')]), policy([rule('ask', { ask })])],
    run: mergeRunSide(agent, undefined)!,
  };
  expect(ruled(layers).ask).toStrictEqual({
    always: 'tool',
    by: [
      { rule: 'parent#1', layer: 'parent', quorum: 2, parent: 1 },
      { rule: null, layer: 'ceiling' },
      { rule: 'agent#1', layer: 'agent', quorum: 2 },
    ],
  });
  expect(ruled({ ceiling: policy([rule('ask', { ask })]), run: policy([]) }).ask?.by).toStrictEqual([
    { rule: 'ceiling#1', layer: 'ceiling', quorum: 2 },
    { rule: null, layer: 'run' },
  ]);
});

test.each<[string, Policy, Partial<RuledCall>, RulingContext, string]>([
  ['a risk default', policy([], { riskDefaults: { destructive: 'ask' } }), { risk: 'destructive' }, {}, 'allow'],
  ['a mode', policy([], { mode: 'confirm_all' }), { risk: 'destructive' }, {}, 'allow'],
  ['a rule', policy([rule('ask')]), { risk: 'destructive' }, {}, 'ask'],
  ['a rule for a tool that destroys nothing', policy([rule('ask')]), {}, {}, 'allow'],
  ['a rule that says so', policy([rule('ask', { ask: { always: 'tool' } })]), { risk: 'destructive' }, {}, 'allow'],
])('a grant for the tool lifts the ask of %s: %s', (_, run, call, context, action) => {
  expect(ruled({ run }, call, { ...context, grants }).action).toBe(action);
});

test('a condition can read the calling agent', () => {
  const run = policy([rule('allow', { when: 'agent == "ops"' }), rule('deny', { when: 'agent == null' })]);
  expect(ruled({ run }, {}, { agent: 'ops' }).action).toBe('allow');
  expect(ruled({ run }).action).toBe('deny');
});

test('a ruling has no keys without a value', () => {
  expect(ruled({})).toStrictEqual({ action: 'ask', rule: null, layer: 'default', severity: 'medium', engine });
  expect(ruled({ run: policy([rule('allow')]) })).toStrictEqual({
    action: 'allow',
    rule: 'run#1',
    layer: 'run',
    severity: 'medium',
    engine,
  });
});

test.each<Mode>(['plan', 'headless', 'confirm_all'])('mode %s: no reason if it decided nothing', (mode) => {
  const run = policy([rule('deny')], { mode });
  expect(ruled({ run })).toStrictEqual({ action: 'deny', rule: 'run#1', layer: 'run', severity: 'medium', engine });
  expect(applyMode(mode, 'ask', 'ask', { risk: 'read_only', severity: 'safe', requiresApproval: false }).action).toBe(
    mode === 'headless' ? 'deny' : 'ask',
  );
});

test.each<[Rule['action'], Ruling['action']]>([
  ['deny', 'deny'],
  ['ask', 'ask'],
  ['allow', 'ask'],
])('2,000 rules that %s and a command of 256 parts: %s, and no stack overflows', (action, expected) => {
  const rules = Array.from({ length: 2_000 }, (_, index): Rule => ({ pattern: `pay:c${index} *`, action }));
  const parts = Array.from({ length: 256 }, () => ({ text: 'ls x', reduced: 'ls x' }));
  const ruling = ruled({ run: policy(rules) }, { args: { a: 'ls x' }, subject: 'a', shell: { parts, uncertain: [] } });
  const reason = `rule run#2000 cannot be evaluated: a command of 256 parts is too much for 2000 rules`;
  expect(ruling).toMatchObject({ action: expected, reason });
});
