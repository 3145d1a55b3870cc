import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { projectJournal } from '../../src/events/journal.ts';
import type { JournalEntry } from '../../src/core/ledger/journal-entry.ts';

const at = '2026-01-01T00:00:00.000Z';
const requestId = 'a'.repeat(32);
const base = { at, engine: 1, toolName: 'pay' } as const;
const entries: JournalEntry[] = [
  { ...base, seq: 1, kind: 'ruling', callId: '1.1', outcome: 'allowed', rule: 'run#1' },
  { ...base, seq: 2, kind: 'opened', callId: '1.2', requestId, digest: 'd', deadline: at, rule: 'run#2' },
  { ...base, seq: 3, kind: 'ruling', callId: '1.3', outcome: 'denied_by_policy' },
  { ...base, seq: 4, kind: 'ran', callId: '1.1', ran: 'yes' },
  { ...base, seq: 5, kind: 'refused', code: 'undecodable', size: 9 },
  {
    ...base,
    seq: 6,
    kind: 'settled',
    callId: '1.2',
    requestId,
    outcome: 'approved',
    reviewerId: 'ann',
    reason: 'fine',
  },
  { ...base, seq: 7, kind: 'ran', callId: '1.2', ran: 'unknown' },
  { ...base, seq: 8, kind: 'opened', callId: '2.1', requestId: 'b'.repeat(32), digest: 'e' },
  { ...base, seq: 9, kind: 'reruled', callId: '2.1', requestId: 'b'.repeat(32), rule: 'cfo', to: ['cfo'] },
];
const whole = projectJournal(entries);

test('a complete journal', () => {
  expect(whole).toEqual({
    requests: [
      {
        requestId,
        callId: '1.2',
        toolName: 'pay',
        digest: 'd',
        openedAt: at,
        deadline: at,
        rule: 'run#2',
        outcome: 'approved',
        settledAt: at,
        reason: 'fine',
        reviewerId: 'ann',
      },
      {
        requestId: 'b'.repeat(32),
        callId: '2.1',
        toolName: 'pay',
        digest: 'e',
        openedAt: at,
        deadline: null,
        rule: 'cfo',
      },
    ],
    outcomes: [
      { callId: '1.1', toolName: 'pay', outcome: 'allowed', ran: 'yes' },
      { callId: '1.3', toolName: 'pay', outcome: 'denied_by_policy', ran: 'no' },
      { callId: '1.2', toolName: 'pay', requestId, outcome: 'approved', ran: 'unknown' },
    ],
    refusals: 1,
    gaps: [],
  });
});

test('order and repeats of entries do not matter', () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray(entries, { minLength: entries.length }),
      fc.array(fc.constantFrom(...entries)),
      (shuffled, repeated) => {
        expect(projectJournal([...shuffled, ...repeated])).toEqual(whole);
      },
    ),
  );
});

describe('gaps are reported', () => {
  test.each<[string, number[], [number, number][]]>([
    ['nothing', [], []],
    ['none missing', [1, 2, 3], []],
    ['the first missing', [2, 3], [[1, 1]]],
    ['one in the middle', [1, 3], [[2, 2]]],
    [
      'several',
      [3, 4, 9],
      [
        [1, 2],
        [5, 8],
      ],
    ],
    ['seen twice', [1, 1, 2, 4, 4], [[3, 3]]],
  ])('%s', (_name, seqs, gaps) => {
    const present = seqs.map((seq): JournalEntry => ({ ...base, seq, kind: 'refused' }));
    expect(projectJournal(present).gaps).toEqual(gaps);
  });

  test('every number is either present or in a gap, up to the last', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 60 })), (seqs) => {
        const { gaps } = projectJournal(seqs.map((seq): JournalEntry => ({ ...base, seq, kind: 'refused' })));
        const missing = gaps.flatMap(([first, last]) =>
          Array.from({ length: last - first + 1 }, (_, each) => first + each),
        );
        const all = Array.from({ length: Math.max(0, ...seqs) }, (_, each) => each + 1);
        expect([...missing, ...seqs].toSorted((one, other) => one - other)).toEqual(all);
      }),
    );
  });
});

test('a run closed from outside: open requests are cancelled, settled ones stay', () => {
  expect(projectJournal(entries, true).requests.map(({ outcome }) => outcome)).toEqual(['approved', 'cancelled']);
});

test('an entry without its earlier entries adds nothing invented', () => {
  const tail = entries.filter(({ kind }) => kind === 'ran' || kind === 'refused');
  expect(projectJournal(tail)).toEqual({
    requests: [],
    outcomes: [],
    refusals: 1,
    gaps: [
      [1, 3],
      [6, 6],
    ],
  });
});
