/** Rules that cannot work, or that match more than they say. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob, globMatches, globSubject } from '../../src/core/match/glob.ts';
import { globsOverlap } from '../../src/policy-file/globs-overlap.ts';
import { lintPolicy } from '../../src/policy-file/lint-policy.ts';
import { compilePolicy, evaluate } from '../../src/core/policy/ruling.ts';
import { splitShell } from '../../src/shell/split.ts';
import { runs } from '../support/thorough.ts';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';

const messages = (...rules: object[]): string[] => {
  const parsed = parsePolicy({ rules });
  if ('problems' in parsed) throw new Error(parsed.problems[0]!.message);
  const found = lintPolicy(parsed.policy).map(({ message }) => message);
  return found.filter((message) => !message.includes('which its args match'));
};
const allow = (pattern: string, args?: object) => ({ pattern, action: 'allow', ...(args && { args }) });
const deny = (pattern: string, args?: object) => ({ pattern, action: 'deny', ...(args && { args }) });

describe('a pattern that cannot match', () => {
  test.each<[object, string]>([
    [deny('Bash(rm:*)'), "is in the notation of another system, and no tool has a name with '(': write Bash:rm*"],
    [deny('Bash(*)'), 'write Bash'],
    [deny('run{a,b}'), "has '{' in the name of a tool"],
    [deny('bash:rm:*'), "ends in ':*', and a colon stands for itself: write rm*"],
    [deny('bash:git push:*'), 'write git push*'],
    [deny('bash:{rm,del} *'), 'has braces'],
    [deny('bash:rm\u00a0*'), 'has the character U+00A0'],
    [deny('bash:rm\u200b *'), 'has the character U+200B'],
    [deny('ba\u2060sh'), 'has the character U+2060'],
    [deny('bash:rм *'), 'has the character U+043C'],
    [deny('bаsh'), 'has the character U+0430'],
    [deny('send', { to: 'eve@pаypal.com' }), 'has the character U+0430'],
    [allow('bash:git  log*'), 'has two blanks in a row'],
    [allow('bash:cd * && npm test'), 'allows a chain of commands'],
    [allow('bash:ls; pwd'), 'allows a chain of commands'],
    [deny('pay', { 'user.email': 'x' }), "has 'user.email' in args"],
    [deny('pay', { 'to[0]': 'x' }), "has 'to[0]' in args"],
  ])('%j', (rule, message) => expect(messages(rule)).toEqual([expect.stringContaining(message) as string]));
});

/** Patterns that match no command, and those that do what they seem to. */
const dead: [pattern: string, what: string, meant: string[]][] = [
  ['bash: rm *', 'begins with a blank after the colon', ['bash:rm *']],
  ['bash :rm *', 'has a blank beside the colon', ['bash:rm *']],
  ['rm *', 'has a blank in the name of a tool', ['bash:rm *']],
  ['rm -rf /', 'has a blank in the name of a tool', ['bash:rm -rf /']],
  ['bash:^rm.*$', 'is written as a regular expression', ['bash:rm*']],
  ['bash:^rm ', 'is written as a regular expression', []],
  ['bash:/rm .*/', 'is written as a regular expression', ['bash:*rm *']],
  ['bash:/rm -rf/', 'is written as a regular expression', ['bash:*rm -rf*']],
  ['bash:/^rm .*$/i', 'is written as a regular expression', ['bash:rm *']],
  ['bash:rm\\s+.*', 'is written as a regular expression', ['bash:rm *']],
  ['bash:.*rm.*', 'is written as a regular expression', ['bash:*rm*']],
  ['bash:(rm|del) *', 'is written as a regular expression', ['bash:rm *', 'bash:del *']],
  ['/bash/', 'is written as a regular expression', ['bash']],
  ['^bash$', 'is written as a regular expression', ['bash']],
  ['.*', 'is written as a regular expression', ['*']],
  ['!bash', "begins with '!'", []],
  ['bash:"rm *"', 'has quotes around it', ['bash:rm *']],
  ["bash:'rm *'", 'has quotes around it', ['bash:rm *']],
  ['bash:{"command":"rm*"}', 'is the JSON of all arguments', []],
  ['bash:!rm *', "has '!' before 'rm *'", []],
  ['bash:rm *|del *', "has '|', which joins commands", ['bash:rm *', 'bash:del *']],
  ['bash:rm * | del *|ls x*', "has '|', which joins commands", ['bash:rm *', 'bash:del *', 'bash:ls x*']],
  ['bash:%rm%', "has '%' as in SQL", ['bash:*rm*']],
  ['bash:rm %', "has '%' as in SQL", ['bash:rm *']],
  ['bash:%/rm', "has '%' as in SQL", ['bash:*/rm']],
  ['bash::rm *', 'has two colons', ['bash:rm *']],
  ['bash:rm *;', "ends in ';'", ['bash:rm *']],
  ['run_command:rm * &&', "ends in '&&'", ['run_command:rm *']],
  ['bash:rm -rf / ,', "ends in ','", ['bash:rm -rf /']],
  ['bash:$ rm *', 'begins with the prompt', ['bash:rm *']],
  ['bash:(?!ls).*', 'is written as a regular expression', []],
  ['bash:(?i)rm.*', 'is written as a regular expression', []],
  [':rm *', 'has no name of a tool', []],
];

