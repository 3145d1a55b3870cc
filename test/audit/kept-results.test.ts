import { expect, test } from 'vitest';
import { verifyEvidence } from '../../src/audit/verify-evidence.ts';
import type { JournalEntry } from '../../src/core/ledger/journal-entry.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import { claimedBy, requestIdOf } from '../support/record-request.ts';
import { RecordedRulings } from './recorded-rulings.ts';

/** What an audit says of rulings that name an earlier result as their answer. */

const policyOf = (approval: Policy['approval'] = {}): Policy => ({
  version: 1,
  rules: [{ pattern: 'look', action: 'ask' }],
  riskDefaults: {},
  approval,
});
const look = { tool: 'look', args: { what: 'sea' }, risk: 'read_only' as const };

/** A call that was approved and ran, and an equal one that its result answered: entries 1 to 3, and 4. */
function recorded(approval?: Policy['approval'], first = look) {
  const run = new RecordedRulings({ ceiling: policyOf(approval) }, 'ops', { metadata: {} });
  run.call(first, undefined);
  const decision = { requestId: requestIdOf(1), approved: true };
  run.send({ kind: 'decide', atMs: run.atMs, decision, voter: claimedBy('bob') });
  run.send({ kind: 'ran', atMs: run.atMs, callId: '1.1', ran: 'yes' });
  run.call(look, undefined);
  const entries = run.entries.map((entry): JournalEntry => {
    if (entry.seq !== 4) return entry;
    const { requestId: _, deadline: __, to: ___, ...ruling } = entry;
    return { ...ruling, kind: 'ruling', outcome: 'cached', resultOf: '1.1' };
  });
  return { entries, evidence: run.evidence };
}

const differs = 'entry 4: the call whose result answers it gave none, or is not equal to it';

test('it agrees with what the gate writes', () => {
  const { entries, evidence } = recorded();
  expect(verifyEvidence(entries, evidence)).toEqual({ agreed: [1, 4], differing: [], notReRuled: [] });
});

test.each<[name: string, seq: number, change: Partial<JournalEntry>]>([
  ['names no call', 4, { resultOf: undefined }],
  ['names a call that is not there', 4, { resultOf: '9.9' }],
  ['names a call that did not run', 3, { ran: 'no' }],
  ['names a call whose end is unknown', 3, { ran: 'unknown' }],
  ['names a call whose result was withheld', 3, { code: 'result_withheld' }],
])('it differs from an entry that %s', (_name, seq, change) => {
  const { entries, evidence } = recorded();
  const changed = entries.map((entry) => (entry.seq === seq ? { ...entry, ...change } : entry));
  expect(verifyEvidence(changed, evidence).differing).toEqual([{ seq: 4, sentence: differs }]);
});

test('it differs from an entry that names a call with other arguments', () => {
  const { entries, evidence } = recorded({}, { ...look, args: { what: 'sky' } });
  expect(verifyEvidence(entries, evidence).differing).toEqual([{ seq: 4, sentence: differs }]);
});

test('it differs where the policies switch results off', () => {
  const { entries, evidence } = recorded({ cachedResults: false });
  const sentence = "entry 4: by the recorded policies and call, its answer is 'asked'; the journal says 'cached'";
  expect(verifyEvidence(entries, evidence).differing).toEqual([{ seq: 4, sentence }]);
});
