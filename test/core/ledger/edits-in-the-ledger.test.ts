import { describe, expect, test } from 'vitest';
import type { CheckedEdit } from '../../../src/core/ledger/decide.ts';
import type { ParsedDecision } from '../../../src/core/messages/decision.ts';
import type { RequestRecord, Ledger, LedgerCommand } from '../../../src/core/ledger/ledger.ts';
import { emptyLedger, iso, reduce, settledKept } from '../../../src/core/ledger/ledger.ts';
import { requestInPlaceOf } from '../../../src/core/ledger/ledger-state.ts';
import { askRuling, requestRecord, claimedBy, digestOf, requestIdOf } from '../../support/record-request.ts';

/**
 * The effects of an edit on the ledger (I9): counts, uses, and the link from the request that was asked to the one that
 * answers.
 */

const reversible = requestRecord(1).request.assessment;
const irreversible = { ...reversible, reversible: false };

const apply = (ledger: Ledger, ...commands: LedgerCommand[]): Ledger =>
  commands.reduce((next, command) => reduce(next, command).ledger, ledger);
const open = (record: RequestRecord): LedgerCommand => ({ kind: 'open', atMs: 0, record, ruling: askRuling });
const decide = (number: number, fields: Partial<ParsedDecision>, edit?: CheckedEdit, atMs = 0): LedgerCommand => ({
  kind: 'decide',
  atMs,
  decision: { requestId: requestIdOf(number), approved: true, ...fields },
  voter: claimedBy(fields.reviewerId),
  ...(edit && { edit }),
});
const approve = (number: number): LedgerCommand => decide(number, {});
/** Has other reviewers, so that the edited call becomes a separate request. */
const successorOf = (number: number, replaced: number, fields = {}): RequestRecord => ({
  ...requestRecord(number, null, { replaces: { requestId: requestIdOf(replaced), by: 'edit' }, ...fields }),
  callId: '1.1',
  terms: {
    ...requestRecord(number).terms,
    requirements: [{ layer: 'run', reviewers: [`reviewer-${number}`], quorum: 1, oneOfEach: [], escalate: [] }],
  },
});
const editInto = (successor: RequestRecord): CheckedEdit => ({
  arguments: successor.request.arguments,
  digest: successor.request.digest,
  reversible: successor.request.assessment.reversible,
  asked: { successor, ruling: askRuling },
});
const editedBy = (number: number, by: number): LedgerCommand =>
  decide(number, { reviewerId: `reviewer-${number}` }, editInto(successorOf(by, number)));

describe('the request that answers can still be found', () => {
  test('after more settled requests than are kept', () => {
    const others = Array.from({ length: settledKept }, (_, index) => index + 10);
    const edited = apply(emptyLedger(1), open(requestRecord(1)), editedBy(1, 2));
    const ledger = apply(edited, ...others.flatMap((number) => [open(requestRecord(number)), approve(number)]));
    expect(requestInPlaceOf(ledger, requestIdOf(1))?.request.requestId).toBe(requestIdOf(2));
    const settled = apply(ledger, decide(2, { reviewerId: 'reviewer-2' }));
    expect(requestInPlaceOf(settled, requestIdOf(1))).toMatchObject({
      settlement: { outcome: 'approved', runs: true },
    });
  });

  test('after more edits of one call than are kept', () => {
    const numbers = Array.from({ length: settledKept + 5 }, (_, index) => index + 1);
    const ledger = apply(
      emptyLedger(1),
      open(requestRecord(1)),
      ...numbers.map((number) => editedBy(number, number + 1)),
    );
    expect(requestInPlaceOf(ledger, requestIdOf(1))?.request.requestId).toBe(requestIdOf(numbers.length + 1));
    expect(ledger.open[0]!.origin).toEqual({ requestId: requestIdOf(1), digest: digestOf(1), requestedAt: iso(0) });
  });

  test('if as many as may be open are each edited and settled before the run looks', () => {
    const numbers = Array.from({ length: settledKept }, (_, index) => index + 1);
    const opened = apply(emptyLedger(1), ...numbers.map((number) => open(requestRecord(number))));
    const ledger = apply(
      opened,
      ...numbers.flatMap((number) => [
        editedBy(number, number + 100),
        decide(number + 100, { reviewerId: `reviewer-${number + 100}` }),
      ]),
    );
    for (const number of numbers) {
      expect(requestInPlaceOf(ledger, requestIdOf(number))).toMatchObject({ settlement: { outcome: 'approved' } });
    }
  });
});

