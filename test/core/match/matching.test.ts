import { describe, expect, test } from 'vitest';
import { compileGlob, globSubject, maxMatchWork, type Glob } from '../../../src/core/match/glob.ts';
import {
  affordable,
  boundedSubjects,
  callSubjects,
  compileFieldGlob,
  compilePattern,
  matches,
  maxRulingWork,
  partSubjects,
} from '../../../src/core/match/matching.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';

const match = (pattern: string, call: { tool: string; args?: JsonObject; subject?: string }): boolean | string => {
  const compiled = compilePattern(pattern);
  const answer = 'problem' in compiled ? compiled : matches(compiled, callSubjects({ args: {}, ...call }));
  return typeof answer === 'boolean' ? answer : answer.problem;
};

describe('a pattern without a colon matches only the name', () => {
  test.each<[string, string, boolean]>([
    ['*', 'anything', true],
    ['search_*', 'search_web', true],
    ['search_*', 'search_', true],
    ['search_*', 'research_x', false],
    ['search', 'search_web', false],
    ['search', 'Search', false],
    ['get_?', 'get_a', true],
    ['get_[ab]', 'get_c', false],
    ['*', '', true],
    ['*', 'constructor', true],
  ])('%s against %s: %s', (pattern, tool, expected) => expect(match(pattern, { tool })).toBe(expected));
});

describe('name:args matches the subject, else all arguments', () => {
  const args = { command: 'git push origin main', force: true, count: 3, tags: ['b', 'a'], empty: '' };
  test.each<[string, string, string | undefined, boolean]>([
    ['bash:git *', 'bash', 'command', true],
    ['bash:git push * main', 'bash', 'command', true],
    ['bash:git', 'bash', 'command', false],
    ['shell:git *', 'bash', 'command', false],
    ['b*:git *', 'bash', 'command', true],
    ['bash:', 'bash', 'empty', true],
    ['bash:*', 'bash', 'empty', true],
    ['bash:true', 'bash', 'force', true],
    ['bash:3', 'bash', 'count', true],
    ['bash:?"b","a"]', 'bash', 'tags', true],
    ['bash:a', 'bash', 'tags', true],
    ['bash:c', 'bash', 'tags', false],
    ['bash:{"command":"git*"count":3*}', 'bash', undefined, true],
    ['bash:*"force":true*', 'bash', undefined, true],
    ['bash:*"force": true*', 'bash', undefined, false],
  ])('%s against %s, subject %s: %s', (pattern, tool, subject, expected) => {
    expect(match(pattern, { tool, args, ...(subject !== undefined && { subject }) })).toBe(expected);
  });

  test('the pattern splits at its first colon', () => {
    expect(match('fetch:https://*', { tool: 'fetch', args: { url: 'https://a.example/x' }, subject: 'url' })).toBe(
      true,
    );
    expect(match('a:b', { tool: 'a:b', args: { x: 'b' }, subject: 'x' })).toBe(false);
  });

  test('without a subject the keys are in canonical order', () => {
    expect(match('t:{"a":1,"b":2}', { tool: 't', args: { b: 2, a: 1 } })).toBe(true);
  });
});

describe('what cannot be matched is a problem', () => {
  test.each<[string, string, { args: JsonObject; subject?: string }, string]>([
    ['the subject is missing', 't:*', { args: {}, subject: 'path' }, `argument 'path' is missing`],
    ['the subject is inherited', 't:*', { args: {}, subject: 'constructor' }, `argument 'constructor' is missing`],
    ['half a surrogate pair in all arguments', 't:*', { args: { a: '\ud83d' } }, 'surrogate'],
    ['half a surrogate pair in a list', 't:*', { args: { a: ['\ud83d'] }, subject: 'a' }, 'surrogate'],
    ['U+FDD0 in the subject', 't:*', { args: { a: '\ufdd0' }, subject: 'a' }, 'U+FDD0'],
    [
      'a subject too long for the pattern',
      't:*needle*',
      { args: { a: 'x'.repeat(1_000_001) }, subject: 'a' },
      'too long',
    ],
  ])('%s', (_, pattern, call, word) => expect(match(pattern, { tool: 't', ...call })).toContain(word));

  test('but only if the name matches and the arguments are needed', () => {
    expect(match('u:*', { tool: 't', args: {}, subject: 'path' })).toBe(false);
    expect(match('t', { tool: 't', args: {}, subject: 'path' })).toBe(true);
  });

  test('half a surrogate pair in a text subject is matched unchanged', () => {
    expect(match('t:*', { tool: 't', args: { a: 'x\ud83d' }, subject: 'a' })).toBe(true);
    expect(match('t:x?', { tool: 't', args: { a: 'x\ud83d' }, subject: 'a' })).toBe(true);
  });

  test('all matches of one ruling share a budget', () => {
    const compiled = compilePattern('t:*aaaaaa*');
    if ('problem' in compiled) throw new Error(compiled.problem);
    const subjects = callSubjects({ tool: 't', args: { a: 'b'.repeat(1_000_000) }, subject: 'a' });
    const answers = Array.from({ length: maxRulingWork / 8_000_000 + 1 }, () => matches(compiled, subjects));
    expect(answers.at(0)).toBe(false);
    expect(answers.at(-1)).toEqual({ problem: 'the arguments are too long for so many rules' });
  });
});

