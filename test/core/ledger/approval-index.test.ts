import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { approvalIndex, approvalMemo, summaryOf } from '../../../src/core/ledger/approval-index.ts';
import { byteLength } from '../../../src/core/base/text.ts';
import type { JournalEntry } from '../../../src/core/ledger/journal-entry.ts';
import { type Directories, type Ledger, emptyLedger, reduce } from '../../../src/core/ledger/ledger.ts';
import { maxPendingBound } from '../../../src/core/policy/policy.ts';
import type { RequestRecord } from '../../../src/core/ledger/ledger.ts';
import { askRuling, requestRecord, requestIdOf } from '../../support/record-request.ts';

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** A ledger with `open` open requests and `settled` requests that were answered before. */
function ledgerWith(open: number, settled = 0, fields: Parameters<typeof requestRecord>[2] = {}): Ledger {
  let ledger = emptyLedger(1);
  for (let number = 0; number < open + settled; number++) {
    const record = requestRecord(number, 1_000 + number, fields);
    ({ ledger } = reduce(ledger, { kind: 'open', atMs: 0, record, ruling: askRuling }));
    const decision = { requestId: requestIdOf(number), approved: false };
    if (number < settled) ({ ledger } = reduce(ledger, { kind: 'decide', atMs: 0, decision }));
  }
  return ledger;
}

const memoOf = (ledger: Ledger, entries: JournalEntry[] = [], directories: Directories = {}) =>
  approvalMemo(ledger, entries, { directories, nowMs: 1 });

describe('search attributes', () => {
  test('list the open requests, and the earliest deadline', () => {
    expect(approvalIndex(ledgerWith(2, 1))).toEqual({
      ids: [requestIdOf(1), requestIdOf(2)],
      tags: ['tool:pay', 'agent:tester', 'severity:medium', `settled:${requestIdOf(0)}`],
      dueMs: 1_001,
    });
  });

  test('are empty when nothing is open or settled', () => {
    expect(approvalIndex(emptyLedger(1))).toEqual({ ids: [], tags: [], dueMs: null });
  });

  test('have no deadline if no open request has one', () => {
    const { ledger } = reduce(emptyLedger(1), { kind: 'open', atMs: 0, record: requestRecord(1), ruling: askRuling });
    expect(approvalIndex(ledger).dueMs).toBeNull();
  });

  test('have room for as many ids as may be open', () => {
    const { ids } = approvalIndex(ledgerWith(maxPendingBound));
    expect(ids).toHaveLength(maxPendingBound);
    expect(bytesOf(ids)).toBeLessThanOrEqual(1_900);
  });

  test('tag the last 20 settled requests, newest first', () => {
    const settled = approvalIndex(ledgerWith(0, 30)).tags;
    expect(settled).toEqual(Array.from({ length: 20 }, (_, each) => `settled:${requestIdOf(29 - each)}`));
  });

  test('drop settled tags first', () => {
    let ledger = ledgerWith(0, 30);
    for (let number = 30; number < 75; number++) {
      const record = requestRecord(number, null, { toolName: `tool_${number}_${'x'.repeat(24)}` });
      ({ ledger } = reduce(ledger, { kind: 'open', atMs: 0, record, ruling: askRuling }));
    }
    const { tags } = approvalIndex(ledger);
    expect(bytesOf(tags)).toBeLessThanOrEqual(1_900);
    expect(tags.filter((tag) => tag.startsWith('tool:'))).toHaveLength(45);
    expect(tags.filter((tag) => tag.startsWith('settled:')).length).toBeLessThan(20);
  });
});

