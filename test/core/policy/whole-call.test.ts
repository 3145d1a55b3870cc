/** Shell rules look at the whole call: what an allow rule for a command says to other arguments. */
import { describe, expect, test } from 'vitest';
import { explain } from '../../../src/policy-file/explain.ts';
import type { Mode } from '../../../src/core/policy/modes.ts';
import type { Policy, Rule } from '../../../src/core/policy/policy.ts';
import { compilePolicy, evaluate, type RuledCall, type Ruling } from '../../../src/core/policy/ruling.ts';
import { undeclaredArguments } from '../../../src/core/policy/whole-call.ts';
import { splitShell } from '../../../src/shell/split.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';

const policy = (rules: Rule[], more: Partial<Policy> = {}): Policy => ({
  version: 1,
  rules,
  riskDefaults: {},
  approval: {},
  ...more,
});
const allow = (pattern: string, more: Partial<Rule> = {}): Rule => ({ pattern, action: 'allow', ...more });
const ask = (pattern: string, more: Partial<Rule> = {}): Rule => ({ pattern, action: 'ask', ...more });
const deny = (pattern: string): Rule => ({ pattern, action: 'deny' });
const bash = (command: string, others: JsonObject = {}, more: Partial<RuledCall> = {}): RuledCall => ({
  tool: 'bash',
  args: { command, ...others },
  risk: 'write',
  subject: 'command',
  shell: splitShell(command),
  ...more,
});
const ruled = (run: Policy, call: RuledCall): Ruling => evaluate({ run: compilePolicy(run, 'run') }, call);
const status = allow('bash:git status*');
const env = { env: { GIT_PAGER: 'evil' } };
const leftOut = (names: string, rule = 'run#1'): string => `rule ${rule} allows the command, not ${names} beside it`;

