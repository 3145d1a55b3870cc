import { expect, test } from 'vitest';
import fc from 'fast-check';
import { type CountedRun, decisionStatistics } from '../../src/audit/decision-statistics.ts';
import type { JournalEntry } from '../../src/core/ledger/journal-entry.ts';

const startMs = Date.parse('2030-01-01T00:00:00.000Z');
const at = (ms: number): string => new Date(startMs + ms).toISOString();

/** Numbers the entries. */
function journal(...entries: Partial<JournalEntry>[]): JournalEntry[] {
  return entries.map((entry, index) => ({ seq: index + 1, kind: 'ruling', at: at(0), engine: 1, ...entry }));
}

const pay = { toolName: 'pay', rule: 'money', layer: 'ceiling' } as const;
const opened = (requestId: string, ms = 0): Partial<JournalEntry> => ({
  ...pay,
  kind: 'opened',
  requestId,
  at: at(ms),
});
const settled = (requestId: string, ms: number, more: Partial<JournalEntry>): Partial<JournalEntry> => ({
  kind: 'settled',
  requestId,
  at: at(ms),
  identity: 'claimed',
  ...more,
});

/** Counts the journal of one run. */
const counted = (entries: JournalEntry[], run: Partial<CountedRun> = {}) =>
  decisionStatistics([{ entries, policy: 'p1', agent: 'clerk', ...run }], startMs);

test.each<[string, Partial<JournalEntry>[], object]>([
  [
    'approved in 2 s',
    [opened('a'), settled('a', 2_000, { outcome: 'approved' })],
    {
      asked: 1,
      approved: 1,
      open: 0,
      medianMs: 2_000,
      approvalRate: { count: 1, of: 1 },
      underThreeSeconds: { count: 1, of: 1 },
    },
  ],
  [
    'denied after exactly 3 s',
    [opened('a'), settled('a', 3_000, { outcome: 'denied' })],
    {
      denied: 1,
      approvalRate: { count: 0, of: 1 },
      underThreeSeconds: { count: 0, of: 1 },
    },
  ],
  [
    'denials in bulk, which are no haste, and an approval in bulk, which may be',
    [
      opened('a'),
      opened('b'),
      opened('c'),
      settled('a', 1_000, { outcome: 'denied', viewed: { batch: 14 } }),
      settled('b', 1_000, { outcome: 'denied', viewed: { batch: 14 } }),
      settled('c', 1_000, { outcome: 'approved', viewed: { batch: 2 } }),
    ],
    { denied: 2, approved: 1, deniedByPolicy: 0, medianMs: 1_000, underThreeSeconds: { count: 1, of: 1 } },
  ],
  [
    'answered in the place of the tool',
    [opened('a'), settled('a', 9_000, { outcome: 'responded' })],
    {
      responded: 1,
      approvalRate: { count: 0, of: 1 },
      medianMs: 9_000,
    },
  ],
  [
    'expired: nobody decided',
    [opened('a'), settled('a', 9_000, { outcome: 'expired', identity: undefined })],
    {
      expired: 1,
      expiredShare: { count: 1, of: 1 },
      approvalRate: { count: 0, of: 0 },
      medianMs: null,
    },
  ],
  ['an open request is not settled', [opened('a')], { open: 1, expiredShare: { count: 0, of: 0 } }],
  [
    'an even number of times',
    [
      opened('a'),
      opened('b'),
      settled('a', 1_000, { outcome: 'approved' }),
      settled('b', 4_001, { outcome: 'approved' }),
    ],
    { asked: 2, medianMs: 2_501, underThreeSeconds: { count: 1, of: 2 } },
  ],
  [
    'calls without a question',
    [
      { ...pay, outcome: 'allowed' },
      { ...pay, outcome: 'denied_by_policy' },
      { ...pay, outcome: 'refused' },
      { ...pay, outcome: 'denied' },
    ],
    { allowed: 1, deniedByPolicy: 1, answeredBefore: 2, asked: 0 },
  ],
])('a rule: %s', (_, entries, figures) => {
  const { rules } = counted(journal(...entries));
  expect(rules).toHaveLength(1);
  expect(rules[0]).toMatchObject({ rule: 'money', layer: 'ceiling', policy: 'p1', ...figures });
});

test('a reviewer who denies many at once does not answer in haste', () => {
  const bulk = { outcome: 'denied', reviewerId: 'rita', viewed: { batch: 14, durationMs: 900 } } as const;
  const ids = Array.from({ length: 14 }, (_, index) => `${index}`);
  const alone = settled('z', 2_000, { outcome: 'denied', reviewerId: 'rita', viewed: { durationMs: 1_500 } });
  const { reviewers } = counted(
    journal(...[...ids, 'z'].map((id) => opened(id)), ...ids.map((id) => settled(id, 1_000, bulk)), alone),
  );
  expect(reviewers).toMatchObject([
    {
      answers: 15,
      underThreeSeconds: { count: 1, of: 1 },
      glanced: { count: 1, of: 1 },
      inBatches: { count: 14, of: 15 },
    },
  ]);
});

