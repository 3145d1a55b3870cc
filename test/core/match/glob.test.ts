import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { compileGlob, globMatches, globSubject, maxMatchWork } from '../../../src/core/match/glob.ts';
import { maxCombiningMarks } from '../../../src/core/base/text.ts';

const match = (glob: string, text: string): boolean | string => {
  const compiled = compileGlob(glob);
  const answer = 'problem' in compiled ? compiled : globMatches(compiled, globSubject(text));
  return typeof answer === 'boolean' ? answer : answer.problem;
};

describe('a star matches any sequence of characters', () => {
  const texts = [
    '',
    '.',
    '..',
    '.env',
    'a',
    '/',
    '//',
    '/etc/',
    './a',
    '../a',
    'a/b/c',
    'a\nb',
    '\u2028',
    '\0',
    '\ud83d',
    '😀',
    '#',
    '!',
    '\\',
  ];
  test.each(texts.map((text) => [JSON.stringify(text), text]))('%s', (_, text) => {
    expect(match('*', text)).toBe(true);
    expect(match('**', text)).toBe(true);
    expect(match('*/*', text)).toBe(text.includes('/'));
  });
});

describe('every other character matches itself', () => {
  const same = [
    'a{b,c}',
    '{1..3}',
    'a\\b',
    '\\',
    '\\n',
    '!a',
    '#a',
    '(a|b)',
    '+(a)',
    '@(a)',
    '!(a)',
    'a]',
    '[',
    '[a',
    'a[]',
    '[!]',
    '[]b',
    '$x',
    '^',
    '.',
    '..',
    '/',
    'a//b',
    '.*'.slice(0, 1),
    "it's",
    'é',
    '中',
  ];
  test.each(same)('%s', (text) => expect(match(text, text)).toBe(true));

  test.each<[string, string]>([
    ['a{b,c}', 'ab'],
    ['{1..3}', '2'],
    ['a\\b', 'ab'],
    ['a\\b', 'a/b'],
    ['!a', 'b'],
    ['+(a)', 'aa'],
    ['A', 'a'],
    ['a', 'a/'],
    ['a', 'a\n'],
    ['a/', 'a'],
    ['a//b', 'a/b'],
    ['a/../b', 'b'],
    ['./a', 'a'],
    ['a?', 'a'],
    ['\\*', 'xy'],
  ])('%s does not match %s', (glob, text) => expect(match(glob, text)).toBe(false));
});

test.each<[string, string, boolean]>([
  ['rm *', 'rm -rf /etc/passwd', true],
  ['rm *', 'rm -rf /', true],
  ['rm *', 'rm', false],
  ['*@acme.com', 'ann@acme.com', true],
  ['*@acme.com', 'ann@acme.com.evil', false],
  ['a?c', 'abc', true],
  ['a?c', 'a/c', true],
  ['a?c', 'a😀c', true],
  ['a??c', 'a😀c', false],
  ['[abc]', 'b', true],
  ['[a-c]x', 'bx', true],
  ['[a-c]x', 'dx', false],
  ['[!a-c]', 'd', true],
  ['[^a-c]', 'b', false],
  ['[!a]', '/', true],
  ['[/]', '/', true],
  ['[!/]', '/', false],
  ['[.-0]', '/', true],
  ['[!.-0]', '/', false],
  ['[\ufdcf-\ufdd1]', '/', false],
  ['[\ufdcf-\ufdd1]', '\ufdd1', true],
  ['[/-1]', '0', true],
  ['[]a]', ']', true],
  ['[!]a]', ']', false],
  ['[^]a]', 'b', true],
  ['[^]a]', ']', false],
  ['[a-]', '-', true],
  ['[-a]', '-', true],
  ['[a^]', '^', true],
  ['[!^a]', '^', false],
  ['[\\]', '\\', true],
  ['[\\]]', '\\]', true],
  ['[*?]', '*', true],
  ['[*?]', 'a', false],
  ['[[]', '[', true],
  ['[😀-😂]', '😁', true],
  ['x[a-c]*[0-9]', 'xb/../7', true],
  ['e\u0301', '\u00e9', true],
  ['\u00e9*', 'e\u0301t\u00e9', true],
  ['[e\u0301]', '\u00e9', true],
  ['\u212b', '\u00c5', true],
])('%s against %j: %s', (glob, text, expected) => expect(match(glob, text)).toBe(expected));

