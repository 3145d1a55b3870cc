import { defaultAssessment } from '../../../src/core/assess/assessment.ts';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { OutcomeName } from '../../../src/core/ledger/approval.ts';
import type { ParsedDecision } from '../../../src/core/messages/decision.ts';
import { projectJournal } from '../../../src/events/journal.ts';
import type { JournalEntry } from '../../../src/core/ledger/journal-entry.ts';
import type { Ledger, LedgerCommand } from '../../../src/core/ledger/ledger.ts';
import { emptyLedger, requestOf, reduce, settledKept } from '../../../src/core/ledger/ledger.ts';
import type { ProblemCode } from '../../../src/core/base/problem.ts';
import { askRuling, requestRecord, claimedBy, digestOf, requestIdOf } from '../../support/record-request.ts';

const open = (number: number, deadlineMs: number | null = null): LedgerCommand => ({
  kind: 'open',
  atMs: 0,
  record: requestRecord(number, deadlineMs),
  ruling: askRuling,
});
const decide = (number: number, fields: Partial<ParsedDecision> = {}, atMs = 0): LedgerCommand => ({
  kind: 'decide',
  atMs,
  decision: { requestId: requestIdOf(number), approved: true, ...fields },
  voter: claimedBy(fields.reviewerId),
});

function reduceAll(
  commands: LedgerCommand[],
  ledger: Ledger = emptyLedger(1),
): { ledger: Ledger; entries: JournalEntry[] } {
  const entries: JournalEntry[] = [];
  for (const command of commands) {
    const reduction = reduce(ledger, command);
    ({ ledger } = reduction);
    entries.push(...reduction.entries);
  }
  return { ledger, entries };
}

describe('one decision', () => {
  const deadlineMs = 1_000;
  const retried = { decisionId: 'd', reviewerId: 'ann', reason: 'fine' };
  test.each<[string, LedgerCommand[], LedgerCommand, object]>([
    ['in time', [open(1, deadlineMs)], decide(1, {}, 999), { accepted: true, outcome: 'approved' }],
    ['at the deadline', [open(1, deadlineMs)], decide(1, {}, 1_000), { accepted: true, outcome: 'approved' }],
    ['a millisecond late', [open(1, deadlineMs)], decide(1, {}, 1_001), { accepted: false, code: 'expired' }],
    ['without a deadline', [open(1)], decide(1, {}, 1e15), { accepted: true, outcome: 'approved' }],
    ['that denies', [open(1)], decide(1, { approved: false }), { accepted: true, outcome: 'denied' }],
    ['of an unknown id', [open(1)], decide(2), { accepted: false, code: 'unknown_request' }],
    ['before its request', [], decide(1), { accepted: false, code: 'unknown_request' }],
    ['with its digest', [open(1)], decide(1, { digest: digestOf(1) }), { accepted: true, outcome: 'approved' }],
    [
      'with another digest',
      [open(1)],
      decide(1, { digest: digestOf(2) }),
      { accepted: false, code: 'digest_mismatch' },
    ],
    [
      'after another',
      [open(1), decide(1, { approved: false, reviewerId: 'ann' })],
      decide(1),
      { accepted: false, code: 'already_settled', outcome: 'denied', settledBy: 'ann' },
    ],
    [
      'again, as it was',
      [open(1), decide(1, retried)],
      decide(1, retried, 9e9),
      { accepted: true, outcome: 'approved' },
    ],
    ['again, without an id', [open(1), decide(1)], decide(1), { accepted: false, code: 'already_settled' }],
    [
      'again, saying something else',
      [open(1), decide(1, retried)],
      decide(1, { ...retried, approved: false }),
      { accepted: false, code: 'already_settled', outcome: 'approved' },
    ],
    ['after expiry', [open(1), { kind: 'expire', atMs: 5, requestId: requestIdOf(1) }], decide(1), { code: 'expired' }],
    [
      'after the end',
      [open(1), { kind: 'cancel', atMs: 5, requestId: requestIdOf(1) }],
      decide(1),
      { code: 'run_closed' },
    ],
  ])('%s', (_name, before, command, receipt) => {
    const { ledger } = reduceAll(before);
    const reduction = reduce(ledger, command);
    expect(reduction.receipt).toMatchObject(receipt);
    // A command that is refused or repeated changes nothing (I4).
    if (ledger.open.length === reduction.ledger.open.length) expect(reduction).toMatchObject({ ledger, entries: [] });
  });
});

