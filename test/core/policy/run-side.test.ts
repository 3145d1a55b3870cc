import { describe, expect, test } from 'vitest';
import type { Mode } from '../../../src/core/policy/modes.ts';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import type { Policy, RedactSettings, Show } from '../../../src/core/policy/policy.ts';
import { compilePolicy, evaluate } from '../../../src/core/policy/ruling.ts';
import { changeRunSide, laterChange, mergeRunSide, type PolicyChange } from '../../../src/core/policy/run-side.ts';

const policy = (text: string): Policy => {
  const parsed = parsePolicy(text);
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  return parsed.policy;
};
const agent = policy(`
rules:
  - { pattern: "*", action: allow }
  - { id: shared, pattern: "send_*", action: deny }
risk_defaults: { write: allow, destructive: ask }
approval: { timeout: 1h, max_pending: 5 }
`);
const input = policy(`
rules:
  - { pattern: send_mail, action: ask }
  - { id: shared, pattern: pay, action: deny }
risk_defaults: { destructive: deny }
approval: { timeout: 2h }
`);

test.each<[string, string, object]>([
  ['only the agent has a rule', 'read', { action: 'allow', rule: 'agent#1', layer: 'agent' }],
  ['the input overrides the agent', 'send_mail', { action: 'ask', rule: 'run#1', layer: 'run' }],
  ['an id of the agent', 'send_fax', { action: 'deny', rule: 'shared', layer: 'agent' }],
  ['the same id of the input', 'pay', { action: 'deny', rule: 'shared', layer: 'run' }],
])('%s', (_, tool, expected) => {
  const run = compilePolicy(mergeRunSide(agent, input)!, 'run');
  expect(evaluate({ run }, { tool, args: {}, risk: 'write' })).toMatchObject(expected);
});

test.each<[string, string, Show]>([
  [
    'approval: { timeout: 1h, show: { pay: [to] } }',
    'approval: { show: { pay: [amount] } }',
    { pay: ['to', 'amount'] },
  ],
  ['approval: { timeout: 1h }', 'approval: { show: { pay: [amount] } }', { pay: ['amount'] }],
  ['approval: { timeout: 1h, show: { pay: [to] } }', 'approval: { show: false }', false],
])('the arguments that both show add up: %s and %s', (ofAgent, ofInput, show) => {
  const { approval } = mergeRunSide(policy(ofAgent), policy(ofInput))!;
  expect(approval).toEqual({ timeoutMs: 3_600_000, show });
});

test('each risk default and each limit comes from the later source that sets it', () => {
  const { riskDefaults, approval } = mergeRunSide(agent, input)!;
  expect(riskDefaults).toEqual({ write: 'allow', destructive: 'deny' });
  expect(approval).toEqual({ timeoutMs: 7_200_000, maxPending: 5 });
});

test("a run's side cannot set limits that only a ceiling may set", () => {
  expect(mergeRunSide({ ...agent, approval: { maxTimeoutMs: null, minRemindMs: 1 } })!.approval).toEqual({});
});

describe('the directory', () => {
  const people = (text: string) => policy(`directory: { people: { ${text} } }`);
  const ofAgent = people('ann: { groups: [finance] }, bob: {}');
  const ofInput = people('ann: {}');
  test.each<[string, Policy | undefined, Policy | undefined, string[] | undefined]>([
    ['of the agent', ofAgent, input, ['ann', 'bob']],
    ['of the input', agent, ofInput, ['ann']],
    ['of both: the input’s, whole', ofAgent, ofInput, ['ann']],
    ['of nobody', agent, input, undefined],
  ])('%s', (_, agentPolicy, inputPolicy, expected) => {
    const { directory } = mergeRunSide(agentPolicy, inputPolicy)!;
    expect(directory && Object.keys(directory.people)).toEqual(expected);
    if (inputPolicy === ofInput) expect(directory).toEqual(ofInput.directory);
  });
});

test("a run's side cannot set reviewer keys", () => {
  const forged = { ...input, reviewerKeys: { k: { publicKey: 'x', operator: true } } };
  expect(mergeRunSide(forged, forged)).not.toHaveProperty('reviewerKeys');
});

test("one of the two alone is the run's side; without both there is none", () => {
  expect(mergeRunSide(undefined, input)).toEqual(input);
  expect(mergeRunSide(agent)!.rules.map(({ layer }) => layer)).toEqual(['agent', 'agent']);
  expect(mergeRunSide()).toBeUndefined();
});

test.each<[Mode | undefined, Mode | undefined, Mode | undefined, Mode | undefined]>([
  ['plan', undefined, undefined, 'plan'],
  ['plan', 'headless', undefined, 'headless'],
  [undefined, 'headless', undefined, 'headless'],
  ['plan', 'headless', 'confirm_all', 'confirm_all'],
  [undefined, undefined, 'confirm_all', 'confirm_all'],
  [undefined, undefined, undefined, undefined],
])("the mode: agent %s, input's policy %s, input %s: %s", (ofAgent, ofInput, inputMode, expected) => {
  const withMode = (mode: Mode | undefined): Policy => ({ ...input, ...(mode && { mode }) });
  expect(mergeRunSide(withMode(ofAgent), withMode(ofInput), inputMode)?.mode).toBe(expected);
});

