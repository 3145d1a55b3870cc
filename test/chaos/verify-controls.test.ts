import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../src/contract.ts';
import { accepted, at, bookOf as madeBook, digest, ids, opened, sent, settled, startMs } from './made-book.ts';
import type { RunBook } from './run-book.ts';
import type { PlannedControl } from './planned-control.ts';
import type { PlannedItem } from './schedule.ts';
import type { SentControl } from './sent-control.ts';
import type { SendAnswer, SentItem } from './sent-item.ts';
import { verifyBook } from './verify.ts';

/**
 * A run of ann and bob. One request was extended and approved after its first deadline; one was delegated and approved
 * by the delegate; one left a grant that answered its sibling and a later call; one grant was revoked. This record is
 * valid; each test breaks one thing.
 */

const reviewers = ['ann', 'bob'];
const [a, b, c, e] = ids;
const calls = { [a]: '1.1', [b]: '1.2', [c]: '1.3', [e]: '1.4' };
const entry = (seq: number, seconds: number, more: Omit<JournalEntry, 'seq' | 'at' | 'engine'>): JournalEntry => ({
  engine: 1,
  seq,
  at: at(seconds),
  ...more,
});
const ran = (seq: number, seconds: number, callId: string): JournalEntry =>
  entry(seq, seconds, { kind: 'ran', callId, ran: 'yes' });
const by = (reviewerId: string): Partial<JournalEntry> => ({ reviewerId });
const again = { toolName: 'again' };

const extended = entry(5, 2, {
  kind: 'extended',
  callId: '1.1',
  requestId: a,
  ...again,
  deadline: at(90),
  ...by('ann'),
});
const delegated = entry(6, 3, {
  kind: 'delegated',
  callId: '1.2',
  requestId: b,
  toolName: 'note',
  to: ['dan'],
  ...by('ann'),
});
const grant = entry(9, 20, {
  kind: 'grant',
  grantId: 'grant-1',
  requestId: c,
  toolName: 'note',
  approved: true,
  scope: { kind: 'tool' },
});
const released: JournalEntry = {
  ...settled(10, 3, 'approved', 20),
  outcome: 'superseded',
  by: 'grant',
  byId: 'grant-1',
};
delete released.reviewerId;
delete released.decisionId;
const ruled = entry(17, 75, {
  kind: 'ruling',
  callId: '2.1',
  toolName: 'note',
  outcome: 'allowed',
  layer: 'grant',
  rule: 'grant-1',
  digest,
});
const revoked = entry(19, 80, { kind: 'revoked', grantId: 'grant-2', ...again, approved: true, ...by('ann') });
const goodEntries: JournalEntry[] = [
  { ...opened(1, 0), ...again },
  opened(2, 1),
  opened(3, 2),
  opened(4, 3),
  extended,
  delegated,
  { ...settled(7, 1, 'approved', 10), ...by('dan') },
  { ...settled(8, 2, 'approved', 20), ...by('bob') },
  grant,
  released,
  ran(11, 21, '1.2'),
  ran(12, 21, '1.3'),
  ran(13, 21, '1.4'),
  { ...settled(14, 0, 'approved', 70), ...by('bob'), ...again },
  { ...grant, seq: 15, at: at(70), grantId: 'grant-2', requestId: a, ...again, scope: { kind: 'call', digest } },
  ran(16, 71, '1.1'),
  ruled,
  ran(18, 76, '2.1'),
  revoked,
];

const dans = sent(1, accepted(1, 'approved'), { approved: true, reviewerId: 'dan' }, 9);
const bobsAnswer: SendAnswer = {
  kind: 'receipt',
  receipt: {
    requestId: c,
    accepted: true,
    outcome: 'approved',
    grantId: 'grant-1',
    settled: [{ requestId: e, outcome: 'superseded' }],
    message: '',
  },
};
const bobs = (always: PlannedItem['always'], more: Partial<PlannedItem> = {}): SentItem => {
  const item = sent(2, bobsAnswer, { approved: true, reviewerId: 'bob', ...more }, 19);
  return always === undefined ? item : { ...item, item: { ...item.item, always } };
};
const late = sent(0, { kind: 'recorded' }, { reviewerId: 'bob', always: { kind: 'call' } }, 69);
const wish = { kind: 'tool', uses: 2, expiresIn: '1m' } as const;
const goodSent = [dans, bobs(wish), late];

type Planned = PlannedControl extends infer Each
  ? Each extends PlannedControl
    ? Omit<Each, 'when' | 'via' | 'sender' | 'by'>
    : never
  : never;
