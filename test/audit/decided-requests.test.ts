import { expect, test } from 'vitest';
import { decidedCsv, decidedRequests, type DecidedRequest } from '../../src/audit/decided-requests.ts';
import type { JournalEntry } from '../../src/core/ledger/journal-entry.ts';

const startMs = Date.parse('2030-01-01T00:00:00.000Z');
const at = (ms: number): string => new Date(startMs + ms).toISOString();

/** Numbers the entries. */
function journal(...entries: Partial<JournalEntry>[]): JournalEntry[] {
  return entries.map((entry, index) => ({ seq: index + 1, kind: 'ruling', at: at(0), engine: 1, ...entry }));
}

const opened = (requestId: string, more: Partial<JournalEntry> = {}): Partial<JournalEntry> => ({
  kind: 'opened',
  requestId,
  callId: `call ${requestId}`,
  toolName: 'pay',
  agent: 'clerk',
  ...more,
});
const settled = (requestId: string, ms: number, more: Partial<JournalEntry>): Partial<JournalEntry> => ({
  kind: 'settled',
  requestId,
  callId: `call ${requestId}`,
  toolName: 'pay',
  at: at(ms),
  ...more,
});
const byAnn = { outcome: 'approved', identity: 'claimed', reviewerId: 'u-17' } as const;
const directory = { people: { ann: { name: 'Ann Lee', also: ['u-17'], groups: [], keys: [] } } };

const decided = (entries: JournalEntry[], readerId = 'ann', sinceMs = startMs): DecidedRequest[] =>
  decidedRequests([{ workflowId: 'run-1', entries, directory }], { sinceMs, readerId });

test('a decision has its people, its reason, its time, and what became of the call', () => {
  const entries = journal(opened('a'), settled('a', 2_000, { ...byAnn, reason: 'fine', runs: true }), {
    kind: 'ran',
    callId: 'call a',
    ran: 'yes',
    at: at(2_500),
  });
  expect(decided(entries)).toEqual([
    {
      workflowId: 'run-1',
      requestId: 'a',
      toolName: 'pay',
      agent: 'clerk',
      outcome: 'approved',
      reviewers: ['Ann Lee (u-17)'],
      mine: true,
      reason: 'fine',
      openedAt: at(0),
      settledAt: at(2_000),
      tookMs: 2_000,
      ran: 'yes',
    },
  ]);
  expect(decided(entries, 'bob')[0]!.mine).toBe(false);
});

test('the votes of a quorum are those of all its people', () => {
  const vote = { kind: 'vote', requestId: 'a', approved: true, reviewerId: 'bob', identity: 'claimed' } as const;
  const entries = journal(opened('a'), { ...vote, at: at(1_000) }, settled('a', 2_000, byAnn));
  expect(decided(entries, 'Bob')).toMatchObject([{ reviewers: ['bob', 'Ann Lee (u-17)'], mine: true }]);
});

test('an edited request is listed once, as the one that continues it', () => {
  const entries = journal(
    opened('a'),
    settled('a', 1_000, { outcome: 'superseded', by: 'edit', byId: 'b' }),
    opened('b', { by: 'edit', byId: 'a', at: at(1_000), callId: 'call a' }),
    settled('b', 1_500, { ...byAnn, callId: 'call a' }),
  );
  expect(decided(entries)).toMatchObject([{ requestId: 'b', edited: true, tookMs: 500 }]);
});

test('the newest come first, and neither open nor earlier ones', () => {
  const entries = journal(
    opened('a'),
    opened('b'),
    opened('c'),
    opened('d'),
    settled('a', 1_000, byAnn),
    settled('b', 3_000, { outcome: 'expired' }),
    settled('c', 2_000, { outcome: 'denied', identity: 'claimed' }),
  );
  expect(decided(entries, 'ann', startMs + 1_001).map(({ requestId }) => requestId)).toEqual(['b', 'c']);
  expect(decided(entries).map(({ reviewers }) => reviewers)).toEqual([[], ['unnamed'], ['Ann Lee (u-17)']]);
});

test('a table keeps texts as they are', () => {
  const reason = '=HYPERLINK("x"), or\nmore';
  const rows = decided(journal(opened('a'), settled('a', 2_000, { ...byAnn, reason })));
  const [header, ...lines] = decidedCsv(rows).split('\n');
  expect(header).toBe('settledAt,tool,agent,outcome,reviewers,reason,edited,tookMs,ran,openedAt,requestId,workflowId');
  expect(lines.join('\n')).toContain(`"'=HYPERLINK(""x""), or\nmore",false,2000,no`);
});
