import { expect, test } from 'vitest';
import * as fc from 'fast-check';
import { readTokenTail, tokenTail } from '../../src/events/token-tail.ts';

test('a short text is its own tail', () => {
  expect(tokenTail(1, 'Hello')).toEqual({ attempt: 1, offset: 0, tail: 'Hello' });
  expect(tokenTail(3, '')).toEqual({ attempt: 3, offset: 0, tail: '' });
});

const long: [name: string, text: string, offset: number, tail: string][] = [
  ['ASCII', 'a'.repeat(8_192), 0, 'a'.repeat(8_192)],
  ['one character too many', `b${'a'.repeat(8_192)}`, 1, 'a'.repeat(8_192)],
  ['two bytes each', 'é'.repeat(4_097), 1, 'é'.repeat(4_096)],
  ['three bytes each', '語'.repeat(3_000), 270, '語'.repeat(2_730)],
  ['pairs, which are cut between, not within', `x${'😀'.repeat(2_049)}`, 3, '😀'.repeat(2_048)],
  ['a pair whose first half is before the limit', `😀${'a'.repeat(8_191)}`, 2, 'a'.repeat(8_191)],
  ['half a pair', 'a\uD83Db\uDE00', 0, 'a\uFFFDb\uFFFD'],
  ['a pair that has not arrived in full', 'a\uD83D', 0, 'a'],
];

for (const [name, text, offset, tail] of long) {
  test(`the tail of a text: ${name}`, () => {
    const read = tokenTail(1, text);
    expect(read.offset).toBe(offset);
    expect(read.tail).toBe(tail);
  });
}

test('any text: the tail is its end, fits, and can be read', () => {
  const texts = fc.array(fc.constantFrom('a', 'é', '語', '😀', 'b'.repeat(500), '😀'.repeat(300)), { maxLength: 60 });
  fc.assert(
    fc.property(texts, (parts) => {
      const text = parts.join('');
      const read = tokenTail(2, text);
      expect(text.slice(read.offset)).toBe(read.tail);
      const bytes = Buffer.byteLength(read.tail);
      expect(bytes).toBeLessThanOrEqual(8_192);
      // As long as it may be.
      expect(read.offset === 0 || bytes > 8_192 - 4).toBe(true);
      expect(read.tail.isWellFormed()).toBe(true);
      expect(readTokenTail(JSON.parse(JSON.stringify(read)))).toEqual(read);
    }),
  );
});

const unread: [name: string, details: unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['a text', 'tail'],
  ['a list', [1, 0, 'tail']],
  ['no attempt', { offset: 0, tail: '' }],
  ['attempt 0', { attempt: 0, offset: 0, tail: '' }],
  ['an attempt of text', { attempt: '1', offset: 0, tail: '' }],
  ['a negative offset', { attempt: 1, offset: -1, tail: '' }],
  ['a fraction', { attempt: 1, offset: 0.5, tail: '' }],
  ['an offset that no number holds', { attempt: 1, offset: 2 ** 60, tail: '' }],
  ['no tail', { attempt: 1, offset: 0 }],
  ['a tail that is too long', { attempt: 1, offset: 0, tail: 'a'.repeat(8_193) }],
  ['a tail that is too long in bytes', { attempt: 1, offset: 0, tail: '語'.repeat(2_731) }],
];

for (const [name, details] of unread) {
  test(`is no tail: ${name}`, () => expect(readTokenTail(details)).toBeUndefined());
}

test('members that are not known are left out', () => {
  const read = readTokenTail({ attempt: 1, offset: 0, tail: 'a', more: 1 });
  expect(read).toEqual({ attempt: 1, offset: 0, tail: 'a' });
});
