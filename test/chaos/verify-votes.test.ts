import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../src/contract.ts';
import { accepted, at, bookOf as madeBook, ids, opened, sent, settled } from './made-book.ts';
import type { RunBook } from './run-book.ts';
import type { PlannedItem, PlannedVotes } from './schedule.ts';
import type { SendAnswer, SentItem } from './sent-item.ts';
import { verifyBook } from './verify.ts';

/**
 * Two of three must approve. One call gets both approvals, one is vetoed after an approval, and one gets only one vote.
 */

const vote = (seq: number, index: number, reviewerId: string, more: Partial<JournalEntry> = {}): JournalEntry => {
  const { outcome: _outcome, runs: _runs, ...entry } = settled(seq, index, 'approved', seq);
  const decisionId = `d-${index}-${reviewerId}`;
  return { ...entry, kind: 'vote', approved: true, identity: 'verified', reviewerId, decisionId, ...more };
};
const last = (seq: number, index: number, outcome: 'approved' | 'denied', reviewerId: string): JournalEntry => ({
  ...settled(seq, index, outcome, seq),
  reviewerId,
  identity: 'verified',
  decisionId: `d-${index}-${reviewerId}`,
});
const goodEntries: JournalEntry[] = [
  opened(1, 0),
  opened(2, 1),
  opened(3, 2),
  vote(4, 0, 'ann'),
  last(5, 0, 'approved', 'bob'),
  { engine: 1, seq: 6, kind: 'ran', at: at(6), callId: '1.1', ran: 'yes' },
  vote(7, 1, 'ann'),
  last(8, 1, 'denied', 'bob'),
  vote(9, 2, 'dan'),
  settled(10, 2, 'expired', 61),
];

const kept: SendAnswer = { kind: 'receipt', receipt: { requestId: '', accepted: true, message: '' } };
const says = (
  call: number,
  reviewerId: string,
  approved: boolean,
  answer: SendAnswer = kept,
  more: Partial<PlannedItem> = {},
): SentItem => sent(call, answer, { reviewerId, approved, decisionId: `d-${call}-${reviewerId}`, ...more }, 3);
const goodSent = [
  says(0, 'ann', true),
  says(0, 'bob', true, accepted(0, 'approved')),
  says(1, 'ann', true),
  says(1, 'bob', false, accepted(1, 'denied')),
  says(2, 'dan', true),
];

const told = ['wrote run-000 1.1', 'Denied: User denied', 'Denied: no decision within 1m'];
const twoOfThree: PlannedVotes = { quorum: 2, oneOfEach: [], veto: true };
const bookOf = (entries: JournalEntry[], sends = goodSent, votes: PlannedVotes | undefined = twoOfThree): RunBook => {
  const book = madeBook(entries, [['note', 'note', 'note']], { told, sent: sends });
  const { votes: _none, ...plan } = book.plan;
  return {
    ...book,
    plan: { ...plan, reviewers: ['ann', 'bob', 'dan'], verified: true, ...(votes !== undefined && { votes }) },
  };
};
const { votes: _votes, ...planWithoutVotes } = bookOf(goodEntries).plan;
const changed = (seq: number, more: Partial<JournalEntry>): JournalEntry[] =>
  goodEntries.map((each) => (each.seq === seq ? { ...each, ...more } : each));
const problems = (book: RunBook): string[] => verifyBook(book).map(({ rule, what }) => `${rule}: ${what}`);

test('accepts a record in which all votes are right', () => {
  expect(problems(bookOf(goodEntries))).toEqual([]);
});

test('one of each: only the approvals of the named people settle the request', () => {
  const oneOfEach = { quorum: 1, oneOfEach: ['ann', 'bob'], veto: true };
  expect(problems(bookOf(goodEntries, goodSent, oneOfEach))).toEqual([]);
  const others = { quorum: 1, oneOfEach: ['ann', 'dan'], veto: true };
  expect(problems(bookOf(goodEntries, goodSent, others))).toEqual([
    expect.stringMatching(/the word of bob made it approved; its votes say wait/),
  ]);
});

test('without a veto, a denial settles the request only when enough approvals are no longer possible', () => {
  const found = problems(bookOf(goodEntries, goodSent, { ...twoOfThree, veto: false }));
  expect(found).toEqual([expect.stringMatching(/the word of bob made it denied; its votes say wait/)]);
  expect(problems(bookOf(goodEntries, goodSent, { quorum: 3, oneOfEach: [], veto: false }))).toEqual([
    expect.stringMatching(/made it approved; its votes say wait/),
  ]);
});

describe('every problem with votes is found', () => {
  test.each<[string, RunBook, RegExp]>([
    ['one vote was enough', bookOf(goodEntries.filter(({ seq }) => seq !== 4)), /made it approved; its votes say wait/],
    ['a request waited on', bookOf(changed(5, vote(5, 0, 'bob'))), /made it wait; its votes say approved/],
    [
      'one person voted twice',
      bookOf(changed(5, { reviewerId: 'ann', decisionId: 'd-0-ann' })),
      /the word of ann counted twice/,
    ],
    ['a veto was passed over', bookOf(changed(7, { approved: false })), /made it wait; its votes say denied/],
    ['an unsigned vote counted', bookOf(changed(9, { identity: 'claimed' })), /the word of dan counts, and is claimed/],
    ['a stranger voted', bookOf(changed(9, { reviewerId: 'eve' })), /eve had no seat/],
    [
      'an accepted vote is nowhere',
      bookOf(goodEntries, [...goodSent, says(2, 'bob', true)]),
      /no acknowledged vote is lost.*d-2-bob was acknowledged/,
    ],
    [
      'a recorded vote on an open request is nowhere',
      bookOf(goodEntries, [...goodSent, says(2, 'bob', true, { kind: 'recorded' })]),
      /no acknowledged vote is lost.*d-2-bob was acknowledged/,
    ],
    [
      'a forged vote counted',
      bookOf(goodEntries, [...goodSent.slice(0, 4), says(2, 'dan', true, kept, { fault: 'forged' })]),
      /what is refused changes nothing.*d-2-dan is no good, and left 'vote'/,
    ],
    [
      'a vote was refused for no reason',
      bookOf(goodEntries, [...goodSent, says(2, 'bob', true, { kind: 'refused', code: 'unverified_reviewer' })]),
      /d-2-bob by update was refused as unverified_reviewer/,
    ],
    [
      'a vote was kept where one word is enough',
      { ...bookOf(goodEntries), plan: planWithoutVotes },
      /the word of dan settled nothing, where one is enough/,
    ],
  ])('%s', (_name, book, sentence) => {
    expect(problems(book)).toEqual(expect.arrayContaining([expect.stringMatching(sentence)]));
  });

  test('a refused forged vote is no problem', () => {
    const forged = says(2, 'bob', true, { kind: 'refused', code: 'unverified_reviewer' }, { fault: 'forged' });
    expect(problems(bookOf(goodEntries, [...goodSent, { ...forged, requestId: ids[2] }]))).toEqual([]);
  });
});
