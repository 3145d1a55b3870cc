import { expect, test } from 'vitest';
import fc from 'fast-check';
import { readConsoleLine } from '../../src/text/console-line.ts';

const known = {
  approve: ['a', 'approve', 'yes', 'y', 'Approve', 'YES', 'Y'],
  always: ['A', 'always', 'Always', 'ALWAYS'],
  deny: ['d', 'deny', 'no', 'n', 'D', 'Deny', 'NO', 'N'],
  skip: ['s', 'skip', 'S', 'Skip'],
};

test.each(Object.entries(known).flatMap(([answer, lines]) => lines.map((line) => [line, answer] as const)))(
  '%j is %s, also between blanks and with the end of its line',
  (line, answer) => {
    for (const text of [line, ` ${line}`, `\t${line} `, `${line}\r\n`]) expect(readConsoleLine(text)).toBe(answer);
  },
);

test.each([
  ['', 'Enter alone'],
  [' \t', 'blanks'],
  ['\n', 'a line feed'],
  ['yes please', 'more than a word'],
  ['ya', 'another word'],
  ['aa', 'a held key'],
  ['AA', 'a held key'],
  ['a\na', 'two lines'],
  ['y\u200b', 'a zero-width space'],
  ['\u202ey', 'a bidi control'],
  ['\uff59', 'a full-width y'],
  ['\u0430', 'a Cyrillic a'],
  ['s\u212aip', 'the Kelvin sign'],
  ['\u001b[A', 'the up key'],
  ['1', 'a number'],
  ['true', 'a value'],
  ['ok', 'a word of no list'],
  ['constructor', 'a member of every object'],
])('%j asks again: %s', (line) => {
  expect(readConsoleLine(line)).toBeUndefined();
});

test('any other text asks again', () => {
  const lines = new Set(
    Object.values(known)
      .flat()
      .map((line) => line.toLowerCase()),
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 8 }), (text) => {
      const word = text.replace(/^[ \t]+|[ \t\r\n]+$/g, '').toLowerCase();
      fc.pre(!lines.has(word));
      expect(readConsoleLine(text)).toBeUndefined();
    }),
  );
});
