import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../src/contract.ts';
import { projectJournal } from '../../src/events/journal.ts';
import { accepted, at, bookOf as madeBook, digest, ids, opened, sent, settled, startMs } from './made-book.ts';
import type { RunBook } from './run-book.ts';
import type { SentChange } from './sent-change.ts';
import { verifyBook } from './verify.ts';

/**
 * Three calls of one turn: one was approved and ran, one was denied, one got no answer. This record is valid; each test
 * breaks one thing.
 */

const goodEntries: JournalEntry[] = [
  opened(1, 0),
  opened(2, 1),
  opened(3, 2),
  settled(4, 0, 'approved', 5),
  settled(5, 1, 'denied', 6),
  { engine: 1, seq: 6, kind: 'ran', at: at(7), callId: '1.1', ran: 'yes' },
  settled(7, 2, 'expired', 61),
];

const goodSent = [sent(0, accepted(0, 'approved')), sent(1, { kind: 'recorded' })];

const told = ['wrote run-000 1.1', 'Denied: User denied', 'Denied: no decision within 1m'];
const bookOf = (entries: JournalEntry[], more: Partial<RunBook> = {}): RunBook =>
  madeBook(entries, [['note', 'note', 'note']], { told, sent: goodSent, ...more });

const good = bookOf(goodEntries);
const line = good.lines[0]!;
const terminated: Partial<RunBook> = {
  status: 'TERMINATED',
  plan: { ...good.plan, end: { kind: 'terminate', turn: 0, afterMs: 0 } },
};

test('accepts a valid record', () => {
  expect(verifyBook(good)).toEqual([]);
});

test('accepts a run that was terminated before it could record everything', () => {
  const entries = goodEntries.slice(0, 4);
  const projection = projectJournal(entries, true);
  const open = Object.fromEntries(
    Object.entries(good.details).map(([id, own]) => [id, id === ids[0] ? own : { ...own!, settled: undefined }]),
  ) as RunBook['details'];
  const { result: _none, ...book } = bookOf(entries, {
    ...terminated,
    projection,
    details: open,
    ledger: { ...good.ledger, open: 2 },
    told: [],
    sent: [goodSent[0]!],
  });
  expect(verifyBook(book)).toEqual([]);
  const [, extended] = ids;
  const later = { ...book, details: { ...open, [extended]: { ...open[extended]!, deadline: at(70) } } };
  expect(verifyBook(later)).toEqual([]);
  expect(verifyBook({ ...later, plan: good.plan, status: 'COMPLETED' })).not.toEqual([]);
});

const denial = (seconds: number): SentChange => ({
  run: 'run-000',
  sentAtMs: startMs + seconds * 1_000,
  change: { afterMs: 0, via: 'signal', sender: 0, tool: 'note', action: 'deny', messageId: 'm' },
});
const without = (seq: number): RunBook => bookOf(goodEntries.filter((each) => each.seq !== seq));
const twiceSettled = [...goodEntries, { ...settled(8, 1, 'denied', 8), outcome: 'approved' as const }];
const changed = (entries: JournalEntry[], more: Partial<RunBook> = {}): RunBook => ({ ...bookOf(entries), ...more });
const outcomes = good.projection.outcomes;

