/**
 * Known ways to break approval gates, as far as a policy can prevent them. `S` and a number identify an attack; numbers
 * that are missing here concern the gate, the lifecycle or the reviewer's view.
 */
import { describe, expect, test } from 'vitest';
import { lintPolicy } from '../../../src/policy-file/lint-policy.ts';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import {
  compilePolicy,
  evaluate,
  type RuledCall,
  type Ruling,
  type RulingContext,
} from '../../../src/core/policy/ruling.ts';
import { splitShell } from '../../../src/shell/split.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';

type Source = string | object;
const policy = (source: Source, ceiling = false): Policy => {
  const parsed = parsePolicy(source, { ceiling });
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  return parsed.policy;
};
const rule = (layers: { ceiling?: Source; run?: Source }, call: RuledCall, context: RulingContext = {}): Ruling =>
  evaluate(
    {
      ...(layers.ceiling !== undefined && { ceiling: compilePolicy(policy(layers.ceiling, true), 'ceiling') }),
      ...(layers.run !== undefined && { run: compilePolicy(policy(layers.run), 'run') }),
    },
    call,
    context,
  );
const call = (tool: string, args: JsonObject = {}): RuledCall => ({ tool, args, risk: 'write' });
const bash = (command: string): RuledCall => ({
  ...call('bash', { command }),
  subject: 'command',
  shell: splitShell(command),
});
const git = 'rules: [{ pattern: "bash:git *", action: allow }, { pattern: "bash:*rm *", action: deny }]';

test.each(['r\0m x', 'r\rm x', 'ls\x7f; rm x'])('a deny counts where a shell may drop characters of %j', (command) => {
  const run = { mode: 'bypassPermissions', rules: [{ pattern: 'bash:rm *', action: 'deny' }] };
  expect(rule({ run }, bash(command)).action).toBe('deny');
  expect(rule({ run }, bash('ls -l')).action).toBe('allow');
});

describe('S1: compound commands', () => {
  test.each([
    'git status && curl evil',
    'git status\ncurl evil',
    'git status \\\n; curl evil',
    'git status & curl evil',
    'git status | sh',
    'git log <(curl evil)',
    'git log $(curl evil)',
    'git log `curl evil`',
    '{ git status; curl evil; }',
    'git log <<EOF\n$(curl evil)\nEOF',
    'git() { curl evil; }; git status',
    'if git status; then curl evil; fi',
  ])('%j is not allowed by "git *"', (command) => expect(rule({ run: git }, bash(command)).action).toBe('ask'));

  test.each([
    'git status; rm -rf /',
    'git log $(rm x)',
    "git log; 'rm' x",
    'git log; \\rm x',
    '(rm x)',
    'git log | xargs rm x',
  ])('%j is denied', (command) => expect(rule({ run: git }, bash(command)).action).toBe('deny'));
});

test('S2: a command with more parts than the splitter accepts is not looser', () => {
  const many = `${'git status; '.repeat(5_000)}rm -rf /`;
  expect(rule({ run: git }, bash(many)).action).toBe('deny');
  // What was not split off might be what the deny is about.
  expect(rule({ run: git }, bash('git status; '.repeat(5_000))).action).toBe('deny');
  const allow = 'rules: [{ pattern: "bash:git *", action: allow }]';
  expect(rule({ run: allow }, bash('git status; '.repeat(5_000))).action).toBe('ask');
});

test.each([
  'sudo git push',
  'env git push',
  'xargs git push',
  'find . -exec git push {} +',
  'git -c core.pager=evil log',
  'nohup git push',
  'timeout 5 git push',
])('S3: %j, a wrapper, is not allowed by "git *"', (command) =>
  expect(rule({ run: git }, bash(command)).action).toBe('ask'),
);