describe('a deny that never matches', () => {
  const shown = dead.filter(([pattern]) => pattern.trim() === pattern);
  test.each(shown)('%s: %s', (pattern, what, meant) => {
    const [message, ...others] = messages(deny(pattern));
    expect(others).toEqual([]);
    expect(message).toContain(what);
    if (meant.length > 0) expect(message).toContain(`write ${meant.join(' and ')}`);
    for (const each of meant) expect(messages(deny(each))).toEqual([]);
  });

  test.each<[string, string]>([
    ['bash:rm .*', "has '.*', in which the dot stands for itself, where * is any text: write bash:rm *"],
    ['bash:rm.*', 'write bash:rm*'],
    ['read:src/**/*.env', "has '**/', which needs a '/', and * alone matches any folders: write read:src/*.env"],
    ['read:**/.env*', 'write read:*.env*'],
  ])('%s matches hardly what was meant', (pattern, message) =>
    expect(messages(deny(pattern))).toEqual([expect.stringContaining(message)]),
  );

  test.each([
    [{ command: '!rm *' }, "has '!' before 'rm *', which stands for itself"],
    [{ command: 'rm *|mv *' }, "write args: { command: 'rm *' } and args: { command: 'mv *' }"],
    [{ command: 'rm *;' }, "write args: { command: 'rm *' }"],
    [{ to: '%@evil.example' }, "write args: { to: '*@evil.example' }"],
    [{ amount: '> 100' }, "has '> 100' in args, and a glob compares nothing: write when: 'args.amount > 100'"],
    [{ to: '^eve@.*' }, "write args: { to: 'eve@*' }"],
    [{ ' to': 'eve' }, "has ' to' in args, and a blank is part of the name: write to"],
    [{ tо: 'eve' }, 'has the character U+043E, which looks like another one'],
    [{ 'to\u200b': 'eve' }, 'has the character U+200B'],
  ])('args: %j', (args, message) => expect(messages(deny('send', args))).toEqual([expect.stringContaining(message)]));

  test('odd letters in a condition and in the name of an agent', () => {
    const odd = { pattern: 'a', when: 'has(args.to) && args.to == "pаypal"', action: 'deny' };
    expect(messages(odd)).toEqual([expect.stringContaining('has the character U+0430')]);
    const parsed = parsePolicy({ agents: { оps: { rules: [deny('a')] } } });
    expect('policy' in parsed && lintPolicy(parsed.policy)).toHaveLength(1);
  });

  const word = fc.constantFrom(
    'rm',
    '-rf',
    '/',
    'del',
    '$X',
    "'rm'",
    '"a b"',
    '^',
    'rm.',
    '.env',
    '{}',
    '!',
    'ls',
    '*',
  );
  const simple = fc
    .tuple(fc.constantFrom('rm', 'ls', 'del', 'rm -rf', 'sudo rm'), fc.array(word, { maxLength: 4 }))
    .map(([name, words]) => [name, ...words].join(' '));
  const command = fc
    .array(simple, { minLength: 1, maxLength: 3 })
    .chain((commands) => fc.constantFrom('; ', ' && ', ' | ', '\n').map((joint) => commands.join(joint)));
  const denies = (pattern: string, text: string): boolean => {
    const run = compilePolicy(
      { version: 1, mode: 'bypassPermissions', rules: [{ pattern, action: 'deny' }], riskDefaults: {}, approval: {} },
      'run',
    );
    const call = {
      tool: 'bash',
      args: { command: text },
      risk: 'write' as const,
      subject: 'command',
      shell: splitShell(text),
    };
    const { action, reason = '' } = evaluate({ run }, call);
    return action === 'deny' && !reason.includes('cannot be evaluated');
  };

  test('law: it denies none of many commands, and what was meant denies some', () => {
    const meant = new Set<string>();
    fc.assert(
      fc.property(command, fc.constantFrom(...shown), (text, [pattern, , repaired]) => {
        expect([pattern, text, denies(pattern, text)]).toEqual([pattern, text, false]);
        for (const each of repaired) if (denies(each, text)) meant.add(each);
      }),
      { numRuns: runs(2_000) },
    );
    expect(meant.size).toBeGreaterThan(5);
  });
});