describe('irreversible calls', () => {
  test.each<[string, boolean, boolean, number]>([
    ['edited into one', true, false, 1],
    ['one, edited into another', false, false, 1],
    ['one, edited into what can be undone', false, true, 0],
  ])('%s', (_, before, after, count) => {
    const first = requestRecord(1, null, { assessment: { ...reversible, reversible: before } });
    const edit: CheckedEdit = { arguments: {}, digest: digestOf(9), reversible: after };
    const ledger = apply(emptyLedger(1), open(first), decide(1, {}, edit));
    expect(ledger.counts).toMatchObject({ calls: 1, irreversible: count });
    const assessment = { ...reversible, reversible: after };
    const asked = apply(emptyLedger(1), open(first), decide(1, {}, editInto(successorOf(2, 1, { assessment }))));
    expect(asked.counts).toMatchObject({ calls: 1, irreversible: count });
    const cancelled = apply(asked, { kind: 'cancel', atMs: 1, requestId: requestIdOf(2) });
    expect(cancelled.counts.irreversible).toBe(0);
  });

  test.each([true, false])('the policy changes whether its request is irreversible (%s)', (before) => {
    const first = requestRecord(1, null, { assessment: { ...reversible, reversible: before } });
    const request = { rule: 'new', reason: '', reviewers: [], assessment: before ? irreversible : reversible };
    const changed = apply(emptyLedger(1), open(first), {
      kind: 'updateTerms',
      atMs: 1,
      requestId: requestIdOf(1),
      terms: first.terms,
      request,
    });
    expect(changed.counts.irreversible).toBe(before ? 1 : 0);
    expect(apply(changed, { kind: 'cancel', atMs: 2, requestId: requestIdOf(1) }).counts.irreversible).toBe(0);
  });
});

test('an edit that a grant allows uses the grant', () => {
  const grant = { grantId: 'grant-1', tool: 'pay', approved: true, scope: { kind: 'tool' }, usesLeft: 1 } as const;
  const ledger = apply({ ...emptyLedger(1), grants: [grant] }, open(requestRecord(1)));
  const edit: CheckedEdit = { arguments: {}, digest: digestOf(9), reversible: true, grantId: 'grant-1' };
  expect(apply(ledger, decide(1, {}, edit)).grants).toEqual([]);
});

test('the request for an edit whose check took long starts when it is opened', () => {
  const first = requestRecord(1, 1_000);
  const successor = successorOf(2, 1, { requestedAt: iso(90_000), deadline: iso(91_000) });
  const edit = editInto({ ...successor, deadlineMs: 91_000 });
  const { ledger, entries } = reduce(
    apply(emptyLedger(1), open(first)),
    decide(1, { reviewerId: 'reviewer-2' }, edit, 900),
  );
  expect(entries.find(({ kind }) => kind === 'opened')).toMatchObject({ at: iso(90_000) });
  expect(ledger.settled.map(({ settlement }) => [settlement.outcome, settlement.settledAt])).toEqual([
    ['superseded', iso(900)],
    ['approved', iso(90_000)],
  ]);
});

test('answers that settle nothing are bounded', () => {
  const terms = {
    veto: false,
    named: true,
    requirements: [{ layer: 'run', reviewers: [], quorum: 2, oneOfEach: [], escalate: [] }],
  } as const;
  const denials = Array.from({ length: 300 }, (_, index) =>
    decide(1, { approved: false, reviewerId: `somebody-${index}` }),
  );
  const ledger = apply(emptyLedger(1), open(requestRecord(1, null, {}, terms)), ...denials);
  expect(ledger.open[0]!.votes).toHaveLength(100);
  const { receipt } = reduce(ledger, denials.at(-1)!);
  expect(receipt).toMatchObject({ accepted: false, code: 'rate_limited' });
  const approved = apply(ledger, decide(1, { reviewerId: 'ann' }), decide(1, { reviewerId: 'bob' }));
  expect(approved.open).toEqual([]);
});

test('what the author of an edit saw is recorded with the request that was shown, not with its successor', () => {
  const viewed = { channel: 'cli', card: 'c'.repeat(64) };
  const asked = apply(emptyLedger(1), open(requestRecord(1)));
  const successor = { ...successorOf(2, 1), terms: { ...successorOf(2, 1).terms, onTimeout: 'allow' as const } };
  const { ledger, entries } = reduce(asked, decide(1, { reviewerId: 'reviewer-2', viewed }, editInto(successor)));
  expect(entries.map(({ kind, requestId, viewed: seen }) => [kind, requestId, seen])).toEqual([
    ['settled', requestIdOf(1), viewed],
    ['opened', requestIdOf(2), undefined],
    ['settled', requestIdOf(2), undefined],
  ]);
  expect(ledger.settled.map(({ settlement }) => settlement.viewed)).toEqual([viewed, undefined]);
});