describe('refused when the policy loads', () => {
  test.each<[string, string]>([
    ['', 'is empty: write * to match every tool'],
    ['  ', 'is empty: write * to match every tool'],
    [' a', 'begins or ends with a blank'],
    ['a\n', 'begins or ends with a blank'],
    ['\u00a0a', 'begins or ends with a blank'],
    ['a'.repeat(257), 'at most 256'],
    ['*'.repeat(17), 'at most 16'],
    ['*'.repeat(9) + ':' + '[a]?'.repeat(4), 'at most 16'],
    ['[z-a]', 'reversed range [z-a]'],
    ['a:[9-0]', 'reversed range [9-0]'],
    ['a:\ufdd0', 'U+FDD0'],
    ['a:\ud83d', 'half a surrogate pair'],
    ['[[:alpha:]]', '[:alpha:]'],
    ['a:x[_[:digit:]]', '[:digit:]'],
  ])('%j', (pattern, word) => expect(compilePattern(pattern)).toEqual({ problem: expect.stringContaining(word) }));

  test.each(['a'.repeat(256), '*'.repeat(16), '*'.repeat(8) + ':' + '*'.repeat(8), 'a: b', '[', 'a:', ':a'])(
    'allowed: %s',
    (pattern) => {
      expect(compilePattern(pattern)).not.toHaveProperty('problem');
    },
  );
});

// A face is two units and one character.
test.each([
  [1_024, 1_024],
  [1_025, 2_050],
])('a pattern of %i faces is too long; beyond 2,048 units they are not counted as characters: %i', (faces, counted) => {
  const problem = `has ${counted} characters; at most 256 are allowed`;
  expect(compilePattern('😀'.repeat(faces))).toEqual({ problem });
});

test.each<[string, string]>([
  ['', 'is empty: write * to match any value'],
  [' a', 'begins or ends with a blank'],
  ['[z-a]', 'holds the reversed range [z-a]'],
  ['*?'.repeat(8) + '*', 'has 17 wildcards; at most 16 are allowed'],
])('the glob %j of one argument is refused: %s', (source, problem) => {
  expect(compileFieldGlob(source)).toEqual({ problem });
});

test('the glob of one argument may have sixteen wildcards', () => {
  expect(compileFieldGlob('*?'.repeat(8))).toMatchObject({ wildcards: 16 });
});

test('a pattern without a colon does not depend on arguments', () => {
  expect(Object.keys(compilePattern('a'))).toEqual(['name']);
  expect(Object.keys(compilePattern('a:'))).toEqual(['name', 'args']);
});

test('a ruling can afford exactly its budget', () => {
  const { afford } = callSubjects({ tool: 't', args: {} });
  expect([afford(maxRulingWork), afford(1)]).toEqual([true, false]);
});

test('what a match costs is added to the meter', () => {
  const meter = { work: 5 };
  const subjects = callSubjects({ tool: 't', args: {} }, meter);
  const glob = compileGlob('a?c*') as Glob;
  for (let count = 0; count < 2; count += 1) expect(affordable(glob, globSubject('abcde'), subjects)).toBe(true);
  expect(meter.work).toBe(5 + 2 * 4 * 5);
});

test('a match that alone exceeds the budget is refused, and takes nothing from the others', () => {
  const subjects = callSubjects({ tool: 't', args: {} });
  const [glob, length] = [compileGlob(`*${'a'.repeat(250)}*`) as Glob, maxMatchWork / 250];
  const tooMuch = affordable(glob, globSubject('b'.repeat(length)), subjects);
  expect(tooMuch).toEqual({ problem: `a text of ${length} characters is too long for a pattern of 252` });
  expect(subjects.afford(maxRulingWork)).toBe(true);
  expect(affordable(glob, globSubject('b'.repeat(length)), subjects)).toEqual(tooMuch);
});

test.each([
  [32, undefined],
  [33, 'the arguments are too long for so many rules'],
])('matching the text of all arguments costs its length for each pattern: %d characters', (length, problem) => {
  const subjects = callSubjects({ tool: 't', args: { a: 'b'.repeat(length) }, subject: 'a' });
  const text = boundedSubjects(subjects, maxRulingWork / 32).args();
  expect('problem' in text ? text.problem : undefined).toBe(problem);
});

test('an argument is prepared once', () => {
  const { field } = callSubjects({ tool: 't', args: { a: { b: 1 } } });
  expect(field('a')).toBe(field('a'));
  expect(field('missing')).toBe(field('missing'));
});

test('a part of a command replaces the subject, and no other argument', () => {
  const whole = callSubjects({ tool: 't', args: { command: 'a; b', other: 'x' }, subject: 'command' });
  const part = partSubjects(whole, 'command', 'b');
  const { name, field } = callSubjects({ tool: 't', args: { b: 'b' } });
  expect([part.args(), part.field('command')]).toEqual([field('b'), field('b')]);
  expect(part.field('other')).toBe(whole.field('other'));
  expect(part.name).toEqual(name);
});