describe('what people call a reviewer', () => {
  const named = { decisionId: 'd', reviewerId: 'u-17', reviewerName: 'Ann Lee' };

  test('is kept beside the id, in the settlement and in the journal', () => {
    const { ledger, entries } = reduceAll([open(1), decide(1, named)]);
    const who = { reviewerId: 'u-17', reviewerName: 'Ann Lee', identity: 'claimed' };
    expect(ledger.settled[0]!.settlement).toMatchObject(who);
    expect(entries.at(-1)).toMatchObject({ kind: 'settled', ...who });
  });

  test('decides nothing: a retry under another name is a retry, and a name without an id is nobody', () => {
    const { ledger } = reduceAll([open(1), decide(1, named)]);
    const again = reduce(ledger, decide(1, { ...named, reviewerName: 'Ann Lee-Smith' }));
    expect(again).toMatchObject({ receipt: { accepted: true, outcome: 'approved' }, entries: [] });
    const { entries } = reduceAll([open(1), decide(1, { reviewerName: 'Ann Lee' })]);
    expect(entries.at(-1)).toMatchObject({ kind: 'settled', identity: 'anonymous' });
    expect(entries.at(-1)!.reviewerName).toBeUndefined();
  });
});

describe('what the ledger keeps is bounded', () => {
  const count = 1_200;
  const { ledger } = reduceAll(
    Array.from({ length: count }, (_, number) => [open(number), decide(number, { approved: false })]).flat(),
  );

  test('the latest settled requests in full, older ones by outcome, the oldest not at all', () => {
    expect(ledger.settled.map(({ callId }) => callId)).toEqual(
      Array.from({ length: settledKept }, (_, index) => `1.${count - settledKept + index}`),
    );
    expect(ledger.past).toHaveLength(1_000);
    expect(reduce(ledger, decide(count - 1)).receipt).toMatchObject({ code: 'already_settled' });
    expect(reduce(ledger, decide(count - settledKept - 1)).receipt).toMatchObject({ code: 'already_settled' });
    expect(reduce(ledger, decide(0)).receipt).toMatchObject({ code: 'unknown_request' });
  });

  test('200 outcomes, and counts of all', () => {
    expect(ledger.outcomes).toHaveLength(200);
    expect(ledger.counts).toEqual({ calls: count, asks: count, denials: count, irreversible: 0 });
  });

  test('50 refusals in the ledger and in the journal, then only a count', () => {
    const refusals = Array.from({ length: 70 }, (_, size): LedgerCommand => ({
      kind: 'refuse',
      atMs: 0,
      refused: { code: 'undecodable', size },
    }));
    const flooded = reduceAll(refusals);
    expect(flooded.ledger.refused.total).toBe(70);
    expect(flooded.ledger.refused.last.map(({ size }) => size)).toEqual(
      Array.from({ length: 50 }, (_, each) => 20 + each),
    );
    expect(flooded.entries).toHaveLength(50);
  });

  test.each([
    [3_900, 'all'],
    [4_100, 'part'],
  ])('arguments of a settled request, of %i characters: %s', (length, shown) => {
    const large = requestRecord(1, null, { arguments: { text: 'x'.repeat(length) } });
    const { ledger: after } = reduceAll([{ kind: 'open', atMs: 0, record: large, ruling: askRuling }, decide(1)]);
    expect(requestOf(after, requestIdOf(1))?.request).toMatchObject({
      shown,
      arguments: shown === 'all' ? large.request.arguments : {},
    });
  });
});

