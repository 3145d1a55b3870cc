import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { bytesFromBase64 } from '../../../src/core/base/digest.ts';

test('the same texts and bytes as those of Buffer', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64');
      expect(bytesFromBase64(text)).toEqual(bytes);
    }),
  );
});

test('each byte sequence has exactly one text', () => {
  const digit = fc.constantFrom(...'ABQgwxyz0189+/='.split(''));
  fc.assert(
    fc.property(fc.array(digit, { maxLength: 8 }), (digits) => {
      const bytes = bytesFromBase64(digits.join(''));
      if (bytes !== undefined) expect(Buffer.from(bytes).toString('base64')).toBe(digits.join(''));
    }),
    { numRuns: 2_000 },
  );
});

describe('invalid base64', () => {
  test.each([
    ['no padding', 'QQ'],
    ['too little padding', 'QQ='],
    ['too much padding', 'QUI=='],
    ['padding inside', 'QQ==QQ=='],
    ['bits that say nothing', 'QR=='],
    ['the alphabet of URLs', '_-_-'],
    ['a blank', 'QUJD '],
    ['a line break', 'QUJD\n'],
    ['other letters', 'äöü€'],
    ['one digit', 'Q'],
  ])('%s', (_, text) => expect(bytesFromBase64(text)).toBeUndefined());
});

test('a text of several megabytes', () => {
  expect(bytesFromBase64('AAAA'.repeat(1_700_000))).toHaveLength(5_100_000);
});