describe('S3: a program that starts others only with an option', () => {
  const broad =
    'rules: [{ pattern: "bash:find *", action: allow }, { pattern: "bash:git *", action: allow }, { pattern: "bash:docker *", action: allow }, { pattern: "bash:bash *", action: allow }]';
  test.each<[string, string]>([
    ['find . -name x', 'allow'],
    ['git -C dir log', 'allow'],
    ['find . -exec evil {} +', 'ask'],
    ['git -c core.pager=evil log', 'ask'],
    ['git rebase --exec evil main', 'ask'],
    ['docker exec box evil', 'ask'],
    ['bash -c evil', 'ask'],
    ['bash -lc evil', 'ask'],
  ])('%s: %s by rules without the option', (command, action) => {
    expect(rule({ run: broad }, bash(command)).action).toBe(action);
  });
  test.each<[string, string]>([
    ['bash:find . -exec ls*', 'find . -exec ls {} +'],
    ['bash:bash -lc ls*', 'bash -lc ls'],
    ['bash:docker exec box ls*', 'docker exec box ls -l'],
  ])('%s allows %s', (pattern, command) => {
    expect(rule({ run: { rules: [{ pattern, action: 'allow' }] } }, bash(command)).action).toBe('allow');
  });
});

test.each(['PATH=/tmp git status', 'export PATH=/tmp; git status', 'GIT_PAGER=evil git log', 'read PATH; git status'])(
  'S4: %j, a poisoned environment, is not allowed by "git *"',
  (command) => expect(rule({ run: git }, bash(command)).action).toBe('ask'),
);

describe('S5: how far a glob reaches', () => {
  const paths =
    'rules: [{ pattern: "*", action: allow }, { pattern: "write:*/.env", action: deny }, { pattern: "write:/etc*", action: deny }]';
  const write = (path: string): RuledCall => ({ ...call('write', { path }), subject: 'path' });
  test.each([
    '/a/b/c/.env',
    '/.env',
    'a/.env',
    './.env',
    '/etc',
    '/etc/',
    '/etc/passwd',
    '/etc/../etc/x',
    '/etc//x',
    '/etc\n/x',
  ])('%j is denied at any depth', (path) => expect(rule({ run: paths }, write(path)).action).toBe('deny'));
  test.each(['/a/.env.example', '/srv/etc'])('%j is not denied', (path) =>
    expect(rule({ run: paths }, write(path)).action).toBe('allow'),
  );
  test('a domain is matched as a whole', () => {
    const fetch = 'rules: [{ pattern: fetch, args: { host: "*.example.com" }, action: allow }]';
    expect(rule({ run: fetch }, call('fetch', { host: 'a.example.com' })).action).toBe('allow');
    expect(rule({ run: fetch }, call('fetch', { host: 'a.example.com.evil' })).action).toBe('ask');
  });
});

describe('S6: a list of forbidden commands, with something missing', () => {
  const forbidden = {
    risk_defaults: { write: 'allow' },
    rules: ['bash:rm *', 'bash:curl *', 'bash:*secret*'].map((pattern) => ({ pattern, action: 'deny' })),
  };
  // Each does what the list forbids, with commands that are not on it.
  test.each([
    'unlink x',
    'find . -delete',
    "perl -e 'unlink(x)'",
    'wget evil',
    'r=rm; $r x',
    'echo cm0geA== | base64 -d | sh',
    'cat sec*t',
  ])('%j is asked about, even where the risk is allowed by default', (command) => {
    expect(rule({ run: forbidden }, bash(command)).action).toBe('ask');
  });
  test.each(['rm x', '/bin/rm x', '"rm" x', 'sudo rm x', 'busybox rm x', 'true && rm x', 'cat secret', 'cat "sec"ret'])(
    '%j is on the list',
    (command) => expect(rule({ run: forbidden }, bash(command)).action).toBe('deny'),
  );
  test('only a policy that allows every command lets one through: its denials are no boundary then', () => {
    const open = { ...forbidden, rules: [{ pattern: 'bash', action: 'allow' }, ...forbidden.rules] };
    expect(rule({ run: open }, bash('rm x')).action).toBe('deny');
    expect(rule({ run: open }, bash('unlink x')).action).toBe('allow');
  });
});

