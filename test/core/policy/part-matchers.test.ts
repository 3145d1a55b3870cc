/** How rules count for the parts of a command, for splits that real commands rarely produce. */
import { describe, expect, test, vi } from 'vitest';
import { Minimatch } from '../../../src/core/match/minimatch.ts';
import type { Rule } from '../../../src/core/policy/policy.ts';
import { compilePolicy, evaluate, type RuledCall, type Ruling } from '../../../src/core/policy/ruling.ts';
import type { Mode } from '../../../src/core/policy/modes.ts';
import { notSplit, type ShellPart, type ShellSplit } from '../../../src/core/shell/parts.ts';
import { splitShell } from '../../../src/shell/split.ts';

const ruled = (rules: Rule[], call: Partial<RuledCall>, mode: Mode = 'default'): Ruling =>
  evaluate(
    { run: compilePolicy({ version: 1, mode, rules, riskDefaults: { write: 'allow' }, approval: {} }, 'run') },
    { tool: 'bash', args: {}, risk: 'write', subject: 'command', ...call },
  );
const bash = (command: string, shell: ShellSplit = splitShell(command)) => ({ args: { command }, shell });
const allow = (pattern: string, more: Partial<Rule> = {}): Rule => ({ pattern, action: 'allow', ...more });
const part = (text: string, more: Partial<ShellPart> = {}): ShellPart => ({ text, reduced: text, ...more });

const long = 'x'.repeat(240);

