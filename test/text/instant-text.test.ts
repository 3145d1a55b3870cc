import { describe, expect, test } from 'vitest';
import { deadlineText, instantText, isTimeZone, timeLeft } from '../../src/text/instant-text.ts';

const at = '2026-11-29T14:30:00.000Z';
const nowMs = Date.parse('2026-11-29T14:05:00.000Z');

describe('instantText', () => {
  test.each([
    ['no clock', at, {}, '29 Nov 2026, 14:30 UTC'],
    ['an offset', '2026-11-29T15:30:00+01:00', {}, '29 Nov 2026, 14:30 UTC'],
    ['the same day', at, { nowMs }, '14:30 UTC'],
    ['another day', '2026-11-30T00:10:00Z', { nowMs }, '30 Nov, 00:10 UTC'],
    ['another year of the same day', '2025-11-29T14:30:00Z', { nowMs }, '29 Nov 2025, 14:30 UTC'],
    ['a zone', at, { timeZone: 'Europe/Berlin' }, '29 Nov 2026, 15:30 CET'],
    ['in summer', '2026-07-01T14:30:00Z', { timeZone: 'Europe/Berlin' }, '1 Jul 2026, 16:30 CEST'],
    ['a zone without letters', at, { timeZone: 'Asia/Kolkata' }, '29 Nov 2026, 20:00 GMT+5:30'],
    ['the same day there only', '2026-11-29T23:30:00Z', { timeZone: 'Asia/Tokyo', nowMs }, '30 Nov, 08:30 GMT+9'],
    ['midnight', '2026-11-29T00:00:00Z', { timeZone: 'Etc/UTC' }, '29 Nov 2026, 00:00 UTC'],
    ['September', '2026-09-01T00:00:00Z', { timeZone: 'Europe/London' }, '1 Sep 2026, 01:00 BST'],
    ['in the zone of the reader', at, { timeZone: 'Asia/Tokyo', nowMs, isLocal: true }, '23:30'],
    ['no instant', 'some\u202Eday', {}, 'some\\u{202E}day'],
    ['nothing', '', {}, ''],
  ])('%s', (_name, instant, clock, text) => {
    expect(instantText(instant, clock)).toBe(text);
  });
});

test.each([
  [at, {}, '29 Nov 2026, 14:30 UTC (in 25 min)'],
  [at, { timeZone: 'Europe/Berlin', nowMs }, '15:30 CET (in 25 min)'],
  ['2026-11-29T14:00:00Z', { nowMs }, '14:00 UTC (passed)'],
  ['soon', { nowMs }, 'soon'],
])('deadlineText %s', (deadline, clock, text) => {
  expect(deadlineText(deadline, nowMs, clock)).toBe(text);
});

test.each([
  [-1, 'passed'],
  [0, '0 s'],
  [249_500, '4 min 10 s'],
  [599_000, '9 min 59 s'],
  [600_000, '10 min'],
  [13_499_000, '3 h 45 min'],
  [7_200_000, '2 h'],
  [47 * 3_600_000, '47 h'],
  [51 * 3_600_000, '2 d 3 h'],
])('timeLeft %i', (leftMs, text) => {
  expect(timeLeft(leftMs)).toBe(text);
});

test.each([
  ['Europe/Berlin', true],
  ['UTC', true],
  ['Europe/Atlantis', false],
  ['', false],
  ['CET-1CEST\n', false],
])('isTimeZone %j', (name, isZone) => {
  expect(isTimeZone(name)).toBe(isZone);
});
