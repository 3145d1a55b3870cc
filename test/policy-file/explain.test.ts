import { expect, test } from 'vitest';
import fc from 'fast-check';
import { explain } from '../../src/policy-file/explain.ts';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';
import { compilePolicy, evaluate, type CompiledPolicy, type RuledCall } from '../../src/core/policy/ruling.ts';
import { splitShell } from '../../src/shell/split.ts';
import { call, policy } from '../core/generate.ts';

const run = (text: string): CompiledPolicy => {
  const parsed = parsePolicy(text);
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  return compilePolicy(parsed.policy, 'run');
};
const bash = (command: string): RuledCall => ({
  tool: 'bash',
  args: { command },
  risk: 'write',
  subject: 'command',
  shell: splitShell(command),
});
const pay: RuledCall = { tool: 'pay', args: { to: 'acme', amount: 5 }, risk: 'write', subject: 'to' };

test.each<[string, string, RuledCall, boolean | 'error', string]>([
  ['a match', '{ pattern: pay, action: ask }', pay, true, 'it matches'],
  ['another tool', '{ pattern: send, action: ask }', pay, false, 'its pattern is for another tool'],
  ['other arguments', '{ pattern: "pay:x*", action: ask }', pay, false, 'its pattern does not match the arguments'],
  ['a glob', '{ pattern: pay, args: { to: x }, action: ask }', pay, false, "its glob does not match argument 'to'"],
  ['a condition', '{ pattern: pay, when: "args.amount > 5", action: ask }', pay, false, 'its condition does not hold'],
  [
    'an error',
    '{ pattern: pay, when: "args.x > 5", action: ask }',
    pay,
    'error',
    "it cannot be evaluated: 'x' is missing",
  ],
  [
    'no beside an error',
    '{ pattern: pay, args: { x: a, to: b }, action: ask }',
    pay,
    false,
    "its glob does not match argument 'to'",
  ],
  [
    'a part',
    '{ pattern: "bash:rm *", action: deny }',
    bash('ls; rm x'),
    true,
    'it counts for 1 of 2 parts of the command',
  ],
  [
    'no part',
    '{ pattern: "bash:mv *", action: deny }',
    bash('ls; rm x'),
    false,
    'it counts for no part of the command',
  ],
  [
    'an allow that is not certain',
    '{ pattern: "bash:ls *", action: allow }',
    bash('ls $(x)'),
    false,
    'it counts for no part of the command',
  ],
])('%s', (_, rule, theCall, matched, why) => {
  expect(explain({ run: run(`rules: [${rule}]`) }, theCall, { agent: 'a' }).matches).toEqual([
    expect.objectContaining({ rule: 'run#1', layer: 'run', matched, why }),
  ]);
});

test('a rule of another agent', () => {
  const layers = { run: run('agents: { ops: { rules: [{ pattern: "*", action: deny }] } }') };
  expect(explain(layers, pay, { agent: 'web' }).matches).toEqual([
    { rule: 'run.ops#1', layer: 'run', action: 'deny', matched: false, why: "it is for agent 'ops'" },
  ]);
});

test('law: the ruling equals that of evaluate, and names only a rule that matched or could not be evaluated', () => {
  fc.assert(
    fc.property(policy, policy, call, (one, other, theCall) => {
      const layers = { ceiling: compilePolicy(one, 'ceiling'), run: compilePolicy(other, 'run') };
      const { ruling, matches } = explain(layers, theCall);
      expect(ruling).toEqual(evaluate(layers, theCall));
      expect(matches).toHaveLength(one.rules.length + other.rules.length);
      if (ruling.rule !== null) expect(matches.find(({ rule }) => rule === ruling.rule)?.matched).not.toBe(false);
    }),
    { numRuns: 1_000 },
  );
});

test('a condition that takes most of the budget costs an explanation no more than the ruling', () => {
  const rules = `rules:
  - { pattern: sum, when: 'args.all.exists(x, args.all.exists(y, x + y < 0))', action: ask }
  - { pattern: sum, when: 'args.all.size() > 0', action: allow }`;
  const all = Array.from({ length: 80 }, (_, index) => index);
  const { ruling, matches } = explain({ run: run(rules) }, { tool: 'sum', args: { all }, risk: 'write' });
  expect(matches.map(({ why }) => why)).toEqual(['its condition does not hold', 'it matches']);
  expect(ruling.rule).toBe('run#2');
});