describe('the memo', () => {
  test('shows argument names, never their values', () => {
    const { memo } = memoOf(ledgerWith(1, 0, { arguments: { password: 'hunter2', to: 'ann' } }), []);
    expect(memo.open).toMatchObject([{ argumentNames: ['password', 'to'], shown: 'part' }]);
    expect(JSON.stringify(memo)).not.toContain('hunter2');
  });

  test('shows the arguments that the request shows, and names the others', () => {
    const shown = { shownArguments: { to: 'ann' }, notShown: ['note'] };
    const { memo } = memoOf(ledgerWith(1, 0, { arguments: { to: 'ann', note: 'hunter2' }, ...shown }), []);
    expect(memo.open).toMatchObject([{ argumentNames: ['to', 'note'], ...shown, shown: 'part' }]);
    expect(JSON.stringify(memo)).not.toContain('hunter2');
  });

  test.each([
    ['everything is shown', { arguments: { to: 'ann' }, shownArguments: { to: 'ann' }, notShown: [] }, 'all'],
    ['there are no arguments', { arguments: {} }, 'all'],
    ['arguments are hidden', { arguments: {}, argumentNames: ['to'], shown: 'part' as const }, 'part'],
  ])('%s: %s', (_name, fields, shown) =>
    expect(summaryOf(requestRecord(1, null, fields).request)).toMatchObject({ shown }),
  );

  test('shown arguments take no room from other requests', () => {
    const values = { shownArguments: { to: 'x'.repeat(900) }, notShown: ['amount'] };
    const bare = memoOf(ledgerWith(25), []).memo;
    const { memo } = memoOf(ledgerWith(25, 0, values), []);
    expect(memo.more).toBe(bare.more);
    const shown = memo.open.map(({ shownArguments }) => shownArguments !== undefined);
    expect(shown[0]).toBe(true);
    expect(shown.at(-1)).toBe(false);
    expect(memo.open.at(-1)).toEqual(bare.open.at(-1));
    expect(bytesOf(memo.open)).toBeLessThanOrEqual(16_000);
  });

  const say = (more: object): unknown => {
    const shown = { arguments: { to: 'ann' }, shownArguments: { to: 'ann' }, notShown: [], sentence: 'Pay ann' };
    return memoOf(ledgerWith(1, 0, { ...shown, ...more })).memo.open[0]!.sentence;
  };
  test.each<[string, object, string | undefined]>([
    ['all arguments are shown in full', {}, 'Pay ann'],
    ['an argument is not shown', { arguments: { to: 'ann', note: 'x' }, notShown: ['note'] }, undefined],
    ['no argument is shown', { shownArguments: undefined, notShown: undefined }, undefined],
    // What hides arguments shows none, so a call without any is no exception.
    ['there are no arguments', { arguments: {}, shownArguments: undefined, notShown: undefined }, undefined],
    ['it has a secret', { sentence: 'Pay by postgres://app:hunter2@db/x' }, 'Pay by postgres://app:[PASSWORD]@db/x'],
    ['it has what is invisible', { sentence: 'Pay \u202Enna' }, 'Pay \\u{202E}nna'],
    ['it is as long as a sentence can be', { sentence: '字'.repeat(300) }, '字'.repeat(300)],
    ['its escapes take too much room', { sentence: '\u202E'.repeat(300) }, undefined],
  ])('the sentence of the tool, if %s', (_name, more, expected) => expect(say(more)).toBe(expected));

  const directory = {
    people: {
      ann: { name: 'Ann', also: ['u-17'], groups: ['finance'], keys: [] },
      bob: { groups: ['finance'], keys: [] },
      eve: { groups: [], keys: [] },
    },
  };
  const asked = (record: RequestRecord, directories: Directories = { ceiling: directory }) => {
    const { ledger } = reduce(emptyLedger(5), { kind: 'open', atMs: 0, record, ruling: askRuling }, directories);
    return { ledger, directories };
  };
  const peopleOf = (record: RequestRecord, directories?: Directories) => {
    const { ledger, directories: all } = asked(record, directories);
    const { reviewers, approvers, cannotBeApproved, callerName } = memoOf(ledger, [], all).memo.open[0]!;
    return { reviewers, approvers, cannotBeApproved, callerName };
  };
  const finance = (more: object = {}, rest: object = {}): RequestRecord => {
    const requirement = { layer: 'ceiling', reviewers: ['group:finance'], quorum: 1, oneOfEach: [], escalate: [] };
    const record = requestRecord(
      1,
      null,
      { reviewers: ['group:finance'], ...more },
      { requirements: [requirement] as never },
    );
    return { ...record, ...rest };
  };

  test.each<[string, RequestRecord, object]>([
    ['anyone', requestRecord(1), { reviewers: [] }],
    ['a group, by all ids', finance(), { reviewers: ['group:finance'], approvers: ['ann', 'bob', 'u-17'] }],
    [
      'not those who have voted',
      finance({}, { votes: [{ reviewerId: 'u-17', identity: 'claimed', approved: true, at: '', contentDigest: '' }] }),
      { reviewers: ['group:finance'], approvers: ['bob'] },
    ],
    [
      'who got a seat, and not who gave it',
      finance({}, { delegations: [{ from: 'bob', to: 'eve' }] }),
      { reviewers: ['group:finance', 'eve'], approvers: ['ann', 'eve', 'u-17'] },
    ],
    [
      'not who started the run, by name',
      finance({ callerUserId: 'u-17' }),
      { reviewers: ['group:finance'], approvers: ['bob'], callerName: 'Ann' },
    ],
  ])('says for whom it waits: %s', (_name, record, expected) => expect(peopleOf(record)).toEqual(expected));

  test('says why nobody can approve it', () => {
    const { approvers, cannotBeApproved } = peopleOf(finance(), {});
    expect(approvers).toEqual([]);
    expect(cannotBeApproved).toMatch(/^It cannot be approved: .{1,180}/);
  });

  test('has no part of the people if they are too many', () => {
    const names = Array.from({ length: 150 }, (_, each) => `reviewer-${each}`);
    const people = Object.fromEntries(names.map((name) => [name, { groups: ['finance'], keys: [] }]));
    expect(peopleOf(finance(), { ceiling: { people } })).toEqual({ reviewers: ['group:finance'] });
    expect(peopleOf(requestRecord(1, null, { reviewers: names }))).toEqual({});
  });

  test('people take no room from other requests, and values none from people', () => {
    const values = { shownArguments: { to: 'x'.repeat(900) }, notShown: ['amount'], reviewers: ['ann', 'bob'] };
    const bare = memoOf(ledgerWith(25)).memo;
    const { memo } = memoOf(ledgerWith(25, 0, values));
    expect(memo.more).toBe(bare.more);
    expect(memo.open.every(({ reviewers }) => reviewers?.length === 2)).toBe(true);
    expect(memo.open.at(-1)).not.toHaveProperty('shownArguments');
    expect(bytesOf(memo.open)).toBeLessThanOrEqual(16_000);
    const many = { reviewers: Array.from({ length: 40 }, (_, each) => `reviewer-${each}`) };
    const crowded = memoOf(ledgerWith(25, 0, many)).memo;
    expect(crowded.open).toHaveLength(bare.open.length);
    expect(crowded.open[0]!.reviewers).toHaveLength(40);
    expect(crowded.open.at(-1)!.reviewers).toBeUndefined();
    expect(bytesOf(crowded.open)).toBeLessThanOrEqual(16_000);
  });

  test('counts what does not fit, and keeps journal entries for the next payload', () => {
    const wide = {
      reason: 'é'.repeat(5_000),
      arguments: Object.fromEntries(Array.from({ length: 90 }, (_, each) => [`name_${each}`, each])),
    };
    const ledger = ledgerWith(50, 0, wide);
    const entries = Array.from({ length: 100 }, (_, seq): JournalEntry => ({
      seq,
      kind: 'refused',
      at: '',
      engine: 1,
      reason: 'x'.repeat(300),
    }));
    const { memo, rest } = memoOf(ledger, entries);
    expect(memo.open.length).toBeGreaterThan(0);
    expect(memo.open.length + memo.more!).toBe(50);
    expect([...memo.journal, ...rest]).toEqual(entries);
    expect(memo.journal.length).toBeGreaterThan(0);
    expect(rest.length).toBeGreaterThan(0);
  });
});