const control = (
  planned: Planned & { by?: string },
  answer: SendAnswer,
  { seconds, requestId = '', until }: { seconds: number; requestId?: string; until?: number },
): SentControl => ({
  run: 'run-000',
  control: { when: { afterMs: 0 }, via: 'signal', sender: 0, by: 'ann', ...planned },
  requestId,
  ...(until !== undefined && { untilMs: startMs + until * 1_000 }),
  sentAtMs: startMs + seconds * 1_000,
  answeredAtMs: startMs + seconds * 1_000 + 500,
  answer,
});
const recorded: SendAnswer = { kind: 'recorded' };
const yes: SendAnswer = { kind: 'receipt', receipt: { requestId: '', accepted: true, message: '' } };
const no = (code: string): SendAnswer => ({ kind: 'refused', code });
const extend = { kind: 'extend', call: 0, moreMs: 0, messageId: 'm-extend' } as const;
const delegate = { kind: 'delegate', call: 1, to: 'dan', messageId: 'm-delegate' } as const;
const revoke = { kind: 'revoke', grants: ['grant-2'], messageId: 'm-revoke' };
const extension = control(extend, yes, { seconds: 1, requestId: a, until: 90 });
const delegation = control(delegate, yes, { seconds: 2, requestId: b });
const revocation = control({ ...revoke, kind: 'revoke' }, recorded, { seconds: 79 });
const goodControls = [extension, delegation, revocation];

const bookOf = (entries: JournalEntry[], more: Partial<RunBook> = {}): RunBook => {
  const book = madeBook(entries, [['again', 'note', 'note', 'note'], ['note']], {
    sent: goodSent,
    controls: goodControls,
    ...more,
  });
  return { ...book, plan: { ...book.plan, reviewers } };
};
const good = bookOf(goodEntries);
/** The same journal with some entries replaced, by their numbers. */
const replacing = (...others: JournalEntry[]): JournalEntry[] =>
  goodEntries.map((each) => others.find(({ seq }) => seq === each.seq) ?? each);
const without = (seq: number): JournalEntry[] => goodEntries.filter((each) => each.seq !== seq);
const more = (kind: JournalEntry['kind'], requestId: string, fields: Partial<JournalEntry>): JournalEntry =>
  entry(20, 81, { kind, requestId, callId: calls[requestId]!, toolName: 'note', ...by('ann'), ...fields });
const besides = (...others: SentControl[]): Partial<RunBook> => ({ controls: [...goodControls, ...others] });

test('accepts a valid record', () => {
  expect(verifyBook(good)).toEqual([]);
});

const longAgo = control(extend, yes, { seconds: 1, requestId: a, until: 30 });
const farAway = control(extend, yes, { seconds: 1, requestId: a, until: 200 });
const eves = control({ ...extend, by: 'eve' }, yes, { seconds: 1, requestId: a, until: 90 });

