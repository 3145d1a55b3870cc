import { describe, expect, test } from 'vitest';
import { knownCeiling, strictCeiling } from '../../src/policy-file/parse-run-policy.ts';
import type { Policy, Rule } from '../../src/core/policy/policy.ts';
import type { Action } from '../../src/core/policy/modes.ts';
import { compilePolicy, evaluate } from '../../src/core/policy/ruling.ts';

const ceiling = (...rules: Rule[]): Policy => ({
  version: 1,
  mode: 'default',
  rules,
  riskDefaults: { write: 'allow' },
  approval: { maxPending: 3 },
});
const rule = (action: Action, when?: string): Rule => ({
  id: 'r',
  pattern: 'pay',
  action,
  reason: 'Money',
  ...(when !== undefined && { when }),
});

test.each([
  ['allow', 'metadata.team == "x"'],
  ['allow', 'severity == "safe"'],
  ['ask', 'has(metadata.team)'],
  ['allow', "sum('pay', 'amount') + args.amount <= 100.0"],
  ['ask', 'args.list.exists(each, each > counts.calls)'],
] as [Action, string][])(
  '%s when %s: only the run knows, so the rule asks whenever its pattern matches',
  (action, when) => {
    const policy = ceiling(rule(action, when));
    expect(knownCeiling(policy)).toEqual({ ...policy, rules: [rule('ask')] });
  },
);

test.each([
  ['deny', 'metadata.team == "x"'],
  ['deny', 'counts.calls > 3'],
  ['deny', "sum('pay', 'amount') > 100.0"],
  ['deny', 'args.n > 1 && severity == "high"'],
] as [Action, string][])('%s when %s: only the run knows, so the rule is omitted', (action, when) => {
  const policy = ceiling(rule('allow'), rule(action, when));
  expect(knownCeiling(policy)).toEqual({ ...policy, rules: [rule('allow')] });
});

test.each([
  ['deny', undefined],
  ['allow', undefined],
  ['deny', 'args.n > 1'],
  ['allow', 'risk == "write" && tool == "pay" && agent == "ops"'],
  ['deny', 'caller.userId == "ann"'],
  // Words that only begin or end like one of those.
  ['deny', 'args.severity == "page everybody" && args.metadata.counts == 1'],
  ['deny', 'args.table == "metadata"'],
  ['deny', 'args.sum == "sum"'],
  ['deny', 'args.severity_level == 1 && args.metadatas == 2 && args.discounts == 3'],
] as [Action, string | undefined][])('%s when %s: stays unchanged', (action, when) => {
  const policy = ceiling(rule(action, when));
  expect(knownCeiling(policy)).toStrictEqual(policy);
});

test.each<[string, Rule[], Action]>([
  ['it lifts a deny before it, as it may have in the run', [rule('deny'), rule('allow', 'severity == "low"')], 'ask'],
  ['a deny like that denies nothing', [rule('deny', 'counts.calls > 3')], 'allow'],
  ['a deny like that lifts no deny before it', [rule('deny'), rule('deny', 'counts.calls > 3')], 'deny'],
  ['nor one behind it', [rule('deny', 'counts.calls > 3'), rule('deny')], 'deny'],
  ['a deny after it stands', [rule('allow', 'severity == "low"'), rule('deny')], 'deny'],
])('%s', (_, rules, action) => {
  const known = compilePolicy(knownCeiling(ceiling(...rules)), 'ceiling');
  expect(evaluate({ ceiling: known }, { tool: 'pay', args: {}, risk: 'write' }).action).toBe(action);
});

describe('for a call that has passed no run', () => {
  const ofAgent = (action: Action): Rule => ({ ...rule(action), agent: 'ops' });
  test.each<[string, Rule[], Action]>([
    ['a deny that the run could have lifted stands', [rule('deny'), rule('allow', 'metadata.vip == true')], 'deny'],
    ['a deny by severity counts', [rule('ask'), rule('deny', 'severity == "medium"')], 'deny'],
    ['a deny by agent counts', [rule('deny', 'agent == "ops"')], 'deny'],
    ['a deny by caller counts', [rule('ask'), rule('deny', 'caller.userId != "ann"')], 'deny'],
    ['a deny of one agent counts', [ofAgent('deny')], 'deny'],
    ['what one agent may do lifts nothing', [rule('deny'), ofAgent('allow')], 'deny'],
    ['an ask for one agent asks nobody', [ofAgent('ask')], 'allow'],
    ['a deny by arguments counts if they match', [rule('deny', 'args.n > 1')], 'deny'],
    ['and not otherwise', [rule('deny', 'args.n > 9')], 'allow'],
    ['a later rule that is known lifts it', [rule('deny', 'severity == "low"'), rule('ask')], 'ask'],
  ])('%s', (_, rules, action) => {
    const strict = compilePolicy(strictCeiling(ceiling(...rules)), 'ceiling');
    expect(evaluate({ ceiling: strict }, { tool: 'pay', args: { n: 5 }, risk: 'write' }).action).toBe(action);
  });
});