/** The same rules, written as simply as possible. */
class NaiveLedger {
  readonly requests = new Map<
    number,
    { deadlineMs: number | null; outcome?: OutcomeName; decision?: ParsedDecision }
  >();
  refused = 0;

  decide(number: number, atMs: number, decision: ParsedDecision): ProblemCode | 'accepted' {
    const request = this.requests.get(number);
    if (request === undefined) return 'unknown_request';
    const { outcome, deadlineMs } = request;
    if (outcome !== undefined) {
      const again = decision.decisionId !== undefined && JSON.stringify(request.decision) === JSON.stringify(decision);
      if (again) return 'accepted';
      return outcome === 'expired' ? 'expired' : outcome === 'cancelled' ? 'run_closed' : 'already_settled';
    }
    if (deadlineMs !== null && atMs > deadlineMs) return 'expired';
    if (decision.digest !== undefined && decision.digest !== digestOf(number)) return 'digest_mismatch';
    request.outcome = decision.approved ? 'approved' : 'denied';
    request.decision = decision;
    return 'accepted';
  }

  lapse(number: number, outcome: OutcomeName): void {
    const request = this.requests.get(number);
    if (request !== undefined) request.outcome ??= outcome;
  }
}

const number = fc.nat(5);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('open' as const), deadlineMs: fc.option(fc.nat(40)) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('decide' as const),
      number,
      approved: fc.boolean(),
      digest: fc.constantFrom(undefined, undefined, digestOf(0), digestOf(1)),
      decisionId: fc.constantFrom(undefined, 'one', 'two'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('expire' as const, 'cancel' as const), number }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refuse' as const) }) },
);

