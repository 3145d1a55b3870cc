import { describe, expect, vi, test } from 'vitest';
import { findNamed, shortIds } from '../../../packages/cli/src/base/request-id.ts';
import { renderApprovals } from '../../../packages/cli/src/inbox/approval-views.ts';
import { sendDecision } from '../../../packages/cli/src/answers/send-decision.ts';
import type { CountersignClient } from '../../../src/client/countersign-client.ts';
import type { ApprovalFilter } from '../../../src/client/inbox/list-approvals.ts';
import { timeLimits } from '../../../src/client/server/time-limits.ts';
import type { ApprovalSummary, Decision } from '../../../src/contract.ts';
import { growth, squareGrowth } from '../../support/processor-time.ts';
import { terminal } from './support.ts';
import { requestRow } from '../../support/requests.ts';

const idOf = (start: string): string => start.padEnd(32, '0');

const row = (start: string, more: Partial<ApprovalSummary> = {}): ApprovalSummary =>
  requestRow({ requestId: idOf(start), digest: start.padEnd(64, 'd'), ...more });

/** A client with this inbox. It records what it is asked and sent. */
function inbox(approvals: ApprovalSummary[], more = 0, unreadIds: string[] = []) {
  const sent: unknown[] = [];
  const list = vi.fn(async ({ workflowId }: ApprovalFilter) => ({
    approvals: approvals.filter((each) => workflowId === undefined || each.workflowId === workflowId),
    unread: unreadIds.length === 0 ? [] : [{ workflowId: 'run-3', requestIds: unreadIds, message: 'No codec.' }],
    more,
  }));
  const decide = async (decision: Decision, options: unknown) => {
    sent.push(decision, options);
    return { requestId: decision.requestId, accepted: true, message: 'done' };
  };
  const client = { approvals: { list }, decide, session: { limits: timeLimits({}), attributes: { tags: null } } };
  return { client: client as unknown as CountersignClient, list, sent };
}

const inboxRows = [
  row('4f0c9a1e'),
  row('4f0c9a1e1', { toolName: 'mail' }),
  row('81aa'),
  row('7777', { workflowId: 'run-2' }),
  row('7777', { workflowId: 'stranger', digest: 'e'.repeat(64) }),
];

describe('findNamed', () => {
  test.each<[string, string, string | undefined]>([
    ['the first 4 characters', '81aa', row('81aa').digest],
    ['all but one', idOf('81aa').slice(0, 31), row('81aa').digest],
    ['characters of one of two', '4f0c9a1e1', row('4f0c9a1e1').digest],
    ['an id that two runs claim: the client finds out whose it is', '7777', undefined],
  ])('%s', async (_name, named, digest) => {
    const { requestId } = inboxRows.find((each) => each.requestId.startsWith(named))!;
    expect(await findNamed(inbox(inboxRows).client, named)).toEqual({ requestId, digest });
  });

  test('an id in a run that cannot be read: it counts, without a digest', async () => {
    const { client } = inbox(inboxRows, 0, [idOf('5555'), idOf('81aab')]);
    expect(await findNamed(client, '5555')).toEqual({ requestId: idOf('5555') });
    const sentence = "'81aa' is the start of 2 open requests: 81aa0000 (pay), 81aab000 (unread).";
    await expect(findNamed(client, '81aa')).rejects.toThrow(sentence);
  });

  test('a whole id is not looked up', async () => {
    const { client, list } = inbox([]);
    expect(await findNamed(client, idOf('abc'))).toEqual({ requestId: idOf('abc') });
    expect(list).not.toHaveBeenCalled();
  });

  test('within one run, and in a list without a limit', async () => {
    const rows = [row('5555a'), row('5555b', { workflowId: 'run-2' })];
    const { client, list } = inbox(rows);
    expect(await findNamed(client, '5555', 'run-2')).toMatchObject({ requestId: idOf('5555b') });
    expect(list).toHaveBeenCalledWith({ workflowId: 'run-2', limit: Infinity });
  });

  test.concurrent.each<[string, ApprovalSummary[], number, string, string]>([
    ['several', inboxRows, 0, '4f0c', "'4f0c' is the start of 2 open requests: 4f0c9a1e0 (pay), 4f0c9a1e1 (mail)."],
    [
      'none',
      inboxRows,
      0,
      '9999',
      "No request that is listed so far starts with '9999'; one settled long ago needs its whole id.",
    ],
    [
      'one, but others cannot be read',
      inboxRows,
      3,
      '81aa',
      "3 open requests cannot be read, and '81aa' may be one of them: give the whole id.",
    ],
    [
      'none, but others cannot be read',
      [],
      3,
      '81aa',
      "3 open requests cannot be read, and '81aa' may be one of them: give the whole id.",
    ],
    [
      'no id in the row of a stranger',
      [row('81aa', { requestId: '81aa\u001b[2J' })],
      0,
      '81aa',
      "No request that is listed so far starts with '81aa'; one settled long ago needs its whole id.",
    ],
    [
      '3 characters',
      inboxRows,
      0,
      '81a',
      "'81a' is not a request id: give its 32 hex characters, or the first 4 or more.",
    ],
    [
      'capitals',
      inboxRows,
      0,
      '81AA',
      "'81AA' is not a request id: give its 32 hex characters, or the first 4 or more.",
    ],
    [
      '33 characters',
      inboxRows,
      0,
      '8'.repeat(33),
      `'${'8'.repeat(33)}' is not a request id: give its 32 hex characters, or the first 4 or more.`,
    ],
  ])('%s: one sentence', async (_name, rows, more, named, message) => {
    await expect(findNamed(inbox(rows, more).client, named)).rejects.toMatchObject({
      code: 'unknown_request',
      message,
    });
  });
});

test.each<[string, { digest?: string }, string]>([
  ['the digest that the inbox shows', {}, row('81aa').digest],
  ['the digest that the person gives', { digest: 'f'.repeat(64) }, 'f'.repeat(64)],
])('a decision carries the whole id and %s', async (_name, given, digest) => {
  const { client, sent } = inbox(inboxRows);
  const options = { run: 'run-1', reviewer: 'ann', ...given };
  await sendDecision(client, terminal(), options, { requestId: '81aa', approved: true });
  const viewed = { channel: 'cli' };
  const decision = { requestId: idOf('81aa'), approved: true, reviewerId: 'ann', digest, viewed };
  expect(sent).toEqual([decision, { workflowId: 'run-1' }]);
});

test('a table shows as many characters of an id as keep the ids apart, and 8 or more', () => {
  expect(['4f0c', '81aa'].map(idOf).map(shortIds(['4f0c', '81aa'].map(idOf)))).toEqual(['4f0c0000', '81aa0000']);
  const shown = renderApprovals(terminal(), inboxRows, Date.now()).match(/^[0-9a-f]+/gm);
  expect(shown).toEqual(['4f0c9a1e0', '4f0c9a1e1', '81aa00000', '777700000', '777700000']);
});

test('ids that begin alike take as much longer as they are longer', () => {
  const alike = (size: number) => ['a'.repeat(size), `${'a'.repeat(size)}b`];
  expect(growth((size) => () => shortIds(alike(size)), 2_000)).toBeLessThan(squareGrowth);
  expect(shortIds(alike(20))(alike(20)[1]!)).toBe(alike(20)[1]);
});
