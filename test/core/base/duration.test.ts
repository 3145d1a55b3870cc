import { expect, test } from 'vitest';
import fc from 'fast-check';
import { formatDuration, parseDuration } from '../../../src/core/base/duration.ts';

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
  [172_799_000, '47h59m59s'],
  [172_800_000, '2d'],
  [259_200_000, '3d'],
  [277_200_000, '3d5h'],
  [7_776_000_000, '90d'],
  [315_360_000_000, '3650d'],
])('%i ms is written as %s', (durationMs, text) => expect(formatDuration(durationMs)).toBe(text));

test.each(['30s', '5m', '1h', '12h', '24h', '25h', '2d', '90d', '3650d'])(
  '%s parses back to the same duration',
  (text) => {
    expect(parseDuration(text)).toEqual({ durationMs: expect.any(Number) });
    expect(formatDuration((parseDuration(text) as { durationMs: number }).durationMs)).toBe(text);
  },
);

test('no part reaches the next unit, and the parts add up', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e10 }), (durationMs) => {
      const parts = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(formatDuration(durationMs))!;
      const [days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0)) as [
        number,
        number,
        number,
        number,
      ];
      // One day is written in hours, as policies write it.
      expect([days === 1, hours < (days === 0 ? 48 : 24), minutes < 60, seconds < 60]).toEqual([
        false,
        true,
        true,
        true,
      ]);
      const hoursInAll = days * 24 + hours;
      expect(Math.round((hoursInAll * 3_600 + minutes * 60 + seconds) * 1_000)).toBe(durationMs);
    }),
  );
});