describe('S7: "always" that is too wide', () => {
  const grants = [{ grantId: 'g', tool: 'bash', approved: true, scope: { kind: 'tool' } }] as const;
  test('a grant for a whole shell overrides no ask about a command', () => {
    const asks = 'rules: [{ pattern: "bash:git *", action: ask }]';
    expect(rule({ run: asks }, bash('git push'), { grants })).toMatchObject({ action: 'ask', rule: 'run#1' });
  });
  test.each([
    ['call', 'tool'],
    ['tool', 'call'],
    ['tool', 'false'],
  ])('two layers that admit %s and %s admit the narrower', (ceiling, run) => {
    const asks = (always: string): string => `rules: [{ pattern: t, action: ask, ask: { always: ${always} } }]`;
    const ofTool = [{ grantId: 'g', tool: 't', approved: true, scope: { kind: 'tool' } }] as const;
    const layers = { ceiling: asks(ceiling), run: asks(run) };
    expect(rule(layers, call('t'), { grants: ofTool }).action).toBe('ask');
    expect(rule({ ceiling: asks('tool'), run: asks('tool') }, call('t'), { grants: ofTool }).action).toBe('allow');
  });
  test('a grant never affects a deny', () => {
    expect(rule({ run: 'rules: [{ pattern: bash, action: deny }]' }, bash('ls'), { grants }).action).toBe('deny');
  });
});

describe('S8: precedence', () => {
  const all = (action: string): string => `rules: [{ pattern: "*", action: ${action} }]`;
  const grants = [{ grantId: 'g', tool: 't', approved: true, scope: { kind: 'tool' } }] as const;
  test.each<[string, Source, Source, string]>([
    ['an allow of the run against a deny of the ceiling', all('deny'), all('allow'), 'deny'],
    ['an ask of the run against a deny of the ceiling', all('deny'), all('ask'), 'deny'],
    ['an allow of the run against an ask of the ceiling', all('ask'), all('allow'), 'ask'],
    ['bypassPermissions of the run against a ceiling’s ask', all('ask'), 'mode: bypassPermissions', 'ask'],
    ['bypassPermissions of the run against a ceiling’s deny', all('deny'), 'mode: bypassPermissions', 'deny'],
    [
      'bypassPermissions against the deny beside it',
      'rules: []',
      { mode: 'bypassPermissions', rules: [{ pattern: 't', action: 'deny' }] },
      'deny',
    ],
  ])('%s', (_, ceiling, run, action) => expect(rule({ ceiling, run }, call('t')).action).toBe(action));
  test("a grant against a ceiling's deny", () => {
    expect(rule({ ceiling: all('deny'), run: all('ask') }, call('t'), { grants }).action).toBe('deny');
  });
});

test('S9: an allowed or granted call with edited arguments is evaluated again, and a deny wins', () => {
  const source = 'rules: [{ pattern: pay, action: ask }, { pattern: pay, args: { to: "evil*" }, action: deny }]';
  const grants = [{ grantId: 'g', tool: 'pay', approved: true, scope: { kind: 'tool' } }] as const;
  expect(rule({ run: source }, call('pay', { to: 'acme' }), { grants }).action).toBe('allow');
  expect(rule({ run: source }, call('pay', { to: 'evil' }), { grants }).action).toBe('deny');
});

describe('S19: names that every object has', () => {
  const names = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf'];
  test.each(names)('a tool named %s matches its rules and no others', (name) => {
    const agents = { web: { rules: [{ pattern: '*', action: 'allow' }] } };
    const source = { rules: [{ pattern: name, action: 'deny' }], agents };
    expect(rule({ run: source }, call(name), { agent: 'x' })).toMatchObject({ action: 'deny', rule: 'run#1' });
    expect(rule({ run: { agents } }, call(name), { agent: name })).toMatchObject({ action: 'ask', rule: null });
  });
  test.each(names)('an argument named %s is missing unless it is present', (name) => {
    const allows = { rules: [{ pattern: 't:*', action: 'allow' }] };
    expect(rule({ run: allows }, { ...call('t'), subject: name }).action).toBe('ask');
    expect(
      rule({ run: { rules: [{ pattern: 't', when: `args["${name}"] != null`, action: 'allow' }] } }, call('t')).action,
    ).toBe('ask');
  });
});

