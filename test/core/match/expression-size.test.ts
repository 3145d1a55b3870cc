/** The price of a regular expression bounds the size of its program, by the RE2 that this project uses for its own patterns. */
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { least, runs } from '../../support/thorough.ts';
import { expressionSize } from '../../../src/core/match/expression-size.ts';

/** Undefined if RE2 refuses it. */
const programSize = (source: string): number | undefined => {
  try {
    return (
      RE2JS.compile(source) as unknown as { re2Input: { prog: { numInst: () => number } } }
    ).re2Input.prog.numInst();
  } catch {
    return undefined;
  }
};

test.each<[string, number]>([
  ['^https?://169[.]254[.]169[.]254(/|$)', 100],
  ['[a-f0-9]{64}', 200],
  ['(a{10}){10}', 500],
  ['[]a]{3}|[^]]{2}', 30],
  ['\\p{Greek}{5}', 20],
  ['(){2,5}', 30],
])('%s costs at most %i', (source, most) => {
  expect(expressionSize(source)).toBeGreaterThanOrEqual(programSize(source)!);
  expect(expressionSize(source)).toBeLessThanOrEqual(most);
});

test('law: the price is at least the size', () => {
  const pieces = [
    'a',
    '.',
    '[a-z]',
    '[]x]',
    '[^]x]',
    '[[:alpha:]]',
    '\\d',
    '\\pL',
    '\\p{Greek}',
    '\\x{41}',
    '\\{',
    'é',
    '😀',
  ];
  const more = [
    '*',
    '+',
    '?',
    '{3}',
    '{2,5}',
    '{4,}',
    '{0}',
    '|',
    '(',
    ')',
    '(?:',
    '(?i)',
    '^',
    '$',
    '\\b',
    '{',
    '}',
    '{a}',
    '\\Qa{9}\\E',
    ']',
  ];
  const source = fc.array(fc.constantFrom(...pieces, ...more), { maxLength: 14 }).map((parts) => parts.join(''));
  let compiled = 0;
  fc.assert(
    fc.property(source, (each) => {
      const size = programSize(each);
      if (size === undefined) return;
      compiled += 1;
      expect([each, expressionSize(each) >= size]).toEqual([each, true]);
    }),
    { numRuns: runs(2_000) },
  );
  expect(compiled).toBeGreaterThan(least(500));
});
