import { describe, expect, test } from 'vitest';
import { redactText } from '../../src/core/redact/find-sensitive.ts';
import { findOwn, patternProblem } from '../../src/redact/own-patterns.ts';

const own = (...patterns: [name: string, pattern: string][]) =>
  findOwn(patterns.map(([name, pattern]) => ({ name, pattern })))!;

test('a match becomes the placeholder of its pattern, before the built-in ones look', () => {
  const findMore = own(['TICKET', 'T-[0-9]+'], ['STAFF', String.raw`\w+@acme\.com`]);
  expect(redactText('T-1 and T-22 by ann@acme.com, bob@other.com', undefined, findMore)).toBe(
    '[TICKET · cd4a] and [TICKET · 0725] by [STAFF · f966], [EMAIL …om · 4a94]',
  );
});

test('of a pattern whose name or match says that it grants access, a placeholder shows nothing', () => {
  const findMore = own(['BADGE_TOKENS', 'bdg_[0-9]+'], ['LINE', '.+']);
  expect(redactText('bdg_1', undefined, findMore)).toBe('[BADGE_TOKENS]');
  expect(redactText('password=hunter2', undefined, findMore)).toBe('[LINE]');
  expect(redactText('a line', undefined, findMore)).toBe('[LINE · 31b9]');
});

test('a match far into a long text is found, also where two pieces meet', () => {
  const findMore = own(['TICKET', 'T-[0-9]+']);
  const nearTheEnds = [18_990, 19_990, 38_990].flatMap((end) => Array.from({ length: 20 }, (_, index) => end + index));
  for (const at of [0, ...nearTheEnds, 100_000]) {
    const text = `${'x'.repeat(at)}T-123456`;
    expect([at, redactText(text, [], findMore).slice(at)]).toEqual([at, '[TICKET · 4793]']);
    expect(redactText(`${text}${'x'.repeat(30_000)}`, [], findMore)).toHaveLength(at + 15 + 30_000);
  }
});

test.each([
  ['that could end earlier', '[0-9]{4}(?: [0-9]{4})*', '1234 5678 9012 3456'],
  ['that begins within a word', '\\BT-[0-9]+', 'T-123456'],
])('a match %s is found whole where two pieces meet', (_what, pattern, found) => {
  const findMore = own(['OWN', pattern]);
  for (const end of [19_000, 20_000]) {
    for (let at = end - 20; at <= end; at++) {
      const text = `${'x'.repeat(at)}${found}${'x'.repeat(30_000)}`;
      expect([at, findMore(text)]).toEqual([at, [[at, at + found.length, expect.any(String)]]]);
    }
  }
});

describe('bounds', () => {
  test('more matches than anybody reads hide the whole text', () => {
    expect(redactText('T-1 '.repeat(3_000), [], own(['TICKET', 'T-[0-9]+']))).toBe('[REDACTED]');
  });

  test('more text than can be searched is hidden as a whole, and so is what follows', () => {
    const findMore = own(['TICKET', 'T-[0-9]+'], ['OTHER', 'U-[0-9]+']);
    expect(redactText('x'.repeat(10_000_001), [], findMore)).toBe('[REDACTED]');
    expect(redactText('x', [], findMore)).toBe('[REDACTED]');
  });

  test('a pattern that repeats pays for each copy', () => {
    const findMore = own(['A', '((x?){30}){30}[0-9]']);
    expect(redactText('x'.repeat(10_000), [], findMore)).toBe('x'.repeat(10_000));
    expect(redactText('x'.repeat(40_000), [], findMore)).toBe('[REDACTED]');
  });

  test('a pattern whose search looks at the rest of the text for each match ends', () => {
    // It ends by the number of matches, each of which looks at one piece at most.
    expect(redactText('a'.repeat(100_000), [], own(['A', 'a[^b]*c|a']))).toBe('[REDACTED]');
  });
});

test('a pattern that does not compile hides everything', () => {
  expect(redactText('x', [], own(['A', '(?=a)']))).toBe('[REDACTED]');
});

test.each([
  ['T-[0-9]+', undefined],
  [String.raw`(?i)\bproject\s+\w+`, undefined],
  ['(?=a)', 'is not a regular expression in RE2 syntax, which has no look-around and no back-references'],
  [String.raw`(a)\1`, 'is not a regular expression in RE2 syntax, which has no look-around and no back-references'],
  ['[', 'is not a regular expression in RE2 syntax, which has no look-around and no back-references'],
  ['a*', 'matches the empty text, so it would match everywhere'],
])('pattern %s: %s', (pattern, problem) => expect(patternProblem(pattern)).toBe(problem));
