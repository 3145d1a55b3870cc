import { expect, test } from 'vitest';
import { longestRetryAfterMs, retryAfterMs } from '../../src/models/model-failure.ts';

const now = Date.UTC(2026, 0, 1);

test.each<[Record<string, string> | undefined, number | undefined]>([
  [undefined, undefined],
  [{}, undefined],
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{ 'retry-after': '-5', 'retry-after-ms': '1e9' }, undefined],
  [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
  [{ 'retry-after': '99999999' }, longestRetryAfterMs],
])('%j asks for %j ms', (headers, wait) => {
  expect(retryAfterMs(headers, now)).toBe(wait);
});
