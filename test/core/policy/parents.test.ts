import { expect, test } from 'vitest';
import { askTermsOf } from '../../../src/core/policy/ask-terms.ts';
import { compileAssessRules } from '../../../src/core/policy/assess-rules.ts';
import { policyDigest, type Policy, type PolicyLayers } from '../../../src/core/policy/policy.ts';
import { explain } from '../../../src/policy-file/explain.ts';
import { limitsOf } from '../../../src/core/policy/limits.ts';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import type { Action } from '../../../src/core/policy/modes.ts';
import { compileLayers, evaluate, type RuledCall, type Ruling } from '../../../src/core/policy/ruling.ts';
import { mergeRunSide } from '../../../src/core/policy/run-side.ts';

/** The layers of a nested agent: what binds each agent above it is a further ceiling (docs/agents.md). */

const policy = (document: object, ceiling = false): Policy => {
  const parsed = parsePolicy(document, { ceiling });
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  return parsed.policy;
};
const rule = (pattern: string, action: Action, more: object = {}): object => ({
  rules: [{ pattern, action, ...more }],
});
const pay: RuledCall = { tool: 'pay', args: { to: 'ann' }, risk: 'write' };
const ruling = (layers: PolicyLayers, call = pay, agent = 'child'): Ruling =>
  evaluate(compileLayers(layers), call, { agent });
const allows = policy(rule('*', 'allow'));

test.each<[string, PolicyLayers, Partial<Ruling>]>([
  [
    'a parent’s deny binds a child that allows',
    { parents: [policy(rule('pay', 'deny', { reason: 'Not from here' }))], run: allows },
    { action: 'deny', rule: 'parent#1', layer: 'parent', reason: 'Not from here' },
  ],
  [
    'a parent’s allow leaves a child’s deny',
    { parents: [allows], run: policy(rule('pay', 'deny')) },
    { action: 'deny', rule: 'run#1', layer: 'run' },
  ],
  [
    'the root’s deny binds below a parent that allows',
    { parents: [policy(rule('pay', 'deny', { id: 'root' })), allows], run: allows },
    { action: 'deny', rule: 'root', layer: 'parent' },
  ],
  [
    'a parent without a rule answers by its risk defaults',
    { parents: [policy({ version: 1 })], run: allows },
    { action: 'ask', rule: null, layer: 'default' },
  ],
  [
    'the ceiling is reported before a parent, a parent before the run',
    { ceiling: policy(rule('pay', 'deny'), true), parents: [policy(rule('pay', 'deny'))], run: allows },
    { rule: 'ceiling#1', layer: 'ceiling' },
  ],
  [
    'a block for the child’s name in its parent’s policy',
    { parents: [policy({ ...rule('*', 'allow'), agents: { child: rule('pay', 'deny') } })], run: allows },
    { action: 'deny', rule: 'parent.child#1', layer: 'parent' },
  ],
  [
    'a block for another agent is not the child’s',
    { parents: [policy({ ...rule('*', 'allow'), agents: { other: rule('pay', 'deny') } })], run: allows },
    { action: 'allow' },
  ],
  ['no parents is nothing', { parents: [], run: allows }, { action: 'allow', rule: 'run#1', layer: 'run' }],
])('%s', (_, layers, expected) => {
  expect(ruling(layers)).toMatchObject(expected);
});

test("a parent's run side, made of two policies, appears as one list from below", () => {
  const side = mergeRunSide(allows, policy(rule('pay', 'ask')))!;
  expect(ruling({ parents: [side] })).toMatchObject({ action: 'ask', rule: 'parent#2', layer: 'parent' });
});

test('an asking rule or default names the parent that it belongs to', () => {
  const layers = {
    parents: [policy(rule('pay', 'ask', { ask: { reviewers: ['ann'] } })), policy({ version: 1 })],
    run: policy(rule('pay', 'ask')),
  };
  const asked = ruling(layers);
  expect(asked.ask?.by).toEqual([
    { rule: 'parent#1', layer: 'parent', parent: 0, reviewers: ['ann'] },
    { rule: null, layer: 'parent', parent: 1 },
    { rule: 'run#1', layer: 'run' },
  ]);
  expect(askTermsOf(layers, asked, pay).requirements).toEqual([
    { layer: 'parent', parent: 0, reviewers: ['ann'], quorum: 1, oneOfEach: [], escalate: [] },
  ]);
});

test('an explanation lists the rules of parents between those of ceiling and run', () => {
  const layers = { ceiling: policy(rule('pay', 'allow'), true), parents: [policy(rule('look', 'deny'))], run: allows };
  expect(explain(compileLayers(layers), pay).matches).toMatchObject([
    { rule: 'ceiling#1', layer: 'ceiling', matched: true },
    { rule: 'parent#1', layer: 'parent', matched: false },
    { rule: 'run#1', layer: 'run', matched: true },
  ]);
});

const minute = 60_000;
const approval = (...written: Policy['approval'][]): Policy[] =>
  written.map((each) => ({ version: 1, rules: [], riskDefaults: {}, approval: each }));
