import { expect, test } from 'vitest';
import fc from 'fast-check';
import { committedLeaf, plainMembers, runTag, saltedHash, saltsOf } from '../../../src/core/ledger/commit-entry.ts';
import { entryLine, leafOfLine, redacted } from '../../../src/audit/entry-line.ts';
import type { JournalEntry } from '../../../src/core/ledger/journal-entry.ts';
import type { Json } from '../../../src/core/base/tool-call.ts';

const secret = 'ab'.repeat(32);
const saltOf = saltsOf(secret);
const tag = runTag({ namespace: 'default', workflowId: 'run-1', firstRunId: 'first' });
const at = '2030-01-31T12:00:00.000Z';
const place = { runId: 'r', eventId: 7 };

const entries = fc
  .dictionary(
    fc.constantFrom('reason', 'reviewerId', 'toolName', 'outcome', 'callId', 'scope', 'to', 'later', 'digest'),
    fc.jsonValue() as fc.Arbitrary<Json>,
  )
  .map((members) => ({ seq: 3, kind: 'settled', at, engine: 1, ...members }) as unknown as JournalEntry);

test('the line of an entry leads to its leaf, whatever it withholds', () => {
  fc.assert(
    fc.property(entries, fc.subarray(['reason', 'reviewerId', 'later', 'scope']), (entry, names) => {
      const context = place;
      const line = entryLine({ run: 1, workflowId: 'run-1', entry, context, saltOf, withheld: new Set(names) });
      expect(leafOfLine(tag, line)).toEqual({ leaf: committedLeaf(entry, tag, saltOf) });
      expect(Object.keys(line.entry).filter((name) => names.includes(name))).toEqual([]);
    }),
  );
});

test('an entry with half a surrogate pair is committed and shown as what stands for it', () => {
  const entry = { seq: 1, kind: 'refused', at, engine: 1, reason: 'half \ud83d', code: '\udc00' } as never;
  const line = entryLine({ run: 1, workflowId: 'run-1', entry, context: place, saltOf, withheld: new Set() });
  expect(line.entry['reason']).toEqual({ json: '"half \\ud83d"' });
  expect(line.entry['code']).toEqual({ json: '"\\udc00"' });
  expect(leafOfLine(tag, line)).toEqual({ leaf: committedLeaf(entry, tag, saltOf) });
});

test('a redacted line shows nothing from which the values can be guessed', () => {
  const entry: JournalEntry = { seq: 9, kind: 'settled', at, engine: 1, reason: 'Ann is ill', reviewerId: 'bob' };
  const context = { ...place, message: { ...place, via: 'signal' as const, at, sender: 'bob@host' } };
  const withheld = new Set(redacted);
  const text = JSON.stringify(entryLine({ run: 1, workflowId: 'run-1', entry, context, saltOf, withheld }));
  for (const name of ['reason', 'reviewerId']) expect(text).not.toContain(saltOf(9, name));
  expect(text).not.toMatch(/Ann|bob/);
  expect(text).toContain(saltedHash(saltOf(9, 'reason'), 'Ann is ill'));
});

test('salts differ by member and entry, and the hash by salt', () => {
  const salts = [saltOf(1, 'reason'), saltOf(2, 'reason'), saltOf(1, 'to'), saltsOf('cd'.repeat(32))(1, 'reason')];
  expect(new Set(salts).size).toBe(4);
  expect(new Set(salts.map((salt) => saltedHash(salt, 'yes'))).size).toBe(4);
});

test('an entry of another run, another member or another value has another leaf', () => {
  const entry: JournalEntry = { seq: 1, kind: 'settled', at, engine: 1, reason: 'a', outcome: 'denied' };
  const other = runTag({ namespace: 'default', workflowId: 'run-2', firstRunId: 'first' });
  const leaves = [
    committedLeaf(entry, tag, saltOf),
    committedLeaf(entry, other, saltOf),
    committedLeaf({ ...entry, reason: 'b' }, tag, saltOf),
    committedLeaf({ ...entry, outcome: 'approved' }, tag, saltOf),
    committedLeaf({ ...entry, seq: 2 }, tag, saltOf),
    committedLeaf({ ...entry, digest: 'a' }, tag, saltOf),
  ];
  expect(new Set(leaves).size).toBe(leaves.length);
});

test.each([
  [
    'shown and withheld',
    { salts: { reason: 'ab' }, withheld: { reason: 'cd' } },
    "'reason' is both shown and withheld",
  ],
  ['shown without a salt', { salts: {} }, "'reason' has no salt"],
  ['a salt of nothing', { salts: { reason: 'ab', to: 'cd' } }, "the salt of 'to' belongs to no member"],
  ['a plain member withheld', { salts: { reason: 'ab' }, withheld: { outcome: 'cd' } }, "'outcome' cannot be withheld"],
])('no leaf: %s', (_name, more, problem) => {
  const entry = { seq: 1, kind: 'settled', at, reason: 'a' };
  expect(leafOfLine(tag, { entry, ...more })).toEqual({ problem });
});

test('what every export shows names no person, no text and no call', () => {
  expect(plainMembers.filter((name) => redacted.includes(name))).toEqual([]);
});
