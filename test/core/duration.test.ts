import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatDuration } from '../../src/core/duration.ts';
import { parseDuration } from '../../src/core/parse-duration.ts';

test.each([
  [0, '0s'],
  [-5, '0s'],
  [1, '0.001s'],
  [500, '0.5s'],
  [1_000, '1s'],
  [1_500, '1.5s'],
  [59_999, '59.999s'],
  [60_000, '1m'],
  [90_000, '1m30s'],
  [300_000, '5m'],
  [3_600_000, '1h'],
  [5_400_000, '1h30m'],
  [3_600_001, '1h0.001s'],
  [86_400_000, '24h'],
])('%i ms are written %s', (durationMs, text) => expect(formatDuration(durationMs)).toBe(text));

test.each(['30s', '5m', '1h', '12h'])('%s reads back as it was written', (text) => {
  expect(parseDuration(text)).toEqual({ durationMs: expect.any(Number) });
  expect(formatDuration((parseDuration(text) as { durationMs: number }).durationMs)).toBe(text);
});

test('no part of it passes sixty, and it adds up', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e10 }), (durationMs) => {
      const [, hours = '0', minutes = '0', seconds = '0'] = /^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(
        formatDuration(durationMs),
      )!;
      expect([Number(minutes) < 60, Number(seconds) < 60]).toEqual([true, true]);
      expect(Math.round((Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000)).toBe(durationMs);
    }),
  );
});