test('a mode alone is an empty policy with that mode', () => {
  const empty = { version: 1, rules: [], riskDefaults: {}, approval: {} };
  expect(mergeRunSide(undefined, undefined, 'plan')).toStrictEqual({ ...empty, mode: 'plan' });
  expect(mergeRunSide({ ...input, rules: [], riskDefaults: {}, approval: {} })).toStrictEqual(empty);
});

test.each<[string, Partial<RedactSettings>, Partial<RedactSettings>, Partial<RedactSettings>]>([
  ['kinds, each once', { kinds: ['EMAIL'] }, { kinds: ['EMAIL', 'IBAN'] }, { kinds: ['EMAIL', 'IBAN'] }],
  ['kinds of the first beside all kinds', { kinds: ['EMAIL'] }, {}, {}],
  ['all kinds beside those of the second', {}, { kinds: ['IBAN'] }, {}],
  ['arguments, each once', { also: ['to'] }, { also: ['to', 'path'] }, { also: ['to', 'path'] }],
  ['arguments of the first alone', { also: ['to'] }, {}, { also: ['to'] }],
  ['arguments of the second alone', {}, { also: ['path'] }, { also: ['path'] }],
  ['neither', {}, {}, {}],
])('redactions of the agent and of the run are joined: %s', (_, agent, run, joined) => {
  const withRedact = (redact: Partial<RedactSettings>): Policy => ({
    version: 1,
    rules: [],
    riskDefaults: {},
    approval: {},
    redact: { patterns: [], ...redact },
  });
  expect(mergeRunSide(withRedact(agent), withRedact(run))?.redact).toEqual({ patterns: [], ...joined });
});

test("assessment and redaction rules are joined, the agent's first", () => {
  const own = (name: string): Policy => ({
    ...input,
    assess: [{ pattern: name, severity: 'low' }],
    redact: { patterns: [{ name, pattern: name }] },
  });
  const joined = mergeRunSide(own('a'), own('b'))!;
  expect(joined.assess).toEqual([...own('a').assess!, ...own('b').assess!]);
  expect(joined.redact).toEqual({ patterns: [...own('a').redact!.patterns, ...own('b').redact!.patterns] });
  for (const [agentPolicy, inputPolicy] of [
    [own('a'), input],
    [input, own('a')],
  ])
    expect(mergeRunSide(agentPolicy, inputPolicy)).toMatchObject({ assess: own('a').assess, redact: own('a').redact });
});

describe("a change of a run's policy", () => {
  const base = mergeRunSide(agent, input)!;
  const change = policy('{ rules: [{ pattern: new, action: deny }], risk_defaults: { write: deny } }');

  test('its rules come last, each keeps its place, and its settings win', () => {
    const changed = changeRunSide(base, { policy: change, mode: 'plan' })!;
    expect(changed.rules).toEqual([...base.rules, ...change.rules]);
    expect(changed.rules.map(({ layer }) => layer)).toEqual(['agent', 'agent', undefined, undefined, undefined]);
    expect(changed).toMatchObject({ mode: 'plan', riskDefaults: { write: 'deny', destructive: 'deny' } });
    expect(changed.approval).toEqual(base.approval);
  });

  test('an empty change keeps the policy; without an earlier policy, the change is the policy', () => {
    expect(changeRunSide(base, {})).toBe(base);
    expect(changeRunSide(undefined, { mode: 'plan' })).toEqual(mergeRunSide(undefined, undefined, 'plan'));
    expect(changeRunSide(undefined, { policy: change })!.rules).toEqual(change.rules);
    expect(changeRunSide(undefined, {})).toBeUndefined();
  });

  const first: PolicyChange = { policy: change, mode: 'plan', channels: ['mail'] };
  test.each<[string, PolicyChange, PolicyChange | undefined, PolicyChange]>([
    ['none before it', { policy: input }, undefined, { policy: input }],
    ['of channels alone keeps policy and mode', { channels: ['chat'] }, first, { ...first, channels: ['chat'] }],
    [
      'of the policy alone keeps the channels, not the mode',
      { policy: input },
      first,
      { policy: input, channels: ['mail'] },
    ],
    [
      'of the mode alone keeps the channels, not the policy',
      { mode: 'headless' },
      first,
      { mode: 'headless', channels: ['mail'] },
    ],
    [
      'of everything keeps nothing',
      { policy: input, mode: 'headless', channels: [] },
      first,
      { policy: input, mode: 'headless', channels: [] },
    ],
    ['of nothing keeps everything', {}, first, first],
  ])('a change after another one: %s', (_, later, earlier, expected) => {
    expect(laterChange(later, earlier)).toEqual(expected);
  });
});

test.each<[string, string, object | undefined]>([
  ['advisor: { name: a }', '', { name: 'a' }],
  ['', 'advisor: { name: b }', { name: 'b' }],
  ['advisor: { name: a }', 'advisor: { name: b }', { name: 'b' }],
  ['', '', undefined],
])('the advisor of %j and %j is the later one', (ofAgent, ofInput, advisor) => {
  const merged = mergeRunSide(policy(`version: 1\n${ofAgent}`), policy(`version: 1\n${ofInput}`))!;
  expect('advisor' in merged).toBe(advisor !== undefined);
  expect(merged.advisor).toEqual(advisor);
});
