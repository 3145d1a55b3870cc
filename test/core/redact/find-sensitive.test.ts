import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { findSensitive, redactText } from '../../../src/core/redact/find-sensitive.ts';
import { sensitiveKinds } from '../../../src/core/redact/kinds.ts';
import { harmless, sensitive } from './sensitive-samples.ts';
import { growth, squareGrowth } from '../../support/processor-time.ts';

describe('what is sensitive becomes its placeholder, and nothing else does', () => {
  test.each(sensitive)('%s', (_name, text, hidden, placeholder) => {
    expect(redactText(text)).toBe(text.replace(hidden, () => placeholder));
  });
});

describe('what only looks so stays', () => {
  test.each(harmless)('%s', (_name, text) => expect(redactText(text)).toBe(text));
});

test('there are samples of every kind', () => {
  expect(new Set(sensitive.map(([, , , placeholder]) => /\w+/.exec(placeholder)![0]))).toEqual(new Set(sensitiveKinds));
  expect(sensitive.length + harmless.length).toBeGreaterThan(100);
});

test('only the kinds that are asked for are found', () => {
  const text = 'ann@acme.com 4111111111111111';
  expect(redactText(text, ['CARD'])).toBe('ann@acme.com [CARD …1111 · 9bbe]');
  expect(redactText(text, [])).toBe(text);
});

const anyText = fc
  .array(
    fc.oneof(fc.constantFrom(...sensitive.map(([, text]) => text), ...harmless.map(([, text]) => text)), fc.string()),
  )
  .map((parts) => parts.join('\n'));

test('spans are in order, apart, and within the text', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      let end = 0;
      for (const [from, until] of findSensitive(text)) {
        expect(from).toBeGreaterThanOrEqual(end);
        expect(until).toBeGreaterThan(from);
        end = until;
      }
      expect(end).toBeLessThanOrEqual(text.length);
    }),
  );
});

test('a placeholder takes both halves of a surrogate pair', () => {
  const text = `password: a1${'x'.repeat(197)}😀 tail`;
  expect(redactText(text)).toBe('password: [PASSWORD] tail');
  expect(redactText('😀a', [], () => [[1, 3, '[X]']])).toBe('[X]');
});

test('what was redacted stays as it is', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(redactText(redactText(text))).toBe(redactText(text));
    }),
  );
});

/** Beginnings of matches, which make a pattern that is not linear slow. */
const hostile = [
  'a',
  '4',
  '4111 ',
  'DE89 ',
  'AB12',
  'a@',
  'a.',
  'a@a.a.a.a',
  'é@',
  '://a:',
  '::',
  '-----BEGIN A PRIVATE KEY-----',
  'eyJ.',
  'eyJaaaaaaaa.',
  'sk-',
  '+1 ',
  '01 ',
  '(555) ',
  'password" : ',
  'password=',
  '"',
  '\\',
  "'",
  'Bearer ',
  'SSN ',
  'tel ',
];

test.each(hostile)('200 KB of %j take no time that grows faster than the text', (part) => {
  const timed = (length: number) => {
    const text = part.repeat(Math.ceil(length / part.length));
    return () => void redactText(text);
  };
  expect(growth(timed, 50_000)).toBeLessThan(squareGrowth);
});
