import { expect, test } from 'vitest';
import fc from 'fast-check';
import { evidenceOfParts, evidenceParts, type RunEvidence } from '../../src/audit/evidence.ts';
import { ruleRunAgain } from '../../src/audit/rule-run-again.ts';
import { emptyStanding } from '../../src/audit/standing.ts';
import { verifyEvidence } from '../../src/audit/verify-evidence.ts';
import type { JournalEntry } from '../../src/core/ledger/journal-entry.ts';
import { claimedBy, requestIdOf } from '../support/record-request.ts';
import { RecordedRulings } from './recorded-rulings.ts';
import { parseJson } from '../../src/core/base/json.ts';
import { runs } from '../support/thorough.ts';

function recorded(): { entries: JournalEntry[]; evidence: RunEvidence } {
  const rules = [{ pattern: 'pay', when: 'args.amount > 10', action: 'deny' as const }];
  const ceiling = { version: 1 as const, rules, riskDefaults: {}, approval: {} };
  const run = new RecordedRulings({ ceiling }, 'ops', { caller: { userId: 'olga' }, metadata: { team: 'red' } });
  run.call({ tool: 'pay', args: { amount: 1 }, risk: 'write' }, undefined);
  run.send({
    kind: 'decide',
    atMs: run.atMs,
    decision: { requestId: requestIdOf(1), approved: true, always: { kind: 'arguments', match: { amount: '*' } } },
    voter: claimedBy('ann'),
  });
  run.call({ tool: 'pay', args: { amount: 2 }, risk: 'write' }, undefined);
  run.call({ tool: 'pay', args: { amount: 20 }, risk: 'write' }, undefined);
  return { entries: run.entries, evidence: run.evidence };
}

const text = (value: unknown): string => JSON.stringify(value);

test('evidence goes through the lines of a file', () => {
  const { entries, evidence } = recorded();
  const whole = {
    ...evidence,
    missing: [{ seq: 9, why: 'gone' }],
    start: emptyStanding(2),
  };
  const parts = parseJson(text(evidenceParts(whole))) as ReturnType<typeof evidenceParts>;
  const read = evidenceOfParts(parts);
  expect(read).toEqual({ evidence: parseJson(text(whole)) });
  if ('problem' in read) throw new Error(read.problem);
  expect(verifyEvidence(entries, read.evidence)).toEqual({ agreed: [1, 4, 5], differing: [], notReRuled: [] });
});

test.each([
  ['an unknown part', { part: 'order', key: '1', value: {} }],
  ['a policy that is no object', { part: 'policy', key: 'a', value: 1 }],
  ['a ruling without a call', { part: 'ruling', key: '1', value: { context: 'a', agent: 'b', policies: {} } }],
  [
    'a ruling without a number',
    { part: 'ruling', key: 'x', value: { call: 'c', context: 'a', agent: 'b', policies: {} } },
  ],
  ['a start without grants', { part: 'start', key: '1', value: { seq: 1 } }],
])('%s is refused', (_, part) => {
  expect(evidenceOfParts([part])).toEqual({ problem: 'evidence 1 is no part of evidence' });
});

test('a call without its arguments is not the one that its digest names', () => {
  const { entries, evidence } = recorded();
  for (const call of Object.values(evidence.calls)) delete call.args;
  const { agreed, differing } = verifyEvidence(entries, evidence);
  expect(agreed).toEqual([]);
  expect(differing.map(({ seq }) => seq)).toEqual([1, 4, 5]);
});

test.each<[string, number, string[], { agreed: number[]; notReRuled: object[] }]>([
  ['a reason', 5, ['reason'], { agreed: [1, 4, 5], notReRuled: [] }],
  ['a digest', 5, ['digest'], { agreed: [1, 4], notReRuled: [{ seq: 5, why: 'its digest is withheld' }] }],
  [
    'the scope of a grant',
    3,
    ['scope'],
    {
      agreed: [1],
      notReRuled: [4, 5].map((seq) => ({
        seq,
        why: 'the scope of grant-1 is withheld, and it may depend on that',
      })),
    },
  ],
])('an entry without %s', (_, seq, withheld, expected) => {
  const { entries, evidence } = recorded();
  const shown = entries.map((entry) => {
    if (entry.seq !== seq) return entry;
    const left = Object.entries(entry).filter(([name]) => !withheld.includes(name));
    return { ...(Object.fromEntries(left) as unknown as JournalEntry), withheld };
  });
  expect(verifyEvidence(shown, evidence)).toEqual({ ...expected, differing: [] });
});

test('a run of an export: findings, and the count of what agrees and what was not ruled on again', () => {
  const { entries, evidence } = recorded();
  const lines = entries.map((entry) => ({ entry: { ...entry } }));
  expect(ruleRunAgain({ entries: lines, evidence: evidenceParts(evidence) })).toEqual({
    findings: [],
    agreed: 3,
    notMade: [],
  });
  Object.assign(lines[4]!.entry, { severity: 'low' });
  expect(ruleRunAgain({ entries: lines, evidence: evidenceParts(evidence) })).toMatchObject({
    findings: [{ seq: 5, message: expect.stringContaining("the journal says 'low'") }],
    agreed: 2,
    notMade: [],
  });
});

test('no damage to a file makes the verification throw, and each ruling is counted once', () => {
  const whole = text(recorded());
  const damage = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), by: fc.jsonValue({ maxDepth: 2 }) });
  fc.assert(
    fc.property(fc.array(damage, { minLength: 1, maxLength: 4 }), (damages) => {
      const { entries, evidence } = parseJson(whole) as ReturnType<typeof recorded>;
      for (const { at, by } of damages)
        replaceOne([entries, evidence.policies, evidence.calls, evidence.contexts], at, by);
      const sound = entries.filter(
        (entry) => typeof entry === 'object' && entry !== null && Number.isSafeInteger(entry.seq),
      );
      const { agreed, differing, notReRuled } = verifyEvidence(sound, evidence);
      const all = [...agreed, ...[...differing, ...notReRuled].map(({ seq }) => seq)];
      expect(new Set(all).size).toBe(all.length);
    }),
    { numRuns: runs(500) },
  );
});

/** Replaces one value somewhere in a tree; `at`: which, from 0 to 1. */
function replaceOne(tree: unknown, at: number, by: unknown): void {
  const places: [Record<string, unknown>, string][] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const key of Object.keys(value)) {
      places.push([value as Record<string, unknown>, key]);
      walk((value as Record<string, unknown>)[key]);
    }
  };
  walk(tree);
  const [parent, key] = places[Math.floor(at * (places.length - 1))] ?? [];
  if (parent !== undefined) parent[key!] = by;
}