test.each<[string, Rule[], Partial<RuledCall>, 'allow' | 'ask' | 'deny']>([
  [
    'a glob on the subject sees each part',
    [allow('bash', { args: { command: 'git *' } })],
    bash('git log; git diff'),
    'allow',
  ],
  [
    'so that one part does not allow another',
    [allow('bash', { args: { command: 'git *' } })],
    bash('git log; make'),
    'ask',
  ],
  [
    'a glob on another argument sees that',
    [allow('bash', { args: { cwd: '/srv' } })],
    { ...bash('make'), args: { command: 'make', cwd: '/srv' } },
    'allow',
  ],
  [
    'a deny by such a glob',
    [allow('bash'), { pattern: 'bash', args: { command: 'rm *' }, action: 'deny' }],
    bash('ls; rm x'),
    'deny',
  ],
  [
    'a glob on another argument is no rule about the command',
    [allow('bash', { args: { cwd: '/srv' } })],
    { ...bash('ls > f'), args: { command: 'ls > f', cwd: '/srv' } },
    'allow',
  ],
  ['a glob on the subject is', [allow('bash', { args: { command: 'ls*' } })], bash('ls > f'), 'ask'],
  ['a glob that is none', [allow('bash', { args: { command: '[z-a]' } })], bash('sudo ls'), 'ask'],
  [
    'two wrappers, each written by another rule',
    [allow('bash:sudo ls*'), allow('bash:env ls*')],
    bash('sudo ls; env ls'),
    'ask',
  ],
  ['both wrappers written by one rule', [allow('bash:sudo env ls*')], bash('sudo env ls'), 'allow'],
  [
    'both wrappers, in a command that is not the first',
    [allow('bash:true*'), allow('bash:sudo env ls*'), allow('bash:true; sudo env ls')],
    bash('true; sudo env ls'),
    'allow',
  ],
  [
    'what allows a part does not allow its neighbour',
    [allow('bash:y*'), allow('bash:sudo z*'), allow('bash:x; y; sudo z')],
    bash('x; y; sudo z'),
    'ask',
  ],
  [
    'unless another rule does',
    [allow('bash:x'), allow('bash:y*'), allow('bash:sudo z*'), allow('bash:x; y; sudo z')],
    bash('x; y; sudo z'),
    'allow',
  ],
  [
    'what allows a neighbour of the wrapper does not allow what it runs',
    [
      allow('bash:true*'),
      allow('bash:true; echo sudo; sudo z'),
      allow('bash:sudo z*'),
      { pattern: 'bash:z*', action: 'ask' },
      allow('bash:echo sudo*'),
    ],
    bash('true; echo sudo; sudo z', {
      parts: [part('true'), part('echo sudo'), part('sudo z', { wrapper: 'sudo' }), part('z', { within: 2 })],
      uncertain: ['wrapper program'],
    }),
    'ask',
  ],
  [
    'where a file is written, no allow lifts the ask of a part',
    [allow('bash'), { pattern: 'bash:git *', action: 'ask' }, allow('bash:git push*')],
    bash('true; git push > f'),
    'ask',
  ],
  [
    'where none is, it does',
    [allow('bash'), { pattern: 'bash:git *', action: 'ask' }, allow('bash:git push*')],
    bash('true; git push'),
    'allow',
  ],
  [
    'nor does one that leaves out the wrapper',
    [allow('bash'), { pattern: 'bash:git *', action: 'ask' }, allow('bash:git push*')],
    bash('true; env git push'),
    'ask',
  ],
  ['no part at all', [allow('bash:*')], bash('', { parts: [], uncertain: [] }), 'ask'],
  ['no part at all, but a rule for every command', [allow('bash')], bash('', { parts: [], uncertain: [] }), 'allow'],
  ['nothing could be split', [allow('bash:*')], bash('"', { parts: [], uncertain: ['parse error'] }), 'ask'],
  [
    'a wrapper is not all that is uncertain',
    [allow('bash:sudo ls*')],
    bash('sudo ls', {
      parts: [part('sudo ls', { wrapper: 'sudo' }), part('ls', { within: 0 })],
      uncertain: ['wrapper program', 'substitution'],
    }),
    'ask',
  ],
  [
    'a wrapper of two words, however they are spaced',
    [allow('bash:find . -exec ls*')],
    bash('find . -exec ls', {
      parts: [part('find . -exec ls', { wrapper: 'find  -exec' }), part('ls', { within: 0, at: [13, 15] })],
      uncertain: ['wrapper program'],
    }),
    'allow',
  ],
  [
    'two words in one, of which only one of two globs spells both',
    [allow('bash:sudo ls a b', { args: { command: 'sudo ls *' } }), allow("bash:sudo ls 'a b'")],
    bash("sudo ls 'a b'"),
    'ask',
  ],
  [
    'in a command without parts, a deny sees the text',
    [allow('bash'), { pattern: 'bash:*rm *', action: 'deny' }],
    bash('# rm x'),
    'deny',
  ],
  [
    'beside a wrapper, no part is covered by a rule that leaves it out',
    [allow('bash:* ls'), allow('bash:true'), allow('bash:sudo ls; *')],
    bash('sudo ls; true'),
    'ask',
  ],
  [
    'but by one that names it',
    [allow('bash:sudo ls'), allow('bash:true'), allow('bash:sudo ls; *')],
    bash('sudo ls; true'),
    'allow',
  ],
])('%s', (_, rules, call, action) => {
  expect(ruled(rules, call).action).toBe(action);
});

test.each<[string, string, string]>([
  ['matches', `rm ${long}`, 'No'],
  ['does not match', 'rm', 'rule run#2 cannot be evaluated'],
])('a part is too long for a deny that %s it once it is reduced', (_, reduced, reason) => {
  const rules: Rule[] = [allow('bash'), { pattern: `bash:*${long}*`, action: 'deny', reason: 'No' }];
  const call = bash('rm', { parts: [part('a'.repeat(40_000), { reduced })], uncertain: [] });
  const ruling = ruled(rules, call);
  expect([ruling.action, ruling.reason?.split(':')[0]]).toEqual(['deny', reason]);
});

