/** Grants for a shell command look at the whole call, where they are made and where they answer open requests. */
import { expect, test } from 'vitest';
import type { RequestedScope } from '../../../src/core/messages/decision.ts';
import type { ReviewerVote } from '../../../src/core/ledger/approval.ts';
import { emptyLedger, iso, type RequestRecord } from '../../../src/core/ledger/ledger.ts';
import { makeGrant } from '../../../src/core/ledger/make-grant.ts';
import { splitShell } from '../../../src/shell/split.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { requestIdOf, requestRecord } from '../../support/record-request.ts';

const command = (number: number, others: JsonObject = {}, beside?: string[], text = `ls ${number}`): RequestRecord => {
  const record = requestRecord(number, null, { toolName: 'bash', arguments: { command: text, ...others } });
  return { ...record, ruled: { ...record.ruled, subject: 'command', shell: splitShell(text), beside } };
};
const env = { env: { LS_COLORS: 'x' } };

function granted(first: RequestRecord, others: RequestRecord[], match: Record<string, string>) {
  const reduction = { ledger: { ...emptyLedger(1), open: others }, entries: [] };
  const always: RequestedScope = { kind: 'arguments', match };
  const vote: ReviewerVote = { approved: true, always, identity: 'anonymous', at: iso(0), contentDigest: '' };
  const { note, settled } = makeGrant(reduction, first, [vote], 0, {});
  return { note, settled: settled.map(({ requestId }) => requestId) };
}

const made = '; grant-1 (arguments)';
test.each<[string, RequestRecord, Record<string, string>, string]>([
  ['the command alone', command(1), { command: 'ls*' }, made],
  [
    'an argument that it leaves out',
    command(1, env),
    { command: 'ls*' },
    "; no grant: 'always.match' must name 'env' too",
  ],
  ['an argument that it names', command(1, env), { command: 'ls*', env: '*' }, made],
  ['a declared argument', command(1, { note: 'Look' }, ['note']), { command: 'ls*' }, made],
  [
    'the beginning of a command',
    command(1, {}, [], 'ls; rm x'),
    { command: 'ls*' },
    "; no grant: 'always.match' must match each part of the command by itself",
  ],
])('a grant for %s', (_, record, match, note) => {
  expect(granted(record, [], match).note).toBe(note);
});

test('a grant for the command answers no open request that brings another argument', () => {
  const [plain, declared, other] = [command(2), command(3, { note: 'Look' }, ['note']), command(4, env)];
  const { settled } = granted(command(1), [plain, declared, other], { command: 'ls*' });
  expect(settled).toEqual([requestIdOf(2), requestIdOf(3)]);
});

test('a grant for the beginning of a command answers no open request that goes on with another', () => {
  const { settled } = granted(command(1), [command(2), command(3, {}, [], 'ls 3; rm x')], { command: 'ls*' });
  expect(settled).toEqual([requestIdOf(2)]);
});
