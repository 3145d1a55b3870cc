import { expect, test } from 'vitest';
import fc from 'fast-check';
import { tally } from '../../../src/core/people/entitlement.ts';
import { projectJournal } from '../../../src/events/journal.ts';
import type { JournalEntry } from '../../../src/core/ledger/journal-entry.ts';
import { emptyLedger, requestOf, reduce, type Ledger } from '../../../src/core/ledger/ledger.ts';
import { engine } from '../../../src/core/policy/ruling.ts';
import { panelOf } from '../../../src/core/ledger/panel.ts';
import { askRuling, claimedBy, requestIdOf, requestRecord } from '../../support/record-request.ts';
import {
  recordedAs,
  lifecycleDirectories as directories,
  lifecycleMessage,
  sent,
  targets,
} from './lifecycle-messages.ts';

/** Laws of the ledger for votes, grants, delegations and extensions. For single decisions, see ledger.test.ts. */

const hourMs = 3_600_000;
const requests = targets.map((to, number) => requestRecord(number, hourMs, { arguments: { to, amount: 1 } }).request);

function opened(version = 1): { ledger: Ledger; entries: JournalEntry[] } {
  let ledger = emptyLedger(version);
  const entries: JournalEntry[] = [];
  for (const [index, request] of requests.entries()) {
    const reduction = reduce(ledger, { kind: 'open', atMs: 0, ...recordedAs(request, `1.${index}`) }, directories);
    ({ ledger } = reduction);
    entries.push(...reduction.entries);
  }
  return { ledger, entries };
}

test('for any messages: settled once, by somebody entitled, recorded in the journal, without mutation', () => {
  fc.assert(
    fc.property(fc.array(lifecycleMessage, { maxLength: 40 }), fc.nat(60), (messages, expiresAfter) => {
      let { ledger } = opened();
      const { entries } = opened();
      for (const [index, message] of messages.entries()) {
        const before = JSON.stringify(ledger);
        const { command } = sent(message, requests, index);
        const reduction = reduce(ledger, command, directories);
        expect(JSON.stringify(ledger)).toBe(before);
        const { receipt } = reduction;
        // I4: a refused message changes nothing.
        if (receipt?.code !== undefined) expect(reduction).toMatchObject({ ledger, entries: [] });
        // I14: the receipt names everything that it settled.
        const gone = ledger.open.filter((each) => requestOf(reduction.ledger, each.request.requestId)! !== each);
        const closed = gone.filter((each) => 'settlement' in requestOf(reduction.ledger, each.request.requestId)!);
        const named = [receipt?.requestId, ...(receipt?.settled ?? []).map(({ requestId }) => requestId)];
        expect(named).toEqual(expect.arrayContaining(closed.map((each) => each.request.requestId)));
        // Plain JSON: continue-as-new carries exactly this (I11).
        ledger = JSON.parse(JSON.stringify(reduction.ledger)) as Ledger;
        entries.push(...reduction.entries);
        if (index === expiresAfter) {
          const lapsed = reduce(ledger, { kind: 'expire', atMs: 2 * hourMs, requestId: requests[0]!.requestId });
          ({ ledger } = lapsed);
          entries.push(...lapsed.entries);
        }
      }
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
      for (const { requestId } of requests) {
        expect(entries.filter((each) => each.kind === 'settled' && each.requestId === requestId).length).toBeLessThan(
          2,
        );
        const found = requestOf(ledger, requestId)!;
        if (!('settlement' in found)) continue;
        const { outcome, runs, reviewerId, by } = found.settlement;
        const voted = tally(panelOf(found, directories, 0), found.votes).outcome;
        if (outcome === 'approved' || outcome === 'denied') expect(voted).toBe(outcome);
        if (runs) expect(['approved', 'superseded']).toContain(outcome);
        // I15: a settlement by time names no reviewer.
        if (outcome === 'expired' || outcome === 'superseded') expect(reviewerId).toBeUndefined();
        if (outcome === 'superseded') expect(by).toBe('grant');
      }
      const projection = projectJournal(entries);
      expect(projection.outcomes).toEqual(ledger.outcomes);
      expect(projection.gaps).toEqual([]);
    }),
  );
});

test('the same message again, under its id, changes nothing and returns a receipt', () => {
  fc.assert(
    fc.property(fc.array(lifecycleMessage, { maxLength: 20 }), (messages) => {
      let { ledger } = opened();
      for (const [index, message] of messages.entries()) {
        const { command } = sent(message, requests, index);
        if (command.kind !== 'decide') continue;
        const decision = { ...command.decision, decisionId: `d${index}` };
        const first = reduce(ledger, { ...command, decision }, directories);
        const again = reduce(first.ledger, { ...command, decision }, directories);
        expect(again.ledger).toEqual(first.ledger);
        if (first.receipt!.accepted) expect(again.receipt).toMatchObject({ accepted: true });
        ({ ledger } = first);
      }
    }),
  );
});

test('an id that another person used first is still an id of this one', () => {
  const terms = {
    requirements: [{ layer: 'run' as const, reviewers: [], quorum: 3, oneOfEach: [], escalate: [] }],
    veto: false,
  };
  let ledger = reduce(emptyLedger(engine), {
    kind: 'open',
    atMs: 0,
    record: requestRecord(1, hourMs, {}, terms),
    ruling: askRuling,
  }).ledger;
  const answer = (reviewerId: string, approved: boolean) => {
    const decision = { requestId: requestIdOf(1), approved, decisionId: 'x' };
    return reduce(ledger, { kind: 'decide', atMs: 1, decision, voter: claimedBy(reviewerId) });
  };
  for (const reviewerId of ['bob', 'ann']) ledger = answer(reviewerId, true).ledger;
  expect(answer('ann', true)).toMatchObject({ ledger, entries: [], receipt: { accepted: true } });
  expect(answer('ann', false)).toMatchObject({ ledger, receipt: { accepted: false, code: 'already_settled' } });
});

test('under one id, one answer of a person counts', () => {
  fc.assert(
    fc.property(fc.array(lifecycleMessage, { maxLength: 20 }), (messages) => {
      let { ledger } = opened(engine);
      for (const [index, message] of messages.entries()) {
        const { command } = sent(message, requests, index);
        if (command.kind !== 'decide' || command.voter?.reviewerId === undefined) continue;
        const { requestId, reviewerId, approved } = command.decision;
        const first = reduce(
          ledger,
          { ...command, decision: { ...command.decision, decisionId: `d${index}` } },
          directories,
        );
        ({ ledger } = first);
        if (!first.receipt!.accepted) continue;
        const other = { requestId, reviewerId, approved: !approved, decisionId: `d${index}` };
        const second = reduce(ledger, { ...command, decision: other }, directories);
        expect(second).toMatchObject({ ledger, entries: [], receipt: { accepted: false, code: 'already_settled' } });
      }
    }),
  );
});