/** Without places, only a rule that spells a command covers what it runs. */
test.each<[string, Rule[], Partial<RuledCall>]>([
  [
    'a word after an unknown option',
    [allow('bash:sudo --odd ls*')],
    bash('sudo --odd ls', {
      parts: [part('sudo --odd ls', { wrapper: 'sudo', unknownOption: true }), part('ls', { within: 0 })],
      uncertain: ['wrapper program', 'unknown option'],
    }),
  ],
  [
    'a split that goes round in circles',
    [allow('bash:sudo ls*')],
    bash('sudo ls', {
      parts: [part('sudo ls', { wrapper: 'sudo', within: 1 }), part('ls', { within: 0 })],
      uncertain: ['wrapper program'],
    }),
  ],
  [
    'one that goes round, in which the rule names only one of the wrappers',
    [allow('bash'), { pattern: 'bash:sudo --odd ls', action: 'ask' }, allow('bash:sudo --odd ls')],
    bash('sudo env ls', {
      parts: [
        part('sudo --odd ls', { wrapper: 'sudo', unknownOption: true, within: 1 }),
        part('env ls', { wrapper: 'env', within: 0 }),
      ],
      uncertain: ['wrapper program'],
    }),
  ],
  [
    'a split that points nowhere',
    [allow('bash:sudo ls*')],
    bash('sudo ls; sudo ls', {
      parts: [part('sudo ls', { wrapper: 'sudo', within: 7 }), part('sudo ls', { wrapper: 'sudo' })],
      uncertain: ['wrapper program'],
    }),
  ],
])('in a split without places: %s', (_, rules, call) => {
  expect(ruled(rules, call).action).toBe('ask');
});

test('a command that is not a text cannot be matched by its parts', () => {
  const { action, reason } = ruled([allow('bash:*')], { shell: { parts: [part('ls')], uncertain: [] } });
  expect([action, reason]).toEqual(['ask', "rule run#1 cannot be evaluated: argument 'command' is missing"]);
});

describe('a command that could not be split completely', () => {
  const rules: Rule[] = [allow('bash'), { pattern: 'bash:rm *', action: 'deny' }];
  const asks: Rule[] = [allow('*'), { pattern: 'bash:rm *', action: 'ask' }];
  test.each<[string, Partial<RuledCall>]>([
    ['257 parts', bash(`${'true; '.repeat(256)}rm -rf /srv`)],
    ['a long comment before it', bash(`#${'x'.repeat(16_400)}\nrm -rf /srv`)],
    ['18 times eval', bash(`${'eval '.repeat(18)}rm -rf /srv`)],
    ['500 sub-shells', bash(`${'('.repeat(500)}rm -rf /srv${')'.repeat(500)}`)],
    ['17 words after an unknown option', bash(`sudo --odd ${'a '.repeat(16)}rm -rf /srv`)],
    ['a list in place of a text', { args: { command: ['rm', '-rf', '/srv'] }, shell: notSplit }],
    ['a map in place of a text', { args: { command: { run: 'rm -rf /srv' } }, shell: notSplit }],
    ['nobody split it', bash('rm', notSplit)],
    ['no argument at all', { args: {}, shell: notSplit }],
  ])('%s: a deny denies, and an ask asks, in any mode', (_, call) => {
    for (const mode of ['default', 'bypassPermissions', 'approve_all'] as const) {
      expect(ruled(rules, call, mode)).toMatchObject({ action: 'deny', rule: 'run#2' });
      expect(ruled(asks, call, mode)).toMatchObject({ action: 'ask', rule: 'run#2' });
      expect(ruled(rules.slice(1), call, mode).action).toBe('deny');
    }
  });

  const many = bash('true; '.repeat(300));
  test('the reason says which rule and why', () => {
    expect(ruled(rules, many).reason).toBe(
      "rule run#2 cannot be evaluated: argument 'command': the command could not be split completely (too long)",
    );
  });
  test.each<[string, Rule[], 'allow' | 'ask']>([
    ['a rule for another tool', [allow('bash'), { pattern: 'sh:rm *', action: 'deny' }], 'allow'],
    ['a rule for another argument', [allow('bash'), { pattern: 'bash', args: { cwd: '/x' }, action: 'deny' }], 'allow'],
    [
      'a rule whose condition does not hold',
      [allow('bash'), { pattern: 'bash:rm *', when: 'risk == "destructive"', action: 'deny' }],
      'allow',
    ],
    ['no rule with an args pattern', [allow('bash')], 'allow'],
    ['an allow with an args pattern', [allow('bash:true*')], 'ask'],
  ])('%s: %s', (_, each, action) => {
    expect(ruled(each, { ...many, args: { ...many.args, cwd: '/srv' } }).action).toBe(action);
  });
  test('256 parts are complete', () => {
    expect(ruled(rules, bash('true; '.repeat(256))).action).toBe('allow');
  });
});

