import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { expect, test } from 'vitest';
import { cardDigest, cardOf } from '../../src/card/card-of.ts';
import { cardRequest, nowMs } from './sample-requests.ts';

const card = cardOf(cardRequest(), { nowMs });

test('SHA-256 over RFC 8785 of the card without the time left', () => {
  const { left, ...time } = card.time;
  expect(left).toBe('4 min');
  const text = canonicalize({ ...card, time })!;
  expect(cardDigest(card)).toBe(createHash('sha256').update(text).digest('hex'));
});

test('the same at any time', () => {
  expect(cardDigest(cardOf(cardRequest(), { nowMs: nowMs + 60_000 }))).toBe(cardDigest(card));
  expect(cardDigest(cardOf(cardRequest()))).toBe(cardDigest(card));
});

test.each([
  ['an argument', cardRequest({ arguments: { orderId: 'o-17', amount: 121 } })],
  ['the deadline', cardRequest({ deadline: null })],
  ["the model's words", cardRequest({ contextSummary: 'The customer is wrong.' })],
  ['a preview', cardRequest({ preview: { state: 'pending' } })],
])('another one with another value of %s', (_name, request) => {
  expect(cardDigest(cardOf(request, { nowMs }))).not.toBe(cardDigest(card));
});
