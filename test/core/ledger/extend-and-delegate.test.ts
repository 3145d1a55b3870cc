import { describe, expect, test } from 'vitest';
import type { LedgerCommand } from '../../../src/core/ledger/ledger.ts';
import { emptyLedger, reduce, settledKept } from '../../../src/core/ledger/ledger.ts';
import { askRuling, requestRecord, claimedBy, requestIdOf } from '../../support/record-request.ts';

const by = claimedBy('ann');
const open = (number: number): LedgerCommand => ({
  kind: 'open',
  atMs: 0,
  record: requestRecord(number, 1_000),
  ruling: askRuling,
});
const decide = (number: number): LedgerCommand => {
  const decision = { requestId: requestIdOf(number), approved: true, reviewerId: 'ann' };
  return { kind: 'decide', atMs: 0, decision, voter: by };
};
const extend: LedgerCommand = {
  kind: 'extend',
  atMs: 9,
  requestId: requestIdOf(1),
  untilMs: 5_000,
  latestMs: null,
  voter: by,
};
const delegate: LedgerCommand = { kind: 'delegate', atMs: 9, requestId: requestIdOf(1), to: 'bob', voter: by };
const others = Array.from({ length: settledKept }, (_, index) => index + 2);

describe.each([
  ['extend', extend],
  ['delegate', delegate],
])('%s of a request that is no longer open is answered as a decision is', (_kind, command) => {
  test.each<[string, LedgerCommand[], string, string | undefined]>([
    ['never there', [], 'unknown_request', undefined],
    ['expired', [open(1), { kind: 'expire', atMs: 5, requestId: requestIdOf(1) }], 'expired', 'expired'],
    ['cancelled', [open(1), { kind: 'cancel', atMs: 5, requestId: requestIdOf(1) }], 'run_closed', 'cancelled'],
    ['approved', [open(1), decide(1)], 'already_settled', 'approved'],
    [
      'expired, and dropped since',
      [
        open(1),
        { kind: 'expire', atMs: 5, requestId: requestIdOf(1) },
        ...others.flatMap((each) => [open(each), decide(each)]),
      ],
      'expired',
      'expired',
    ],
  ])('%s', (_name, before, code, outcome) => {
    const ledger = before.reduce((next, each) => reduce(next, each).ledger, emptyLedger(1));
    const reduction = reduce(ledger, command);
    expect(reduction.receipt?.code).toBe(code);
    expect(reduction.receipt?.outcome).toBe(outcome);
    expect(reduction).toMatchObject({ ledger, entries: [] });
    const late: LedgerCommand = { kind: 'decide', atMs: 9, decision: { requestId: requestIdOf(1), approved: false } };
    expect(reduction.receipt).toEqual(reduce(ledger, late).receipt);
  });
});