test('no part exceeds its limit, whatever the requests contain', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 400 });
  const fields = fc.record({
    toolName: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
    agentName: text,
    callerUserId: text,
    rule: text,
    reason: text,
    sentence: text,
    reviewers: fc.array(text, { maxLength: 40 }),
    shownArguments: fc.dictionary(text, text, { maxKeys: 2 }),
    notShown: fc.constant<string[]>([]),
    arguments: fc.dictionary(text, fc.constant(1), { maxKeys: 40 }),
  });
  fc.assert(
    fc.property(fc.array(fields, { minLength: 1, maxLength: maxPendingBound }), fc.nat(30), (all, settled) => {
      let ledger = ledgerWith(0, settled);
      const entries: JournalEntry[] = [];
      for (const [index, each] of all.entries()) {
        const record = requestRecord(100 + index, null, each);
        const reduction = reduce(ledger, {
          kind: 'open',
          atMs: 0,
          record,
          ruling: { ...askRuling, reason: each.reason },
        });
        ({ ledger } = reduction);
        entries.push(...reduction.entries);
      }
      const { ids, tags } = approvalIndex(ledger);
      expect(ids).toHaveLength(all.length);
      expect(Math.max(bytesOf(ids), bytesOf(tags))).toBeLessThanOrEqual(1_900);
      expect(Math.max(0, ...tags.map((tag) => Buffer.byteLength(tag)))).toBeLessThanOrEqual(128);
      const { memo, rest } = memoOf(ledger, entries);
      expect(bytesOf(memo)).toBeLessThanOrEqual(32_000);
      expect(memo.open.length + (memo.more ?? 0)).toBe(all.length);
      expect([...memo.journal, ...rest]).toEqual(entries);
      for (const { request } of ledger.open) expect(bytesOf(summaryOf(request))).toBeLessThan(6_000);
    }),
    { numRuns: 60 },
  );
});

test('sizes are counted in UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (text) => {
      expect(byteLength(text)).toBe(Buffer.byteLength(text));
    }),
  );
});
