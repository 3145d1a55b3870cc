import { expect, test } from 'vitest';
import { parseDuration } from '../../../src/core/base/duration.ts';

test.each<[string, number | null]>([
  ['1ms', 1],
  ['30s', 30_000],
  ['5m', 300_000],
  ['1h', 3_600_000],
  ['1d', 86_400_000],
  ['3650d', 315_360_000_000],
  ['never', null],
])('%s', (text, durationMs) => expect(parseDuration(text)).toEqual({ durationMs }));

test.each([
  '',
  '5',
  '5 m',
  ' 5m',
  '1.5h',
  '-5m',
  '5M',
  '1h30m',
  'm',
  '5min',
  'Never',
  '5m\n',
  '0s',
  '3651d',
  '9'.repeat(40) + 's',
  '٣s',
])('refused: %j', (text) => expect(parseDuration(text)).toEqual({ problem: expect.stringMatching(/^must be /) }));