describe('what cannot be matched is a problem', () => {
  test.each<[string, string, string, string]>([
    ['a reversed range', '[z-a]', 'm', 'reversed range [z-a]'],
    ['half a surrogate pair', 'a\ud83d', 'a', 'half a surrogate pair'],
    ['U+FDD0 in the glob', 'a\ufdd0', 'a', 'U+FDD0'],
    ['U+FDD0 in the text', 'a*', 'a\ufdd0', 'U+FDD0'],
    ['too long a text', 'a'.repeat(8), 'b'.repeat(maxMatchWork / 8 + 1), 'too long'],
    ['too many combining marks', 'a*', `a${'\u0315\u0300'.repeat(maxCombiningMarks / 2 + 1)}`, 'combining marks'],
  ])('%s', (_, glob, text, word) => expect(match(glob, text)).toContain(word));

  test('the longest text and the most wildcards allowed are matched', () => {
    expect(match('*b'.repeat(4), 'b'.repeat(maxMatchWork / 8))).toBe(true);
    expect(match('x*', `x${'\u0315\u0300'.repeat(maxCombiningMarks / 2)}`)).toBe(true);
  });
});

test('agrees with a naive matcher on 20,000 cases', () => {
  const alphabet = [...Array.from('ab/.\\*?[]!^-{},()|+@#'), '\n', '\u2028', '\0', '😀', 'é', '0', 'z'];
  const textOf = (characters: string[]) =>
    fc.array(fc.constantFrom(...characters), { maxLength: 9 }).map((chosen) => chosen.join(''));
  let compared = 0;
  fc.assert(
    fc.property(textOf(alphabet), textOf([...alphabet, '\ud83d', '\ude00']), (glob, subject) => {
      const answer = match(glob, subject);
      if (typeof answer === 'string') {
        expect(answer).toContain('reversed range');
        return;
      }
      compared += 1;
      expect(answer).toBe(naive(Array.from(glob.normalize('NFC')), Array.from(subject.normalize('NFC'))));
    }),
    { numRuns: 20_000 },
  );
  expect(compared).toBeGreaterThan(15_000);
});

test('agrees with it if stars are the only wildcards, on 5,000 cases with many matches', () => {
  const textOf = (characters: string[], maxLength: number) =>
    fc.array(fc.constantFrom(...characters), { maxLength }).map((chosen) => chosen.join(''));
  let matched = 0;
  fc.assert(
    fc.property(textOf(['a', 'b', '/', '*', '*'], 7), textOf(['a', 'b', '/', '\n', '\ud83d'], 12), (glob, subject) => {
      const answer = match(glob, subject);
      if (answer === true) matched += 1;
      expect(answer).toBe(naive(Array.from(glob), Array.from(subject)));
    }),
    { numRuns: 5_000 },
  );
  expect(matched).toBeGreaterThan(500);
});

/** The glob language of docs/policy.md, one character at a time. */
function naive(glob: string[], text: string[]): boolean {
  const [first, ...rest] = glob;
  if (first === undefined) return text.length === 0;
  if (first === '*') return naive(rest, text) || (text.length > 0 && naive(glob, text.slice(1)));
  if (text.length === 0) return false;
  const close = first === '[' ? glob.indexOf(']', glob[1] === '!' || glob[1] === '^' ? 3 : 2) : -1;
  if (close === -1) return (first === '?' || first === text[0]) && naive(rest, text.slice(1));
  const negated = glob[1] === '!' || glob[1] === '^';
  const members = glob.slice(negated ? 2 : 1, close);
  let found = false;
  for (let index = 0; index < members.length; index += 1) {
    const isRange = members[index + 1] === '-' && index + 2 < members.length;
    const [from, to] = [code(members[index]), code(isRange ? members[index + 2] : members[index])];
    if (from <= code(text[0]) && code(text[0]) <= to) found = true;
    if (isRange) index += 2;
  }
  return found !== negated && naive(glob.slice(close + 1), text.slice(1));
}

function code(character: string | undefined): number {
  return character!.codePointAt(0)!;
}