describe('one layer', () => {
  test.each<[string, Rule[], RuledCall, Partial<Ruling>]>([
    ['the command alone', [status], bash('git status'), { action: 'allow', rule: 'run#1' }],
    ['env', [status], bash('git status', env), { action: 'ask', rule: 'run#1', reason: leftOut(`'env'`) }],
    ['another shell', [status], bash('git status', { shell: 'zsh' }), { action: 'ask', reason: leftOut(`'shell'`) }],
    ['another folder', [status], bash('git status', { cwd: '/x' }), { action: 'ask', reason: leftOut(`'cwd'`) }],
    [
      'a sandbox that is switched off',
      [status],
      bash('git status', { sandbox: false }),
      { action: 'ask', reason: leftOut(`'sandbox'`) },
    ],
    ['null is a value', [status], bash('git status', { env: null }), { action: 'ask' }],
    [
      'an argument without a value is none',
      [status],
      bash('git status', { env: undefined } as unknown as JsonObject),
      { action: 'allow' },
    ],
    [
      'several, in order',
      [status],
      bash('git status', { shell: 'zsh', ...env }),
      { action: 'ask', reason: leftOut(`'env', 'shell'`) },
    ],
    [
      'three, all named',
      [status],
      bash('git status', { shell: 'zsh', cwd: '/x', ...env }),
      { action: 'ask', reason: leftOut(`'cwd', 'env', 'shell'`) },
    ],
    ['a declared argument', [status], bash('git status', { timeout: 5 }, { beside: ['timeout'] }), { action: 'allow' }],
    [
      'another one beside a declared argument',
      [status],
      bash('git status', { timeout: 5, ...env }, { beside: ['timeout'] }),
      { action: 'ask', reason: leftOut(`'env'`) },
    ],
    [
      'an argument that the rule names',
      [allow('bash:git status*', { args: { cwd: '/srv/*' } })],
      bash('git status', { cwd: '/srv/app' }),
      { action: 'allow' },
    ],
    [
      'an argument that the rule names, with another value',
      [allow('bash:git status*', { args: { cwd: '/srv/*' } })],
      bash('git status', { cwd: '/root' }),
      { action: 'ask', rule: null },
    ],
    [
      'another one beside an argument that the rule names',
      [allow('bash:git status*', { args: { cwd: '*' } })],
      bash('git status', { cwd: '/srv', ...env }),
      { action: 'ask', reason: leftOut(`'env'`) },
    ],
    [
      'an argument that a condition reads is not named',
      [allow('bash:git status*', { when: 'args.cwd == "/srv"' })],
      bash('git status', { cwd: '/srv' }),
      { action: 'ask', reason: leftOut(`'cwd'`) },
    ],
    [
      'a glob on the command is a rule for the command',
      [allow('bash', { args: { command: 'git *' } })],
      bash('git status', env),
      { action: 'ask', reason: leftOut(`'env'`) },
    ],
    ['a rule for any command is one too', [allow('bash:*')], bash('git status', env), { action: 'ask' }],
    ['a rule for the tool allows whole calls', [allow('bash')], bash('git status', env), { action: 'allow' }],
    [
      'a rule for another argument allows whole calls',
      [allow('bash', { args: { cwd: '/srv' } })],
      bash('make', { cwd: '/srv', ...env }),
      { action: 'allow' },
    ],
    ['a deny', [status, deny('bash:git *')], bash('git status', env), { action: 'deny', rule: 'run#2' }],
    ['an ask', [status, ask('bash:git *')], bash('git status', env), { action: 'ask', rule: 'run#2' }],
    ['a later rule that allows the call', [status, allow('bash')], bash('git status', env), { action: 'allow' }],
    [
      'an earlier rule that allows the call does not help',
      [allow('bash'), status],
      bash('git status', env),
      { action: 'ask', rule: 'run#2', reason: leftOut(`'env'`, 'run#2') },
    ],
    [
      'an earlier deny: the exception does not count',
      [deny('bash'), status],
      bash('git status', env),
      { action: 'deny', rule: 'run#1' },
    ],
    [
      'a deny that an earlier rule lifted stays lifted',
      [deny('bash'), allow('bash'), status],
      bash('git status', env),
      { action: 'ask', rule: 'run#3' },
    ],
    [
      'each part of a command',
      [status, allow('bash:ls*', { args: { env: '*' } })],
      bash('ls && git status', env),
      { action: 'ask', rule: 'run#1', reason: leftOut(`'env'`) },
    ],
    [
      'a wrapper that the rule writes',
      [allow('bash:sudo ls*')],
      bash('sudo ls', env),
      { action: 'ask', reason: leftOut(`'env'`) },
    ],
    [
      'a subject that no shell runs',
      [allow('bash:git *')],
      bash('git status', env, { shell: undefined }),
      { action: 'allow' },
    ],
  ])('%s', (_, rules, call, expected) => {
    expect(ruled(policy(rules), call)).toMatchObject(expected);
  });

  test('the ask of an earlier rule keeps its reviewers', () => {
    const { ask: terms, rule } = ruled(
      policy([ask('bash', { ask: { reviewers: ['group:ops'], quorum: 2 } }), allow('bash:git *')]),
      bash('git status', env),
    );
    expect(rule).toBe('run#2');
    expect(terms).toStrictEqual({
      always: 'call',
      by: [
        { rule: 'run#2', layer: 'run' },
        { rule: 'run#1', layer: 'run', reviewers: ['group:ops'], quorum: 2 },
      ],
    });
  });

  test('how an allow rule would ask does not count', () => {
    const odd = allow('bash:git *', { ask: { allowSelf: true, always: 'tool' } });
    expect(ruled(policy([odd]), bash('git status', env))).not.toHaveProperty('ask');
  });

  test('a risk default that denies gives the reason', () => {
    const call = bash('git status', env, { risk: 'destructive' });
    expect(ruled(policy([status]), call)).toMatchObject({ action: 'deny', rule: null, reason: leftOut(`'env'`) });
  });

  test('names that a model chose are shortened', () => {
    const names = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`${index}${'n'.repeat(99)}`, 1]));
    const { reason } = ruled(policy([status]), bash('git status', names));
    const shown = [0, 1, 2].map((index) => `'${index}${'n'.repeat(39)}…'`).join(', ');
    expect(reason).toBe(leftOut(`${shown} and 6 more`));
  });
});

describe('every layer', () => {
  const [partly, wholly] = [policy([status]), policy([allow('bash')])];
  test.each<[string, { ceiling?: Policy; parents?: Policy[]; run?: Policy }, Partial<Ruling>]>([
    ['ceiling', { ceiling: partly, run: wholly }, { action: 'ask', rule: 'ceiling#1', layer: 'ceiling' }],
    ['parent', { ceiling: wholly, parents: [partly], run: wholly }, { action: 'ask', layer: 'parent' }],
    ['run', { ceiling: wholly, run: partly }, { action: 'ask', rule: 'run#1', layer: 'run' }],
    ['none', { ceiling: wholly, run: wholly }, { action: 'allow' }],
  ])('%s', (_, { ceiling, parents, run }, expected) => {
    const layers = {
      ...(ceiling && { ceiling: compilePolicy(ceiling, 'ceiling') }),
      parents: parents?.map((each) => compilePolicy(each, 'parent')),
      ...(run && { run: compilePolicy(run, 'run') }),
    };
    expect(evaluate(layers, bash('git status', env))).toMatchObject(expected);
  });
});