const [hourOfRun] = approval({ timeoutMs: 60 * minute, maxPending: 20 });
test.each<[string, PolicyLayers, object]>([
  [
    'the smaller time-out',
    { parents: approval({ timeoutMs: minute }, { timeoutMs: 2 * minute }), run: hourOfRun },
    { timeoutMs: minute },
  ],
  [
    'the child’s own is smaller',
    { parents: approval({ timeoutMs: 90 * minute }), run: hourOfRun },
    { timeoutMs: 60 * minute },
  ],
  ['a parent that says nothing', { parents: approval({}), run: hourOfRun }, { timeoutMs: 60 * minute, maxPending: 20 }],
  [
    'a parent’s longest time-out',
    { parents: approval({ maxTimeoutMs: minute }), run: hourOfRun },
    { timeoutMs: minute },
  ],
  [
    'the fewest pending',
    { parents: approval({ maxPending: 3 }, { maxPending: 30 }), run: hourOfRun },
    { maxPending: 3 },
  ],
  ['sequential', { parents: approval({ batch: 'sequential' }), run: hourOfRun }, { batch: 'sequential' }],
  ['arguments hidden', { parents: approval({ includeArguments: false }), run: hourOfRun }, { includeArguments: false }],
  [
    'no child switches redaction off',
    { parents: approval({}), run: approval({ redact: false })[0]! },
    { redact: true },
  ],
  ['without a ceiling the root may', { parents: approval({ redact: false }, {}), run: hourOfRun }, { redact: false }],
  ['a parent switches it on again', { parents: approval({ redact: false }, { redact: true }) }, { redact: true }],
])('limits: %s', (_, layers, expected) => {
  expect(limitsOf(layers)).toMatchObject(expected);
});

test("the timeout of a parent's rule replaces that parent's timeout, not another's", () => {
  const [quick, slow] = approval({ timeoutMs: minute }, { timeoutMs: 60 * minute });
  const by = [{ rule: 'r', layer: 'parent' as const, parent: 0, timeoutMs: 10 * minute }];
  const timeoutOf = (parents: Policy[]) => limitsOf({ parents }, { ask: { always: 'tool', by } }).timeoutMs;
  expect([timeoutOf([quick!, slow!]), timeoutOf([slow!, quick!])]).toEqual([10 * minute, minute]);
});

test.each([
  [['allow', 'allow'], 'allow'],
  [['allow', 'deny'], 'deny'],
  [['deny', 'allow'], 'deny'],
  [[undefined, 'allow'], 'deny'],
] as const)('on_timeout of ceiling allow, parents %j: %s', (written, expected) => {
  const look: RuledCall = { tool: 'look', args: {}, risk: 'read_only' };
  const asks = (onTimeout: 'allow' | 'deny' | undefined): Policy => ({
    ...policy(rule('look', 'ask')),
    approval: onTimeout === undefined ? {} : { onTimeout },
  });
  const layers = { ceiling: asks('allow'), parents: written.map(asks) };
  expect(askTermsOf(layers, ruling(layers, look), look).onTimeout).toBe(expected);
});

test.each<[string, [rule?: string, policy?: string][], string]>([
  ['each has a rule that says it', [['allow'], ['allow']], 'allow'],
  ['one has a rule that says it, the other a policy', [['allow'], [undefined, 'allow']], 'allow'],
  ['the rule of one does not speak for the other', [['allow'], []], 'deny'],
  ['a rule says deny under a policy that allows', [['deny', 'allow'], ['allow']], 'deny'],
  ['the same below', [['allow'], ['deny', 'allow']], 'deny'],
])('on_timeout of two parents: %s', (_, written, expected) => {
  const look: RuledCall = { tool: 'look', args: {}, risk: 'read_only' };
  const asks = (ofRule?: string, ofPolicy?: string) => ({
    ...rule('look', 'ask', ofRule === undefined ? {} : { ask: { on_timeout: ofRule } }),
    ...(ofPolicy !== undefined && { approval: { on_timeout: ofPolicy } }),
  });
  const ceiling = policy(asks(undefined, 'allow'), true);
  const layers = { ceiling, parents: written.map((each) => policy(asks(...each))) };
  expect(askTermsOf(layers, ruling(layers, look), look).onTimeout).toBe(expected);
});

test('below a parent an assessment can only be raised', () => {
  const assess = { assess: [{ pattern: '*', severity: 'safe' as const }] };
  expect(
    compileAssessRules({ parents: [assess, assess], run: assess }).map(({ id, raiseOnly }) => [id, raiseOnly]),
  ).toEqual([
    ['parent.assess#1', false],
    ['parent.assess#1', true],
    ['run.assess#1', true],
  ]);
});

test('the digest of the policies covers parents, in their order', () => {
  const [one, two] = approval({ maxPending: 1 }, { maxPending: 2 });
  const digests = [{}, { parents: [one!] }, { parents: [one!, two!] }, { parents: [two!, one!] }].map(policyDigest);
  expect(new Set(digests).size).toBe(4);
});
