import { expect, test } from 'vitest';
import type { Span } from '../../../src/core/redact/find-sensitive.ts';
import type { Redaction } from '../../../src/core/redact/redaction.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { redactionOf } from '../../../src/core/redact/redaction.ts';
import { earlierAccountsOf } from '../../../src/core/ledger/earlier-accounts.ts';
import { emptyLedger, type Ledger, type RequestRecord, reduce } from '../../../src/core/ledger/ledger.ts';
import { iso } from '../../../src/core/ledger/ledger-state.ts';
import { askRuling, requestIdOf, requestRecord } from '../../support/record-request.ts';

/** Whether an account was in an earlier request of the run, told without showing it. */

const one = 'DE89370400440532013000';
const other = 'CH9300762011623852957';
const masks = { kinds: ['IBAN'], patterns: [], also: ['iban', 'account'] };
const masked = (args: JsonObject): { redaction: Redaction } => ({ redaction: redactionOf(args, { settings: masks }) });

type More = Partial<RequestRecord>;
const record = (number: number, args: JsonObject, more: More = masked(args)): RequestRecord => ({
  ...requestRecord(number, null, { arguments: args, toolName: 'wire', requestedAt: iso(number * 10) }),
  ...more,
});

/** A ledger in which each of these requests was approved by ann right after it was opened. */
function ledgerWith(...records: RequestRecord[]): Ledger {
  let ledger = emptyLedger(1);
  for (const each of records) {
    const atMs = Date.parse(each.request.requestedAt);
    ({ ledger } = reduce(ledger, { kind: 'open', atMs, record: each, ruling: askRuling }));
    const decision = { requestId: each.request.requestId, approved: true, reviewerId: 'ann' };
    ({ ledger } = reduce(ledger, { kind: 'decide', atMs: atMs + 1, decision }));
  }
  return ledger;
}

const now = (args: JsonObject, more?: More): RequestRecord => record(50, args, more);
const first = (argument: string): object => ({ argument, before: null });
const same = (argument: string, number: number): object => ({
  argument,
  before: expect.objectContaining({ requestId: requestIdOf(number), outcome: 'approved', at: iso(number * 10 + 1) }),
});

test.each<[string, RequestRecord[], RequestRecord, object[]]>([
  ['no account', [record(1, { iban: one })], now({ text: one }), []],
  ['the first request', [], now({ iban: one }), [first('iban')]],
  ['another account', [record(1, { iban: other })], now({ iban: one }), [first('iban')]],
  ['the same one', [record(1, { iban: one })], now({ iban: one }), [same('iban', 1)]],
  [
    'under another name and spelling',
    [record(1, { account: one })],
    now({ creditor: { iban: 'DE89 3704 0044 0532 0130 00' } }),
    [same('creditor.iban', 1)],
  ],
  ['the last of several', [record(1, { iban: one }), record(2, { iban: one })], now({ iban: one }), [same('iban', 2)]],
  ['in full on both cards', [record(1, { iban: one }, {})], now({ iban: one }, {}), [same('iban', 1)]],
  ['masked before and shown now: nothing is said', [record(1, { iban: one })], now({ iban: one }, {}), []],
  ['shown before and masked now: nothing is said', [record(1, { iban: other }, {})], now({ iban: one }), []],
  [
    'arguments of an earlier request that were hidden',
    [record(1, { iban: one }, { hidden: true })],
    now({ iban: one }),
    [],
  ],
  ['settled after this one was asked', [record(60, { iban: one })], now({ iban: one }), [first('iban')]],
  [
    'arguments that were too large to keep',
    [record(1, { iban: one, text: 'x'.repeat(5_000) })],
    now({ iban: one }),
    [],
  ],
])('%s', (_, earlier, asked, expected) => {
  expect(earlierAccountsOf(ledgerWith(...earlier), asked)).toEqual(expected);
});

test('two accounts with one placeholder are not the same', () => {
  // Reviewers see the same: the kind, the same ends, and the same four digits of the digest.
  const [seen, crafted] = [{ iban: one }, { iban: 'DE89370400440532999000' }];
  const placeholder = '[IBAN DE89…3000 · faf7]';
  const redaction = { ...masked(seen).redaction, values: [{ path: ['iban'], spans: [[0, 22, placeholder] as Span] }] };
  const ledger = ledgerWith(record(1, seen, { redaction }));
  expect(earlierAccountsOf(ledger, now(crafted, { redaction }))).toEqual([first('iban')]);
});

test('where calls of the tool ran without a request, none is called the first', () => {
  const outcome = { callId: '1.9', toolName: 'wire', outcome: 'allowed', ran: 'yes' } as const;
  const ledger = ledgerWith();
  expect(earlierAccountsOf({ ...ledger, outcomes: [outcome] }, now({ iban: one }))).toEqual([]);
  expect(earlierAccountsOf({ ...ledger, outcomes: [{ ...outcome, toolName: 'look' }] }, now({ iban: one }))).toEqual([
    first('iban'),
  ]);
  const past = [{ requestId: requestIdOf(1), outcome: 'approved' as const }];
  expect(earlierAccountsOf({ ...ledger, past }, now({ iban: one }))).toEqual([]);
});