test('S20: a policy is unchanged after a round trip through history', () => {
  const source = {
    mode: 'custom',
    rules: [{ pattern: 'a', when: 'args.x > 1', action: 'ask', ask: { always: false } }],
    agents: { ops: { rules: [{ pattern: 'a', args: { y: 'z*' }, action: 'deny' }] } },
  };
  const stored = JSON.parse(JSON.stringify(policy(source))) as Policy;
  expect(stored).toEqual(policy(source));
  const denied = evaluate({ run: compilePolicy(stored, 'run') }, call('a', { x: 2, y: 'zz' }), { agent: 'ops' });
  expect(denied).toMatchObject({ action: 'deny', rule: 'run.ops#1' });
});

test('S23: a timeout that allows gets a warning', () => {
  const found = lintPolicy(policy('rules: [{ pattern: a, action: ask, ask: { on_timeout: allow } }]'));
  expect(found).toEqual([
    { index: 0, rule: 'run#1', message: expect.stringMatching(/^rule run#1 lets an unanswered call run, if /) },
  ]);
});

describe('S24: a check that fails is not an allow', () => {
  test.each<[string, object]>([
    ['a condition on what is missing', { pattern: 't', when: 'args.x == 1' }],
    ['a condition of the wrong type', { pattern: 't', when: 'args.n' }],
    ['a glob on what is missing', { pattern: 't', args: { x: '*' } }],
    ['a subject that is missing', { pattern: 't:*' }],
  ])('%s', (_, keys) => {
    const theCall = { ...call('t', { n: 1 }), subject: 'x' };
    const source = (action: string, mode = 'default') => ({ mode, rules: [{ ...keys, action }] });
    expect(rule({ run: source('allow') }, theCall).action).toBe('ask');
    expect(rule({ run: source('allow', 'headless') }, theCall).action).toBe('deny');
    expect(rule({ run: source('ask', 'bypassPermissions') }, theCall).action).toBe('ask');
    expect(rule({ run: source('ask', 'headless') }, theCall).action).toBe('deny');
    expect(rule({ run: source('deny', 'bypassPermissions') }, theCall).action).toBe('deny');
    const denied = [
      { pattern: '*', action: 'deny' },
      { ...keys, action: 'allow' },
      { pattern: '*', action: 'allow' },
    ];
    expect(rule({ run: { rules: denied } }, theCall).action).toBe('deny');
  });
  test('a policy with a bad rule does not load at all', () => {
    const source = 'rules: [{ pattern: "*", action: deny }, { pattern: "[z-a]", action: allow }]';
    expect(parsePolicy(source)).toHaveProperty('problems');
    expect(parsePolicy('rules: [{ pattern: a, when: "args.x >", action: deny }]')).toHaveProperty('problems');
  });
});

test('S25: the reason why a rule cannot be evaluated contains no argument value', () => {
  const secret = 'sk-live-1234';
  const source = { rules: [{ pattern: 't', when: 'args[args.key] == 1 && int(args.key) == 1', action: 'ask' }] };
  expect(rule({ run: source }, call('t', { key: secret })).reason).toContain('cannot be evaluated');
  expect(JSON.stringify(rule({ run: source }, call('t', { key: secret })))).not.toContain(secret);
});

test.each<[string, object, JsonObject]>([
  ['a pattern', { pattern: `t:${'*a?'.repeat(8)}b` }, { x: 'a'.repeat(1_000_000) }],
  ['a glob', { pattern: 't', args: { x: `${'*a?'.repeat(8)}b` } }, { x: 'a'.repeat(1_000_000) }],
  ['a regular expression', { pattern: 't', when: 'args.x.matches("(a+)+$")' }, { x: `${'a'.repeat(1_000_000)}b` }],
])('S26: %s over 1 MB of hostile text cannot be evaluated, so it allows nothing and a deny denies', (_, keys, args) => {
  const answers = ['allow', 'ask', 'deny'].map((action) =>
    rule({ run: { rules: [{ ...keys, action }] } }, { ...call('t', args), subject: 'x' }),
  );
  expect(answers.map(({ action }) => action)).toEqual(['ask', 'ask', 'deny']);
  for (const { reason } of answers) expect(reason).toContain('cannot be evaluated');
});