const broken: [string, RunBook, RegExp][] = [
  ['it failed', { ...good, status: 'FAILED', failure: 'no luck' }, /comes to its end: it is FAILED: no luck/],
  ['it still runs', { ...good, status: 'RUNNING' }, /comes to its end/],
  ['it cannot be replayed', { ...good, unread: 'Nondeterminism error' }, /can be replayed.*Nondeterminism error/],
  ['a request was settled twice', bookOf(twiceSettled), /exactly one outcome.* opened 1 and settled 2 times/],
  ['a request was opened twice', bookOf([...goodEntries, opened(8, 0)]), /exactly one outcome.* opened 2/],
  ['a request was never settled', without(5), /exactly one outcome.* has no outcome/],
  ['two entries have one number', bookOf([...goodEntries, settled(6, 1, 'denied', 9)]), /two entries are number 6/],
  ['an entry is missing', without(6), /no gaps: entries 6 to 6/],
  [
    'its audit was changed',
    {
      ...good,
      audit: { ...good.audit, findings: [{ line: 4, kind: 'edited', message: 'the line is not what it was' }] },
    },
    /audit is complete and verifies: line 4 of its audit: edited: the line is not what it was/,
  ],
  ['its audit lacks an entry', { ...good, audit: { ...good.audit, entries: 1 } }, /its audit has 1 entries, and its/],
  ['its audit is not whole', { ...good, audit: { ...good.audit, notes: ['no head'] } }, /and verifies: no head/],
  [
    'a call has no outcome',
    { ...good, projection: { ...good.projection, outcomes: outcomes.slice(1) } },
    /each call is answered: call 1.1/,
  ],
  ['an approved call ran twice', { ...good, lines: [line, line] }, /ran once.* ran 2 times and is said to be 'yes'/],
  ['an approved call did not run', { ...good, lines: [] }, /ran once.* ran 0 times and is said to be 'yes'/],
  [
    'a denied call ran',
    { ...good, lines: [line, { ...line, callId: '1.2', text: 'run-000 1.2' }] },
    /1.2 is denied and ran 1 times/,
  ],
  [
    'an expired call ran',
    { ...good, lines: [line, { ...line, callId: '1.3', text: 'run-000 1.3' }] },
    /1.3 is expired and ran 1 times/,
  ],
  [
    'something ran that nobody knows',
    { ...good, lines: [line, { ...line, callId: '9.1' }] },
    /9.1 ran 1 times without an outcome/,
  ],
  [
    'something else ran than what was approved',
    { ...good, lines: [{ ...line, text: 'run-000 1.2' }] },
    /1.1 ran as note 'run-000 1.2'/,
  ],
  [
    'it is not known whether a call ran, and it ran twice',
    changed(
      goodEntries.map((each) => (each.seq === 6 ? { ...each, ran: 'unknown' as const } : each)),
      { lines: [line, line] },
    ),
    /ran 2 times and is said to be 'unknown'/,
  ],
  ['a call is pending in a run that is over', without(6), /call 1.1 is still pending/],
  [
    'the ledger has another outcome',
    {
      ...good,
      ledger: { ...good.ledger, outcomes: outcomes.map((each) => ({ ...each, outcome: 'denied' as const })) },
    },
    /history says.* not in history/,
  ],
  ['the result lacks a call', { ...good, result: outcomes.slice(1) }, /history says.* not in the result/],
  ['the run does not know a request', { ...good, details: {} }, /the run does not know request/],
  [
    'the run has another reviewer',
    {
      ...good,
      details: {
        ...good.details,
        [ids[0]]: { ...good.details[ids[0]]!, settled: { ...good.details[ids[0]]!.settled!, reviewerId: 'eve' } },
      },
    },
    /reviewerId is ann in history, eve in the run/,
  ],
  ['a request is open in a run that is over', { ...good, ledger: { ...good.ledger, open: 1 } }, /1 requests are open/],
  ['refusals differ', { ...good, ledger: { ...good.ledger, refused: 3 } }, /0 refusals in history, 3 in the ledger/],
  ['nobody decided', { ...good, sent: [goodSent[1]!] }, /a decision settled it.* was decided by nobody/],
  [
    'a decision for another request decided',
    { ...good, sent: [{ ...goodSent[0]!, requestId: ids[2] }, goodSent[1]!] },
    /was decided by nobody/,
  ],
  [
    'a bad decision decided',
    { ...good, sent: [sent(0, { kind: 'recorded' }, { fault: 'misshapen' }), goodSent[1]!] },
    /was decided by nobody/,
  ],
  [
    'a decision counted after the deadline',
    changed(goodEntries.map((each) => (each.seq === 4 ? { ...each, at: at(61) } : each))),
    /settled at .*, after its deadline/,
  ],
  [
    'a decision sent after the deadline counted',
    { ...good, sent: [sent(0, accepted(0, 'approved'), {}, 62), goodSent[1]!] },
    /sent after its deadline/,
  ],
  [
    'a request expired early',
    changed(goodEntries.map((each) => (each.seq === 7 ? { ...each, at: at(59) } : each))),
    /expired, ended at/,
  ],
  [
    'a request was cancelled by nobody',
    bookOf(goodEntries.map((each) => (each.seq === 7 ? { ...each, outcome: 'cancelled' as const } : each))),
    /was cancelled by nobody/,
  ],
  [
    'a later decision won',
    { ...good, sent: [...goodSent, sent(0, { kind: 'recorded' }, { approved: false, decisionId: 'early' }, 1)] },
    /first decision wins.*early came before d-0/,
  ],
  [
    'the loser was told that they won',
    { ...good, sent: [...goodSent, sent(0, accepted(0, 'denied'), { approved: false, decisionId: 'loser' })] },
    /learns the truth.*loser by update was told 'denied'/,
  ],
  [
    'a good decision was refused for no reason',
    { ...good, sent: [...goodSent, sent(1, { kind: 'refused', code: 'unknown_request' }, { decisionId: 'lost' })] },
    /lost by update was refused as unknown_request/,
  ],
  [
    'a bad decision was accepted',
    { ...good, sent: [...goodSent, sent(1, accepted(1, 'denied'), { fault: 'digest' })] },
    /was told 'denied'/,
  ],
  [
    'an acknowledged decision was lost',
    { ...good, sent: [...goodSent, sent(2, { kind: 'recorded' })] },
    /no acknowledged decision is lost.* d-2 was acknowledged in time, and the request is expired/,
  ],
  [
    'a request was superseded by a policy that nobody sent',
    bookOf(
      goodEntries.map((each) =>
        each.seq === 7 ? { ...each, outcome: 'superseded' as const, by: 'policy' as const } : each,
      ),
    ),
    /was superseded by policy, runs: false/,
  ],
  [
    'a call was allowed by a policy that nobody sent',
    bookOf([
      ...goodEntries,
      { engine: 1, toolName: 'note', seq: 8, kind: 'ruling', at: at(9), callId: '2.1', outcome: 'allowed' },
    ]),
    /2.1 of note is allowed by a policy that nobody sent/,
  ],
  [
    'an acknowledged decision gave way to a policy that came later',
    bookOf(
      goodEntries.map((each) =>
        each.seq === 7 ? { ...each, outcome: 'superseded' as const, by: 'policy' as const } : each,
      ),
      { sent: [...goodSent, sent(2, { kind: 'recorded' })], changes: [denial(30)] },
    ),
    /d-2 was acknowledged in time, and the request is superseded/,
  ],
  [
    'other arguments ran than a reviewer wrote',
    {
      ...good,
      details: {
        ...good.details,
        [ids[0]]: {
          ...good.details[ids[0]]!,
          settled: { ...good.details[ids[0]]!.settled!, edited: { arguments: { text: 'edited' }, digest } },
        },
      },
    },
    /1.1 ran as note 'run-000 1.1'/,
  ],
  [
    'bad decisions were not counted',
    { ...good, sent: [...goodSent, sent(2, { kind: 'recorded' }, { fault: 'unknown' })] },
    /1 bad or late decisions and 0 such controls were recorded, the run counted 0/,
  ],
  [
    'the model was told of an expiry as of a denial',
    { ...good, told: [...good.told.slice(0, 2), 'Denied: User denied'] },
    /told the truth: call 1.3, expired, was told as/,
  ],
  [
    'the model was told that a denied call ran',
    { ...good, told: ['wrote run-000 1.1', 'wrote run-000 1.2'] },
    /call 1.2, denied, was told as/,
  ],
];

describe('every problem is found', () => {
  test.each(broken)('%s', (_name, book, sentence) => {
    const found = verifyBook(book).map(({ rule, what }) => `${rule}: ${what}`);
    expect(found).toEqual(expect.arrayContaining([expect.stringMatching(sentence)]));
  });
});
