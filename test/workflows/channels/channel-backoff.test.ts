import { expect, test } from 'vitest';
import { Backoff } from '../../../src/workflows/timing/backoff.ts';

/** How often a channel is called in a day if each call lasts so long. */
function callsInADay(lastedMs: number): number {
  const backoff = new Backoff();
  let calls = 0;
  for (let atMs = 0; atMs < 86_400_000; calls += 1) atMs += lastedMs + backoff.next(lastedMs);
  return calls;
}

test('a worker that lacks a channel is asked for it again and again, at most once an hour in the end', () => {
  const backoff = new Backoff();
  expect(Array.from({ length: 14 }, () => backoff.next(0) / 1_000)).toEqual([
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 3_600, 3_600,
  ]);
  expect(callsInADay(50)).toBeLessThan(40);
});

test('a channel that thought for minutes before its worker was lost is asked again at once', () => {
  const backoff = new Backoff();
  for (let count = 0; count < 20; count += 1) backoff.next(0);
  expect(backoff.next(300_000)).toBe(1_000);
});