test.each<[Mode, 'allow' | 'ask' | 'deny']>([
  ['default', 'ask'],
  ['acceptEdits', 'ask'],
  ['plan', 'deny'],
  ['dontAsk', 'deny'],
  ['headless', 'deny'],
  ['auto_deny', 'deny'],
  ['confirm_all', 'ask'],
  ['confirm_high_risk', 'ask'],
  ['approve_all', 'ask'],
  ['bypassPermissions', 'allow'],
  ['auto_approve', 'allow'],
])('mode %s: %s', (mode, action) => {
  expect(ruled(policy([status], { mode }), bash('git status', env)).action).toBe(action);
});

describe('grants', () => {
  const answered = (match: Record<string, string>, others: JsonObject, beside?: string[]): string => {
    const grants = [{ grantId: 'g', tool: 'bash', approved: true, scope: { kind: 'arguments', match } }] as const;
    return evaluate({ run: compilePolicy(policy([]), 'run') }, bash('make', others, { beside }), { grants }).action;
  };
  test.each<[Record<string, string>, JsonObject, string[] | undefined, 'allow' | 'ask']>([
    [{ command: 'make*' }, {}, undefined, 'allow'],
    [{ command: 'make*' }, env, undefined, 'ask'],
    [{ command: 'make*' }, { timeout: 5 }, ['timeout'], 'allow'],
    [{ command: 'make*', env: '*' }, env, undefined, 'allow'],
  ])('for %j, beside %j, of which %j is declared: %s', (match, others, beside, action) => {
    expect(answered(match, others, beside)).toBe(action);
  });
});

describe('a grant for a command', () => {
  const answered = (match: Record<string, string>, command: string): string => {
    const grants = [{ grantId: 'g', tool: 'bash', approved: true, scope: { kind: 'arguments', match } }] as const;
    return evaluate({ run: compilePolicy(policy([]), 'run') }, bash(command), { grants }).action;
  };
  test.each<[string, string, 'allow' | 'ask']>([
    ['make*', 'make test', 'allow'],
    ['make*', 'make; rm -rf /', 'ask'],
    ['make*', 'make && rm -rf /', 'ask'],
    ['make*', 'make | sh', 'ask'],
    ['make*', 'make lib && make test', 'allow'],
    ['make*', 'make $(rm -rf /)', 'ask'],
    ['make*', 'make > /etc/passwd', 'ask'],
    ['make*', "make 'unclosed", 'ask'],
    ['*', 'make; rm -rf /', 'allow'],
    ['make; rm -rf /tmp/x', 'make; rm -rf /tmp/x', 'allow'],
    ['make > log', 'make > log', 'allow'],
    ['make > *', 'make > log', 'ask'],
  ])('%j answers %j: %s', (pattern, command, action) => {
    expect(answered({ command: pattern }, command)).toBe(action);
  });

  test('is answered by no grant without a glob on it', () => {
    const grants = [
      { grantId: 'g', tool: 'bash', approved: true, scope: { kind: 'arguments', match: { cwd: '/srv' } } },
    ] as const;
    const call = bash('make; make', { cwd: '/srv' });
    expect(evaluate({ run: compilePolicy(policy([]), 'run') }, call, { grants }).action).toBe('ask');
  });

  test('is only that of a shell subject', () => {
    const grants = [
      { grantId: 'g', tool: 'pay', approved: true, scope: { kind: 'arguments', match: { to: 'a*' } } },
    ] as const;
    const call = { tool: 'pay', args: { to: 'ann; bob' }, risk: 'write', subject: 'to' } as const;
    expect(evaluate({ run: compilePolicy(policy([]), 'run') }, call, { grants }).action).toBe('allow');
  });
});

test('explain says which arguments a rule leaves out', () => {
  const run = compilePolicy(policy([status, allow('bash')]), 'run');
  expect(explain({ run }, bash('git status', env)).matches.map(({ matched, why }) => [matched, why])).toEqual([
    [false, `it allows the command, not 'env' beside it`],
    [true, 'it matches'],
  ]);
  expect(explain({ run }, bash('git status')).matches[0]).toMatchObject({ matched: true, why: 'it matches' });
});

test('a rule that leaves out an argument and cannot be evaluated does not count, so an earlier allow does not either', () => {
  const rules = [allow('bash'), allow('bash:git *', { when: 'args.missing == 1' })];
  const run = compilePolicy(policy(rules), 'run');
  expect(evaluate({ run }, bash('git status')).action).toBe('allow');
  expect(evaluate({ run }, bash('git status', { env: {} }))).toMatchObject({
    action: 'ask',
    reason: "rule run#2 cannot be evaluated: 'missing' is missing",
  });
});

test('names that every object has are arguments like any other', () => {
  const args = JSON.parse('{"command":"ls","__proto__":{"x":1},"constructor":1}') as JsonObject;
  expect(undeclaredArguments({ args, subject: 'command', shell: splitShell('ls') })).toEqual([
    '__proto__',
    'constructor',
  ]);
});