test('a request that another rule took over counts for that rule', () => {
  const { rules } = counted(journal(opened('a'), { kind: 'reruled', requestId: 'a', rule: 'cfo' }));
  expect(rules).toMatchObject([{ rule: 'cfo', layer: 'ceiling', asked: 1 }]);
});

test('rules of two policies, two agents and two layers are apart, the uses of grants together', () => {
  const entries = journal(
    { ...pay, outcome: 'allowed', rule: 'one', layer: 'run', agent: 'ann' },
    { ...pay, outcome: 'allowed', rule: 'one', layer: 'run', agent: 'bob' },
    { ...pay, outcome: 'allowed', rule: 'one', layer: 'agent', agent: 'bob' },
    { ...pay, outcome: 'allowed', rule: 'grant-1', layer: 'grant' },
    { ...pay, outcome: 'allowed', rule: 'grant-2', layer: 'grant' },
    { ...pay, outcome: 'allowed' },
  );
  const { rules } = decisionStatistics(
    [
      { entries, policy: 'p1' },
      { entries: entries.slice(5), policy: 'p2' },
    ],
    startMs,
  );
  expect(rules.map(({ rule, layer, agent, policy, allowed }) => [rule, layer, agent ?? policy, allowed])).toEqual([
    [null, 'grant', undefined, 2],
    ['one', 'run', 'ann', 1],
    ['one', 'run', 'bob', 1],
    ['one', 'agent', 'bob', 1],
    ['money', 'ceiling', 'p1', 1],
    ['money', 'ceiling', 'p2', 1],
  ]);
});

test('a reviewer: votes and settling answers, how long the card was displayed, and in which company', () => {
  const entries = journal(
    opened('a'),
    {
      kind: 'vote',
      requestId: 'a',
      at: at(1_000),
      reviewerId: 'rita',
      reviewerName: 'Rita Lee',
      identity: 'verified',
      approved: true,
      viewed: { durationMs: 900 },
    },
    settled('a', 5_000, { outcome: 'approved', reviewerId: 'bob', viewed: { durationMs: 4_000, batch: 1 } }),
    opened('b'),
    settled('b', 7_000, { outcome: 'denied', reviewerId: 'rita', viewed: { batch: 12 } }),
    opened('c'),
    settled('c', 9_000, { outcome: 'approved', reviewerId: undefined }),
  );
  const none = { count: 0, of: 0 };
  expect(counted(entries).reviewers).toEqual([
    {
      reviewerId: 'rita',
      reviewerName: 'Rita Lee',
      answers: 2,
      approvalRate: { count: 1, of: 2 },
      medianMs: 4_000,
      underThreeSeconds: { count: 1, of: 1 },
      glanced: { count: 1, of: 1 },
      inBatches: { count: 1, of: 2 },
      verified: { count: 1, of: 2 },
    },
    expect.objectContaining({ reviewerId: 'bob', glanced: { count: 0, of: 1 }, inBatches: { count: 0, of: 1 } }),
    expect.objectContaining({ reviewerId: null, glanced: none }),
  ]);
});

test('what was before the instant is not counted, and a request belongs to its opening', () => {
  const entries = journal(
    { ...pay, outcome: 'allowed', at: at(-1) },
    opened('a', -1),
    settled('a', 60_000, { outcome: 'approved' }),
  );
  const agents = [{ agent: 'clerk', runs: 0, others: 1, inputTokens: 0, outputTokens: 0, costs: [], unpriced: 0 }];
  const left = { rules: 0, reviewers: 0, agents: 0 };
  expect(counted(entries)).toEqual({ rules: [], reviewers: [], agents, left });
});

test('a run that was terminated leaves no open requests', () => {
  expect(counted(journal(opened('a')), { ended: true }).rules).toMatchObject([{ cancelled: 1, open: 0 }]);
});

test('entries that no gate writes change nothing and throw nothing', () => {
  const good = journal(opened('a'), settled('a', 2_000, { outcome: 'approved', reviewerId: 'rita' }));
  const odd = [
    { rule: 7 },
    { rule: {} },
    { at: 'soon' },
    { at: 7 },
    { reviewerId: [] },
    { reviewerName: 7 },
    { layer: null },
    { agent: 3 },
    { kind: null },
    { outcome: {} },
    { viewed: 'all' },
    { viewed: { durationMs: -1 } },
    { identity: 3 },
    { requestId: {} },
    { seq: '1' },
  ].map((each) => ({ ...good[0], requestId: 'x', seq: 9, ...each }) as unknown as JournalEntry);
  expect(counted([...good, ...odd])).toEqual(counted(good));
});

