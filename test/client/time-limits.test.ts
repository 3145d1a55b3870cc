import { describe, expect, test } from 'vitest';
import { timeLimits } from '../../src/client/server/time-limits.ts';

describe('how long a client waits', () => {
  test('is an option, else a variable, else the default', () => {
    const environment = { COUNTERSIGN_QUERY_TIMEOUT: '1m', COUNTERSIGN_RECEIPT_TIMEOUT: '500ms' };
    expect(timeLimits({ queryTimeoutMs: 7 }, environment)).toEqual({
      connectTimeoutMs: 4_000,
      queryTimeoutMs: 7,
      glanceTimeoutMs: 2_000,
      receiptTimeoutMs: 500,
      lookUpTimeoutMs: 3_000,
    });
  });

  test.each([
    [{ queryTimeoutMs: 0 }, {}, 'queryTimeoutMs: expected a number of milliseconds above 0.'],
    [{ lookUpTimeoutMs: NaN }, {}, 'lookUpTimeoutMs: expected a number of milliseconds above 0.'],
    [{}, { COUNTERSIGN_CONNECT_TIMEOUT: 'never' }, "COUNTERSIGN_CONNECT_TIMEOUT: it cannot be 'never'."],
    [
      {},
      { COUNTERSIGN_CONNECT_TIMEOUT: '4000' },
      "COUNTERSIGN_CONNECT_TIMEOUT: '4000' must be a whole number and a unit, such as 30s, 5m, 1h or 1d, or never.",
    ],
  ])('%o and %o are refused', (given, environment, message) => {
    expect(() => timeLimits(given, environment)).toThrow(message);
  });
});