describe('for any order of commands', () => {
  test('the ledger answers as the naive one does, settles each request once, and the journal records everything', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const naive = new NaiveLedger();
        let ledger = emptyLedger(1);
        const entries: JournalEntry[] = [];
        const apply = (command: LedgerCommand) => {
          const before = JSON.stringify(ledger);
          const reduction = reduce(ledger, command);
          // Pure: the argument is not mutated.
          expect(JSON.stringify(ledger)).toBe(before);
          ({ ledger } = reduction);
          entries.push(...reduction.entries);
          return reduction.receipt;
        };
        for (const [atMs, each] of steps.entries()) {
          if (each.kind === 'open') {
            const next = naive.requests.size;
            const deadlineMs = each.deadlineMs === null ? null : atMs + each.deadlineMs;
            naive.requests.set(next, { deadlineMs });
            const assessment = { ...defaultAssessment('write'), reversible: next % 2 === 0 };
            apply({ kind: 'open', atMs, record: requestRecord(next, deadlineMs, { assessment }), ruling: askRuling });
          } else if (each.kind === 'decide') {
            const { approved, digest, decisionId } = each;
            const decision = { requestId: requestIdOf(each.number), approved, digest, decisionId };
            const receipt = apply({ kind: 'decide', atMs, decision });
            expect(receipt!.code ?? 'accepted').toBe(naive.decide(each.number, atMs, decision));
            expect(receipt!.accepted).toBe(receipt!.code === undefined);
          } else if (each.kind === 'refuse') {
            naive.refused++;
            apply({ kind: 'refuse', atMs, refused: { code: 'undecodable', size: 1 } });
          } else {
            naive.lapse(each.number, each.kind === 'expire' ? 'expired' : 'cancelled');
            apply({ kind: each.kind, atMs, requestId: requestIdOf(each.number) });
          }
        }
        const outcomes = [...naive.requests.values()].map(({ outcome }) => outcome);
        const own = [...naive.requests.keys()].map((each) => requestOf(ledger, requestIdOf(each))!);
        expect(own.map((each) => ('settlement' in each ? each.settlement.outcome : undefined))).toEqual(outcomes);
        expect(ledger.open).toHaveLength(outcomes.filter((outcome) => outcome === undefined).length);
        expect(ledger.counts).toEqual({
          calls: outcomes.length,
          asks: outcomes.length,
          denials: outcomes.filter((outcome) => outcome === 'denied').length,
          // Odd ones are irreversible; those that will not run no longer count.
          irreversible: [...naive.requests].filter(
            ([number, { outcome }]) => number % 2 === 1 && (outcome === undefined || outcome === 'approved'),
          ).length,
        });
        expect(ledger.refused.total).toBe(naive.refused);
        expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
        const projection = projectJournal(entries);
        expect(projection.requests.map(({ outcome }) => outcome)).toEqual(outcomes);
        expect(projection.outcomes).toEqual(ledger.outcomes);
        expect(projection.refusals).toBe(naive.refused);
      }),
    );
  });

  test('after the first valid decision, order and number of messages do not matter', () => {
    const late = fc.record({
      approved: fc.boolean(),
      reviewerId: fc.constantFrom('ann', 'bob'),
      decisionId: fc.uuid(),
    });
    fc.assert(
      fc.property(fc.boolean(), fc.array(late), fc.integer(), (approved, decisions, atMs) => {
        const first = reduceAll([open(1), open(2), decide(1, { approved })]);
        const after = reduceAll(
          decisions.map((each) => decide(1, each, atMs)),
          first.ledger,
        );
        expect(after).toEqual({ ledger: first.ledger, entries: [] });
      }),
    );
  });

  test('decisions on different requests settle them independently of their order (I14)', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7], { minLength: 8 }),
        fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
        (order, approvals) => {
          const requests = Array.from({ length: 8 }, (_, each) => open(each));
          const decisions = order.map((each) => decide(each, { approved: approvals[each]! }));
          const { ledger } = reduceAll([...requests, ...decisions]);
          const outcomes = requests.map((_, each) => requestOf(ledger, requestIdOf(each)));
          expect(outcomes).toMatchObject(
            approvals.map((approved) => ({ settlement: { outcome: approved ? 'approved' : 'denied' } })),
          );
        },
      ),
    );
  });
});

test('the end of a tool is recorded with its outcome, its arguments count for good, and nothing else changes', () => {
  const { ledger } = reduceAll([open(1), open(2), decide(1)]);
  expect(ledger.outcomes).toMatchObject([{ callId: '1.1', outcome: 'approved', ran: 'pending' }]);
  const { ledger: after, entries } = reduce(ledger, { kind: 'ran', atMs: 7, callId: '1.1', ran: 'unknown' });
  const held = ledger.sums!.held.filter(({ callId }) => callId !== '1.1');
  expect(held).toHaveLength(1);
  const outcomes = [{ ...ledger.outcomes[0]!, ran: 'unknown' }];
  expect(after).toEqual({ ...ledger, seq: ledger.seq + 1, outcomes, sums: { ...ledger.sums, held } });
  expect(entries).toMatchObject([{ kind: 'ran', callId: '1.1', ran: 'unknown' }]);
});

test('a message of the user has an entry without its text, and changes nothing else', () => {
  const before = emptyLedger(1);
  const voter = { reviewerId: 'carl', identity: 'claimed' } as const;
  const { ledger, entries, receipt } = reduce(before, { kind: 'message', atMs: 7, digest: 'd', voter, reason: 'why' });
  expect(ledger).toEqual({ ...before, seq: 1 });
  expect(receipt).toBeUndefined();
  expect(entries).toEqual([
    {
      seq: 1,
      at: '1970-01-01T00:00:00.007Z',
      engine: 1,
      kind: 'message',
      digest: 'd',
      reason: 'why',
      reviewerId: 'carl',
      identity: 'claimed',
    },
  ]);
});