test('settled under a name of our own counts as open, and so does a name of Object', () => {
  for (const outcome of ['asked', 'allowed', 'toString', '__proto__'] as never[]) {
    expect(counted(journal(opened('a'), settled('a', 1, { outcome }))).rules[0]).toMatchObject({ asked: 1, open: 1 });
  }
});

test('names are cut, and rows are bounded', () => {
  const entries = journal(
    ...Array.from({ length: 700 }, (_, index) => [
      { ...opened(`r${index}`), rule: `${index}`.padStart(300, 'x') },
      settled(`r${index}`, 1, { outcome: 'approved', reviewerId: `${index}`.padEnd(300, 'y') }),
    ]).flat(),
  );
  const { rules, reviewers, left } = counted(entries);
  expect([rules.length, reviewers.length]).toEqual([1, 200]);
  expect(left).toEqual({ rules: 0, reviewers: 500, agents: 0 });
  expect(rules[0]!.rule).toHaveLength(201);
});

/** One random request, told twice: as entries, and as what is to be counted. */
const told = fc.record({
  rule: fc.constantFrom('one', 'two'),
  openedMs: fc.integer({ min: -5_000, max: 5_000 }),
  lastsMs: fc.integer({ min: 0, max: 6_000 }),
  outcome: fc.constantFrom(undefined, 'approved', 'denied', 'responded', 'expired', 'cancelled', 'superseded'),
  reviewerId: fc.constantFrom('rita', 'bob'),
  voter: fc.constantFrom(undefined, 'ann', 'bob'),
});

test('for any requests, the figures are those of a naive count', () => {
  fc.assert(
    fc.property(fc.array(fc.array(told, { maxLength: 8 }), { maxLength: 4 }), (runs) => {
      const journals = runs.map((requests) => ({
        policy: 'p1',
        entries: journal(
          ...requests.flatMap(({ rule, openedMs, lastsMs, outcome, reviewerId, voter }, index) => [
            { ...opened(`${index}`, openedMs), rule },
            ...(voter === undefined
              ? []
              : [
                  {
                    kind: 'vote',
                    requestId: `${index}`,
                    at: at(openedMs),
                    identity: 'claimed',
                    reviewerId: voter,
                    approved: true,
                  } as const,
                ]),
            ...(outcome === undefined ? [] : [settled(`${index}`, openedMs + lastsMs, { outcome, reviewerId })]),
          ]),
        ),
      }));
      const { rules, reviewers } = decisionStatistics(journals, startMs);
      const all = runs.flat().filter(({ openedMs }) => openedMs >= 0);
      const people = ['approved', 'denied', 'responded'];
      for (const rule of ['one', 'two']) {
        const own = all.filter((each) => each.rule === rule);
        const decided = own.filter(({ outcome }) => people.includes(outcome ?? ''));
        const times = decided.map(({ lastsMs }) => lastsMs).toSorted((one, other) => one - other);
        const low = times[Math.ceil(times.length / 2) - 1]!;
        const high = times[Math.floor(times.length / 2)]!;
        const row = rules.find((each) => each.rule === rule);
        if (own.length === 0) {
          expect(row).toBeUndefined();
          continue;
        }
        expect(row).toMatchObject({
          asked: own.length,
          open: own.filter(({ outcome }) => outcome === undefined).length,
          approvalRate: { count: own.filter(({ outcome }) => outcome === 'approved').length, of: decided.length },
          medianMs: times.length === 0 ? null : Math.round((low + high) / 2),
          underThreeSeconds: { count: times.filter((each) => each < 3_000).length, of: times.length },
          expiredShare: {
            count: own.filter(({ outcome }) => outcome === 'expired').length,
            of: own.filter(({ outcome }) => outcome !== undefined).length,
          },
        });
      }
      for (const id of ['rita', 'bob', 'ann']) {
        const settling = all.filter(({ reviewerId, outcome }) => reviewerId === id && people.includes(outcome ?? ''));
        const votes = all.filter(({ voter }) => voter === id).length;
        const row = reviewers.find(({ reviewerId }) => reviewerId === id);
        expect(row?.answers ?? 0).toBe(settling.length + votes);
        expect(row?.approvalRate.count ?? 0).toBe(
          settling.filter(({ outcome }) => outcome === 'approved').length + votes,
        );
      }
    }),
  );
});
