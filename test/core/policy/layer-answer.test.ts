/** Which rule a ruling reports, and what it lists about the rules that ask. */
import { describe, expect, test } from 'vitest';
import { compileCondition, maxConditionWork, type Condition } from '../../../src/core/match/condition.ts';
import { maxRulingWork } from '../../../src/core/match/matching.ts';
import { layerAnswers, maxPartMatches } from '../../../src/core/policy/layer-answer.ts';
import { continueTool } from '../../../src/core/base/tool-call.ts';
import { applyMode, type Mode } from '../../../src/core/policy/modes.ts';
import type { Policy, PolicyLayers, Rule } from '../../../src/core/policy/policy.ts';
import {
  compileLayers,
  compilePolicy,
  engine,
  evaluate,
  maxWorkOfStep,
  readyCall,
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

const split = (parts: number) => ({
  args: { a: 'ls x' },
  subject: 'a',
  shell: { parts: Array.from({ length: parts }, () => ({ text: 'ls x', reduced: 'ls x' })), uncertain: [] },
});
const denials = (count: number) => policy(Array.from({ length: count }, () => rule('deny', { pattern: 'pay:rm *' })));

test.each<[number, Ruling['action'], string | null]>([
  [maxPartMatches / 250, 'ask', null],
  [maxPartMatches / 250 + 1, 'deny', 'run#201'],
])('%i rules that deny something else, and a command of 250 parts: %s by %s', (count, action, by) => {
  expect(ruled({ run: denials(count) }, split(250))).toMatchObject({ action, rule: by });
});

test.each<[string, Partial<RuledCall>, number]>([
  ['each part of a command times each rule', split(3), 3 * 2 * 100],
  ['nothing for a call that is no command', {}, 0],
])('what the parts of a call add to its cost: %s', (_, call, expected) => {
  const meter = { work: 0 };
  const layers = compileLayers({ run: policy([rule('ask'), rule('ask')]) });
  evaluate(layers, { tool: 'pay', args: {}, risk: 'write', ...call }, {}, meter);
  expect(meter.work).toBe(expected);
});

test("each step of a condition adds to a ruling's cost", () => {
  const when = '[1, 2, 3].all(each, each > 0)';
  const condition = compileCondition(when) as Condition;
  const call = { tool: 'pay', args: {}, risk: 'write' as const };
  const budget = { left: maxConditionWork };
  condition.holds(readyCall(call, {}).facts.variables(), budget);
  const meter = { work: 0 };
  evaluate(compileLayers({ run: policy([rule('ask', { when })]) }), call, {}, meter);
  const steps = maxConditionWork - budget.left;
  expect([steps > 0, meter.work]).toEqual([true, steps * 125]);
});

test('a step of a run affords the dearest ruling', () => {
  expect(maxWorkOfStep).toBeGreaterThan(maxRulingWork + maxConditionWork * 125 + maxPartMatches * 100);
});

describe('rules that cannot be evaluated', () => {
  test('two that ask are listed once each', () => {
    const ask = { quorum: 2 };
    const run = policy([rule('ask', { ask, when: failing }), rule('ask', { ask, when: failing })]);
    expect(ruled({ run: { ...run, riskDefaults: { write: 'allow' } } }).ask?.by).toEqual([
      { rule: 'run#2', layer: 'run', quorum: 2 },
      { rule: 'run#1', layer: 'run', quorum: 2 },
    ]);
  });

  test('of two rules that ask, one of them is reported first', () => {
    const run = policy([rule('ask', { id: 'failing', when: failing }), rule('ask', { id: 'last' })]);
    expect(ruled({ run }).rule).toBe('failing');
  });

  test.each<[Rule['action'], string | undefined]>([
    ['allow', 'run#1'],
    ['ask', undefined],
  ])('a risk default that denies gives the reason of a rule that %ss: %s', (action, expected) => {
    const run = policy([rule(action, { when: failing })]);
    const { reason, ...rest } = ruled({ run }, { risk: 'destructive' });
    expect(rest).toMatchObject({ action: 'deny', rule: null });
    expect(reason?.split(' ')[1]).toBe(expected);
  });

  test.each<Mode>(['headless', 'auto_deny'])('one that asks is denied where nobody answers: mode %s', (mode) => {
    const run = policy([rule('ask', { when: failing })], { mode, riskDefaults: { read_only: 'allow' } });
    expect(ruled({ run }, { risk: 'read_only' })).toMatchObject({ action: 'deny', rule: null, mode });
  });
});

describe('a rule that allows the command, not what is beside it', () => {
  const beside = { ...split(1), args: { a: 'ls x', env: {} } };
  const reason = "rule run#1 allows the command, not 'env' beside it";

  test('gives the reason where a mode allows what is asked', () => {
    const run = policy([rule('allow', { pattern: 'pay:ls *' })], { mode: 'approve_all' });
    expect(ruled({ run }, beside)).toMatchObject({ action: 'ask', rule: null, reason });
  });

  test('is named with a denial if it cannot be evaluated', () => {
    const run = policy([rule('allow', { pattern: 'pay:ls *', when: failing })]);
    const ruling = ruled({ run }, { ...beside, risk: 'destructive' });
    expect([ruling.action, ruling.reason?.split(' ')[1]]).toEqual(['deny', 'run#1']);
  });
});

describe('the advisor of a policy', () => {
  const advisor = { name: 'a', mayApprove: true, timeoutMs: 10 };
  const asks = (ask: Rule['ask'], more: Partial<Policy> = {}, when?: string) => {
    const written = rule('ask', { ...(ask && { ask }), ...(when !== undefined && { when }) });
    return ruled({ run: policy([written], { advisor, ...more }) }).ask?.by[0]?.advisor;
  };

  test.each<[string, Rule['ask'], object | false]>([
    ['nobody is named', undefined, advisor],
    ['nobody has to be verified', { verified: false }, advisor],
    ['reviewers are named', { reviewers: ['ann'] }, { name: 'a', timeoutMs: 10 }],
    ['a number is named', { quorum: 2 }, { name: 'a', timeoutMs: 10 }],
    ['one of each group is named', { oneOfEach: ['group:a'] }, { name: 'a', timeoutMs: 10 }],
    ['a verified reviewer is named', { verified: true }, { name: 'a', timeoutMs: 10 }],
    ['the rule names another', { advisor: { name: 'b' } }, { name: 'b' }],
    ['the rule wants none', { advisor: false }, false],
  ])('of a rule that asks, if %s', (_, ask, expected) => expect(asks(ask)).toStrictEqual(expected));

  test('without a time of its own, what names people has none either', () => {
    expect(asks({ quorum: 2 }, { advisor: { name: 'a', mayApprove: true } })).toStrictEqual({ name: 'a' });
  });

  test.each<[string, Rule['ask'], object | false]>([
    ['it names none', undefined, { name: 'a', timeoutMs: 10 }],
    ['it names another', { advisor: { name: 'b', mayApprove: true } }, { name: 'b' }],
    ['it wants none', { advisor: false }, false],
  ])('approves nothing that a rule cannot be evaluated for: %s', (_, ask, expected) => {
    expect(asks(ask, {}, failing)).toStrictEqual(expected);
  });

  test('is no part of an answer that does not ask', () => {
    const compiled = compilePolicy(policy([rule('allow')], { advisor }), 'run');
    const call = readyCall({ tool: 'pay', args: {}, risk: 'write' }, {});
    expect(layerAnswers(compiled, call)).toEqual([{ action: 'allow', rule: 'run#1', layer: 'run' }]);
  });
});

test.each<Mode>(['default', 'bypassPermissions', 'auto_approve', 'approve_all'])(
  'mode %s asks whether a run goes on, and says why',
  (mode) => {
    expect(ruled({ run: policy([], { mode }) }, { tool: continueTool })).toMatchObject({
      action: 'ask',
      rule: null,
      reason: 'The run has reached a limit',
    });
  },
);
