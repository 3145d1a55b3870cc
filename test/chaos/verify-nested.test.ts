import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../src/contract.ts';
import { at, bookOf as madeBook, opened, settled, startMs } from './made-book.ts';
import type { RunBook } from './run-book.ts';
import type { SentChange } from './sent-change.ts';
import { verifyBook } from './verify.ts';

/** A run with one call, which is of an agent, and the nested run, whose only request nobody answers. */

const helperCall = (ran: 'yes' | 'no' | 'unknown'): JournalEntry[] => [
  { engine: 1, seq: 1, kind: 'ruling', at: at(0), toolName: 'helper', callId: '1.1', outcome: 'allowed' },
  { engine: 1, seq: 2, kind: 'ran', at: at(90), callId: '1.1', ran },
];
const above = (ran: 'yes' | 'no' | 'unknown', nested: RunBook['nested'], told: string): RunBook =>
  madeBook(helperCall(ran), [['helper']], { nested, told: [told], lines: [] });

const below = (entries: JournalEntry[], more: Partial<RunBook> = {}): RunBook =>
  madeBook(entries, [['note']], {
    above: { plan: above('yes', {}, 'done').plan, changes: [] },
    told: ['Denied: no decision within 1m'],
    ...more,
  });
const expired = [opened(1, 0), settled(2, 0, 'expired', 61)];
const superseded = (runs: boolean): JournalEntry[] => [
  opened(1, 0),
  { ...settled(2, 0, 'denied', 9), outcome: 'superseded', runs, by: 'policy' },
];
const change = (action: 'allow' | 'deny'): SentChange => ({
  run: 'run-000',
  sentAtMs: startMs,
  change: { afterMs: 0, via: 'signal', sender: 0, tool: 'note', action, messageId: 'm' },
});
const withChange = (action: 'allow' | 'deny'): Pick<RunBook, 'above'> => ({
  above: { plan: above('yes', {}, 'done').plan, changes: [change(action)] },
});
const problems = (book: RunBook): string[] => verifyBook(book).map(({ rule, what }) => `${rule}: ${what}`);
const policyProblems = (book: RunBook): string[] => problems(book).filter((each) => each.includes('superseded by'));

test.each([
  ['it came to its own end', above('yes', { '1.1': 'COMPLETED' }, 'done')],
  ['it was terminated', above('unknown', { '1.1': 'TERMINATED' }, 'Unknown: its outcome is not known')],
  ['it was cancelled', above('unknown', { '1.1': 'CANCELLED' }, 'Cancelled: the run of agent was cancelled')],
  ['the nested run itself', below(expired)],
])('accepts a valid record: %s', (_name, book) => {
  expect(problems(book)).toEqual([]);
});

describe('every problem with nested runs is found', () => {
  test.each([
    ['it is said to have ended, and was never started', above('yes', {}, 'done'), /its nested run is undefined/],
    ['it is said to be unknown', above('unknown', { '1.1': 'COMPLETED' }, 'Unknown: '), /its nested run is COMPLETED/],
    ['it was cancelled', above('yes', { '1.1': 'CANCELLED' }, 'done'), /ran: yes; its nested run is CANCELLED/],
    ['the model was told something else', above('yes', { '1.1': 'COMPLETED' }, 'ready'), /was told as 'ready'/],
    ['no call started it', above('yes', { '1.1': 'COMPLETED', '2.1': 'COMPLETED' }, 'done'), /started by call 2.1/],
    ['nobody cancelled it', below(expired, { status: 'CANCELLED' }), /it is CANCELLED/],
  ])('%s', (_name, book, sentence) => {
    expect(problems(book)).toEqual(expect.arrayContaining([expect.stringMatching(sentence)]));
  });

  test('a nested run may be cancelled if the calling run was ended', () => {
    const { plan } = above('yes', {}, 'done');
    const ended = { plan: { ...plan, end: { kind: 'terminate', turn: 0, afterMs: 0 } as const }, changes: [] };
    expect(problems(below(expired, { status: 'CANCELLED', above: ended }))).toEqual([]);
  });

  test("only the calling run's policy can loosen a nested run's; both can tighten it", () => {
    expect(policyProblems(below(superseded(true), withChange('allow')))).toEqual([]);
    expect(policyProblems(below(superseded(true), { changes: [change('allow')] }))).toHaveLength(1);
    expect(policyProblems(below(superseded(false), withChange('deny')))).toEqual([]);
    expect(policyProblems(below(superseded(false), { changes: [change('deny')] }))).toEqual([]);
  });
});
