/** Rules that cannot work, or that match more than they say. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob, globMatches, globSubject } from '../../src/core/match/glob.ts';
import { globsOverlap } from '../../src/policy-file/globs-overlap.ts';
import { lintPolicy } from '../../src/policy-file/lint-policy.ts';
import { runs } from '../support/thorough.ts';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';

const messages = (...rules: object[]): string[] => {
  const parsed = parsePolicy({ rules });
  if ('problems' in parsed) throw new Error(parsed.problems[0]!.message);
  return lintPolicy(parsed.policy).map(({ message }) => message);
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
      { numRuns: runs(1_000) },
    );
  });
});
