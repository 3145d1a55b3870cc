import { expect, test } from 'vitest';
import { latestDeadlineMs } from '../../../src/core/ledger/extend-and-delegate.ts';
import { iso } from '../../../src/core/ledger/ledger.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { requestRecord, digestOf, requestIdOf } from '../../support/record-request.ts';

const minute = 60_000;
const ceiling = (maxTimeoutMs: number | null): Policy => ({
  version: 1,
  rules: [],
  riskDefaults: {},
  approval: { maxTimeoutMs },
});
const asked = requestRecord(2, null, { requestedAt: iso(5 * minute) });
const successor = { ...asked, origin: { requestId: requestIdOf(1), digest: digestOf(1), requestedAt: iso(minute) } };

test.each([
  ['a request: from its own time on', asked, ceiling(10 * minute), 15 * minute],
  ["an edited call: from the first request's time on", successor, ceiling(10 * minute), 11 * minute],
  ['where the operator permits any wait', successor, ceiling(null), null],
])('%s', (_name, record, policy, expected) => {
  expect(latestDeadlineMs(record, { ceiling: policy })).toBe(expected);
});