test('a text is prepared once for all rules: a hundred long ones cost a hundredth of the naive price', () => {
  const long = Array.from({ length: 100 }, (_, index): Rule => ({
    pattern: `bash:${'x'.repeat(200)}${index}*`,
    action: 'deny',
  }));
  expect(ruled([...long, allow('bash:git *')], bash(`git ${'a'.repeat(100)}`)).action).toBe('allow');
});

// What a blank stands in is one word also where a rule spells the word, unless all its globs spell the text.
test.each<[string, Rule, 'allow' | 'ask']>([
  ['a pattern that spells it', allow('bash:ls a b'), 'allow'],
  ['a field that spells it', allow('bash', { args: { command: 'ls a b' } }), 'allow'],
  ['one glob that does, and one with a wildcard', allow('bash:ls a b', { args: { command: 'ls *' } }), 'ask'],
])("the word 'a b': %s", (_, rule, action) => {
  expect(ruled([rule], bash("ls 'a b'")).action).toBe(action);
});

test.each(['find * ls*', 'find . * ls*'])('%s names find, and not find -exec', (pattern) => {
  expect(ruled([allow(`bash:${pattern}`)], bash('find . -exec ls {} +')).action).toBe('ask');
});

test('a condition is evaluated once for all parts: otherwise each part would use the whole budget', () => {
  const when = `[${Array.from({ length: 40 }, (_, index) => index).join(', ')}].all(a, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(b, a + b >= 0))`;
  const command = Array.from({ length: 60 }, () => 'ls').join('; ');
  expect(ruled([allow('bash:ls', { when })], bash(command))).toMatchObject({ action: 'allow', rule: 'run#1' });
});

test('a long text is matched once for each rule, however many parts the command has', () => {
  const command = `${Array.from({ length: 256 }, () => 'a').join(';')} #${'a'.repeat(10_000)}`;
  const rules = Array.from({ length: 20 }, (): Rule => ({ pattern: 'bash:*a?*[b-z]*', action: 'deny' }));
  const match = vi.spyOn(Minimatch.prototype, 'match');
  ruled(rules, bash(command));
  expect(match.mock.calls.filter(([text]) => text.length > 1_000)).toHaveLength(rules.length);
});

test('what rulings cost adds up', () => {
  const { shell, args } = bash('a;b');
  const call = { tool: 'bash', risk: 'write' as const, subject: 'command', args, shell };
  const rules: Rule[] = [{ pattern: 'bash:?*', when: 'args.command != ""', action: 'deny' }];
  const layers = { run: compilePolicy({ version: 1, rules, riskDefaults: {}, approval: {} }, 'run') };
  const meter = { work: 0 };
  evaluate(layers, call, {}, meter);
  const once = meter.work;
  evaluate(layers, call, {}, meter);
  expect([once > 0, meter.work]).toEqual([true, 2 * once]);
});

test('a pattern that no text comes near costs a ruling nothing, however long the text is', () => {
  const rules = Array.from({ length: 50 }, (_, index): Rule => ({ pattern: `bash:git?${index}*`, action: 'deny' }));
  const layers = { run: compilePolicy({ version: 1, rules, riskDefaults: {}, approval: {} }, 'run') };
  const [short, long] = ['x', 'x'.repeat(10_000)].map((command) => {
    const meter = { work: 0 };
    evaluate(layers, { tool: 'bash', risk: 'write', subject: 'command', ...bash(command) }, {}, meter);
    return meter.work;
  });
  expect(long).toBe(short);
});