const broken: [string, RunBook, RegExp][] = [
  [
    'a deadline is not what the plan says',
    bookOf(replacing({ ...opened(1, 0), ...again, deadline: at(50) })),
    /was opened at .*, and its deadline is/,
  ],
  ['nobody extended', { ...good, controls: [delegation, revocation] }, /nobody extended it to/],
  ['it was extended too late', bookOf(replacing({ ...extended, at: at(61) })), /extended at .*, after its deadline/],
  [
    'it was given less time',
    bookOf(replacing({ ...extended, deadline: at(30) }), { controls: [longAgo, delegation, revocation] }),
    /its deadline moved back/,
  ],
  [
    'it was extended beyond the ceiling',
    bookOf(replacing({ ...extended, deadline: at(200) }), { controls: [farAway, delegation, revocation] }),
    /beyond the ceiling/,
  ],
  [
    'it expired before the new deadline',
    bookOf(replacing({ ...settled(14, 0, 'expired', 70), ...again })),
    /expired at .*its deadline was .*01:30/,
  ],
  [
    'what is not known was extended',
    bookOf([...goodEntries, more('extended', 'f'.repeat(32), {})]),
    /and is not known/,
  ],
  [
    'a delegate was heard before the delegation',
    bookOf(replacing({ ...delegated, seq: 7 }, { ...settled(6, 1, 'approved', 10), ...by('dan') })),
    /dan had no seat, and it was approved/,
  ],
  [
    'whoever gave their seat away was heard',
    bookOf(replacing({ ...settled(7, 1, 'approved', 10), ...by('ann') })),
    /ann had no seat, and it was approved/,
  ],
  [
    'a stranger extended',
    bookOf(replacing({ ...extended, ...by('eve') }), { controls: [eves, delegation, revocation] }),
    /eve had no seat, and it was extended/,
  ],
  ['nobody delegated', { ...good, controls: [extension, revocation] }, /delegated it to dan, which nobody had sent/],
  [
    'it was delegated where nobody is named',
    { ...good, plan: { ...good.plan, reviewers: [] } },
    /names nobody, and ann/,
  ],
  ['nobody wished for a grant', { ...good, sent: [dans, bobs(undefined), late] }, /who settled that wished for none/],
  [
    'a grant is wider than the wish',
    { ...good, sent: [dans, bobs({ kind: 'call' }), late] },
    /grant-1: it is .*tool.* wished for was .*call/,
  ],
  [
    'a grant answered that there is not',
    bookOf(replacing({ ...released, byId: 'grant-7' })),
    /grant-7, which this run did/,
  ],
  [
    'a grant answered another tool',
    bookOf(replacing({ ...ruled, toolName: 'slow' })),
    /of slow .*by grant-1, whose scope is/,
  ],
  [
    'a grant answered other arguments',
    bookOf(replacing({ ...grant, scope: { kind: 'arguments', match: { text: 'run-000 1.*' } } }), {
      sent: [dans, bobs({ kind: 'arguments', match: { text: 'run-000 1.*' } }), late],
    }),
    /call 2.1 .* by grant-1, whose scope is/,
  ],
  [
    'a grant answered another call',
    bookOf(replacing({ ...ruled, digest: 'f'.repeat(64) }, { ...grant, scope: { kind: 'call', digest } }), {
      sent: [dans, bobs({ kind: 'call' }), late],
    }),
    /call 2.1 .* by grant-1, whose scope is/,
  ],
  [
    'a grant answered after its time',
    { ...good, sent: [dans, bobs({ ...wish, expiresIn: '2s' }), late] },
    /call 2.1 .*which had expired/,
  ],
  ['a grant answered too often', { ...good, sent: [dans, bobs({ ...wish, uses: 1 }), late] }, /call 2.1 .*was used up/],
  [
    'a revoked grant answered',
    bookOf(replacing({ ...revoked, seq: 16, at: at(74), grantId: 'grant-1', toolName: 'note' }), {
      ...besides(control({ ...revoke, kind: 'revoke', grants: 'all' }, recorded, { seconds: 73 })),
    }),
    /call 2.1 .* by grant-1, which this run did not have then/,
  ],
  ['a grant did the opposite', bookOf(replacing({ ...released, runs: false })), /call 1.4 .*which approves/],
  [
    'a grant answered where its giver decides nothing',
    bookOf(
      replacing({ ...delegated, requestId: c, callId: '1.3' }, { ...settled(8, 2, 'approved', 20), ...by('dan') }),
      {
        sent: [dans, bobs(wish, { reviewerId: 'dan' }), late],
      },
    ),
    /call 1.4 .*and dan, who left it, had no seat there/,
  ],
  ['a grant was made twice', bookOf([...goodEntries, { ...grant, seq: 20 }]), /grant-1 was made twice/],
  ['what was not there was revoked', bookOf([...goodEntries, { ...revoked, seq: 20 }]), /and this run did not have it/],
  ['nobody revoked', { ...good, controls: [extension, delegation] }, /grant-2 was revoked at .*, and nobody had sent/],
  [
    'a call was denied for no reason',
    bookOf(replacing({ ...ruled, layer: 'run', rule: null, outcome: 'denied' })),
    /call 2.1 is denied by nobody's word/,
  ],
  [
    'what was settled is extended',
    bookOf([...goodEntries, more('extended', b, { deadline: at(100) })]),
    /was settled, and is extended/,
  ],
  ['what was settled is open again', bookOf([...goodEntries, { ...opened(20, 1) }]), /was settled, and is opened/],
  [
    'a sibling was released in silence',
    {
      ...good,
      sent: [dans, { ...bobs(wish), answer: { ...bobsAnswer, receipt: { ...bobsAnswer.receipt, settled: [] } } }, late],
    },
    /d-2 was told of grant-1 and of : it is grant-1, which settled e+/,
  ],
  ['a wish was not granted', bookOf(replacing(ran(9, 20, '1.3'))), /d-2 wished for a grant and left none/],
  ['an accepted extension is not in the journal', bookOf(without(5)), /m-extend .*was accepted, and the journal has/],
  [
    'an accepted delegation is not in the journal',
    bookOf(without(6)),
    /m-delegate .*was accepted, and the journal has/,
  ],
  [
    'a recorded extension was lost',
    {
      ...good,
      ...besides(control({ ...extend, messageId: 'm-lost' }, recorded, { seconds: 1, requestId: a, until: 95 })),
    },
    /m-lost .*was recorded in time, and changed nothing/,
  ],
  [
    'a recorded delegation was lost',
    { ...good, ...besides(control({ ...delegate, messageId: 'm-lost' }, recorded, { seconds: 1, requestId: c })) },
    /m-lost .*was recorded in time, and changed nothing/,
  ],
  [
    'a control was recorded for no request',
    {
      ...good,
      ...besides(
        control({ ...extend, messageId: 'm-lost' }, recorded, { seconds: 1, requestId: 'f'.repeat(32), until: 9 }),
      ),
    },
    /m-lost .*for a request that history does not know/,
  ],
  ['a recorded revocation was lost', bookOf(without(19)), /m-revoke .*was acknowledged, and grant-2 was never revoked/],
  [
    'an accepted revocation is not in the journal',
    { ...good, ...besides(control({ ...revoke, kind: 'revoke', grants: ['grant-5'] }, yes, { seconds: 79 })) },
    /m-revoke .*was accepted, and the journal has nothing of it/,
  ],
  [
    'an extension was refused for no reason',
    { ...good, ...besides(control(extend, no('unknown_request'), { seconds: 1, requestId: a, until: 95 })) },
    /m-extend .*was refused as unknown_request; the request is approved/,
  ],
  [
    'an extension within the ceiling was refused as beyond it',
    { ...good, ...besides(control(extend, no('not_permitted_by_ceiling'), { seconds: 1, requestId: a, until: 95 })) },
    /m-extend .*was refused as not_permitted_by_ceiling/,
  ],
  [
    'a reviewer was refused as none',
    { ...good, ...besides(control({ ...delegate, messageId: 'm' }, no('not_entitled'), { seconds: 1, requestId: c })) },
    /m \(delegate.*was refused as not_entitled/,
  ],
  [
    'a grant was said to be unknown',
    bookOf(without(19), { controls: [control({ ...revoke, kind: 'revoke' }, no('grant_unknown'), { seconds: 79 })] }),
    /m-revoke .*was refused as grant_unknown/,
  ],
  [
    'a bad control was not counted',
    {
      ...good,
      ...besides(control({ ...extend, fault: 'misshapen' }, recorded, { seconds: 1, requestId: a, until: 95 })),
    },
    /0 bad or late decisions and 1 such controls were recorded, the run counted 0/,
  ],
  [
    'a late decision was not counted',
    { ...good, sent: [...goodSent, sent(1, recorded, { decisionId: 'late', reviewerId: 'bob' }, 40)] },
    /1 bad or late decisions and 0 such controls/,
  ],
  [
    'a reviewer was told that they are none',
    { ...good, sent: [...goodSent, sent(2, no('not_entitled'), { decisionId: 'd-9', reviewerId: 'bob' }, 5)] },
    /d-9 by update was refused as not_entitled/,
  ],
];

describe('every problem is found', () => {
  test.each(broken)('%s', (_name, book, sentence) => {
    const found = verifyBook(book).map(({ rule, what }) => `${rule}: ${what}`);
    expect(found).toEqual(expect.arrayContaining([expect.stringMatching(sentence)]));
  });
});

/** Valid records that look wrong. */
const sound: [string, RunBook][] = [
  [
    'an extension that came after the deciding word was sent',
    { ...good, ...besides(control({ ...extend, call: 2 }, recorded, { seconds: 19.2, requestId: c, until: 70 })) },
  ],
  [
    'a delegation against which another came first',
    {
      ...good,
      ...besides(control({ ...delegate, to: 'eve', messageId: 'm-eve' }, recorded, { seconds: 2, requestId: b })),
    },
  ],
  [
    'a revocation of what was not there yet',
    {
      ...good,
      ...besides(control({ ...revoke, kind: 'revoke', grants: ['grant-1'] }, no('grant_unknown'), { seconds: 1 })),
    },
  ],
];

test.each(sound)('%s', (_name, book) => {
  expect(
    verifyBook({ ...book, ledger: { ...book.ledger, refused: 1 }, projection: { ...book.projection, refusals: 1 } }),
  ).toEqual([]);
});