describe('a pattern that allows more than it says', () => {
  test.each<[object, string]>([
    [allow('fetch:https://*.example.com/*'), 'allows any host'],
    [allow('fetch:https://example.com*'), 'allows any host'],
    [allow('fetch', { url: '*://example.com*' }), 'allows any host'],
    [
      allow('send', { to: '*@acme.com' }),
      "allows several addresses in one text, such as 'eve@evil.example,a@acme.com'",
    ],
    [allow('deploy:*"target":"staging"*'), 'matches a member of that name at any depth'],
    [allow('query:SELECT *'), 'allows a second statement'],
  ])('%j', (rule, message) => expect(messages(rule)).toEqual([expect.stringContaining(message) as string]));
});

test.each([
  allow('bash:git *'),
  allow('Größe_ändern'),
  allow('mcp__files__read/*'),
  deny('bash:*rm -rf*'),
  deny('fetch:*://169.254.169.254/*'),
  deny('deploy:*"target":"production"*'),
  deny('send', { to: '*@evil.example' }),
  allow('fetch:https://docs.example.com/*'),
  allow('fetch:https://*'),
  allow('docker:run:latest'),
  allow('bash:find . -exec ls {} +'),
  allow('write:C:*'),
  deny('bash:a && b'),
  { ...allow('get:[0-9]*') },
  deny('read:*/.*'),
  deny('read:/home/.*/'),
  deny('read:/.git/config'),
  deny('read:/My Documents/report'),
  deny('read:C:\\bin\\build\\*'),
  deny('write:C:\\src\\*'),
  deny('bash:echo $'),
  deny('bash:"a b" "c d"'),
  deny('bash:[^a]*'),
  deny('[!a]*'),
  deny('files.read'),
  deny('@scope/read'),
  deny('bash:curl *|*sh'),
  deny('bash:find . \\( -name a -o -name b \\)'),
  deny('deploy:*{"a":1}*'),
  deny('bash:curl *|sh'),
  deny('bash:curl * | sudo sh'),
  deny('bash:*curl*|*sh*'),
  deny('bash:cat *|/usr/bin/nc *'),
  deny('bash:*;*'),
  deny('bash:* &'),
  deny('bash:find . -exec rm {} ;'),
  deny('bash:python3.*'),
  deny('bash:date +%'),
  deny('bash:kill %1'),
  deny('bash:! *'),
  deny('bash:: *'),
  deny('query:DROP TABLE *;'),
  deny('grep:rm|mv'),
  deny('read:%2e%2e/'),
  deny('read:%APPDATA%/x'),
  deny('read:report.*'),
  deny('fetch:::1*'),
  deny('listen::8080'),
  deny('set', { note: '50%', op: 'a|b', css: 'x !important' }),
  deny('set', { amount: '-5', op: '>', note: 'a > b' }),
])('%j needs no word', (rule) => expect(messages(rule)).toEqual([]));

describe('rules that another makes useless', () => {
  test.each<[string, object[], string[]]>([
    [
      'an earlier allow',
      [allow('bash'), allow('bash:git *')],
      ['rule run#2 is not needed: rule run#1 matches all it matches, and comes before it'],
    ],
    [
      'an earlier allow, with an ask between',
      [allow('bash'), { pattern: 'bash:git push*', action: 'ask' }, allow('bash:git push origin*')],
      [],
    ],
    [
      'a deny that has calls in common',
      [deny('bash:*--force*'), allow('bash:git *')],
      ['rule run#2 allows some of what rule run#1 denies, because it comes later'],
    ],
    ['an exception', [deny('bash:git push*'), allow('bash:git push origin*')], []],
    ['nothing in common', [deny('bash:rm *'), allow('bash:git *')], []],
    ['a deny that comes later', [allow('bash:git *'), deny('bash:*--force*')], []],
  ])('%s', (_, rules, expected) => expect(messages(...rules)).toEqual(expected));
});

describe('globs that have a text in common', () => {
  test.each<[string, string, boolean]>([
    ['*--force*', 'git *', true],
    ['rm *', 'git *', false],
    ['*.env', '*.env.example', false],
    ['a?c', 'ab[a-c]', true],
    ['[!a]', 'a', false],
    ['*', '', true],
    ['a*b', 'b*a', false],
  ])('%s and %s: %s', (one, other, expected) => expect(globsOverlap(one, other)).toBe(expected));

  test('law: a text that matches both shows it', () => {
    const glob = fc
      .array(fc.constantFrom('a', 'b', '*', '?', '[ab]', '[!a]'), { minLength: 1, maxLength: 6 })
      .map((each) => each.join(''));
    const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 6 }).map((each) => each.join(''));
    const matches = (source: string, each: string): boolean => {
      const compiled = compileGlob(source);
      return !('problem' in compiled) && globMatches(compiled, globSubject(each)) === true;
    };
    fc.assert(
      fc.property(glob, glob, text, (one, other, each) => {
        if (matches(one, each) && matches(other, each))
          expect([one, other, globsOverlap(one, other)]).toEqual([one, other, true]);
        expect(globsOverlap(one, other)).toBe(globsOverlap(other, one));
      }),
      { numRuns: runs(2_000) },
    );
  });
});
