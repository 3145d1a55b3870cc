import { describe, expect, test } from 'vitest';
import { approvalQueue } from '../../src/channels/approval-queue.ts';
import { createClient } from '../../src/client/client.ts';
import type { CountersignClient } from '../../src/client/countersign-client.ts';
import type { ApprovalSummary } from '../../src/contract.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { eventually } from '../support/eventually.ts';
import { sharedAddress } from '../support/shared-server.ts';
import { openWorld, type RunInTest } from '../support/world.ts';

const world = forAllTests(() => openWorld());

const asking = { rules: [{ pattern: '*', action: 'ask' }] };
const pay = (to: string) => ({ tool: 'pay', args: { to, amount: 5 } });
/** One run that asks about all of them at once. */
const start = (...people: string[]): Promise<RunInTest> =>
  world.start([{ calls: people.map(pay) }, { text: 'done' }], { policy: asking });
const outcomes = async (run: RunInTest) => (await run.result()).outcomes.map(({ outcome }) => outcome);

describe('one after the other', () => {
  test('next gives out each open request once, with its arguments, and waits for more', async () => {
    const run = await start('ann', 'bob');
    const queue = approvalQueue(world.client, { workflowId: run.workflowId, reviewerId: 'rita' });
    const first = await queue.next();
    const second = await queue.next();
    expect(new Set([first, second].map(({ arguments: args }) => args.to))).toEqual(new Set(['ann', 'bob']));
    const stop = new AbortController();
    const third = queue.next(stop.signal);
    stop.abort(new Error('closing time'));
    await expect(third).rejects.toThrow('closing time');

    expect(await queue.respond(first.requestId, true)).toMatchObject({ accepted: true, outcome: 'approved' });
    const denied = await queue.respond(second.requestId, { approved: false, reason: 'No', reviewerId: 'ben' });
    expect(denied).toMatchObject({ outcome: 'denied' });
    expect((await outcomes(run)).toSorted()).toEqual(['approved', 'denied']);
    const { entries } = await world.client.journal(run.workflowId);
    const settled = entries.filter(({ kind }) => kind === 'settled') as { reviewerId?: string }[];
    expect(new Set(settled.map(({ reviewerId }) => reviewerId))).toEqual(new Set(['ben', 'rita']));
  });

  test('a request about which the user has written since is given out again, and not approved before', async () => {
    const run = await world.start([{ calls: [pay('ann')] }, { text: 'done' }], { policy: asking, session: true });
    const queue = approvalQueue(world.client, { workflowId: run.workflowId });
    const { requestId } = await queue.next();
    await run.handle.executeUpdate('message', { args: [{ content: 'Wait.' }] });
    await expect(queue.respond(requestId, true)).rejects.toMatchObject({ code: 'request_changed' });
    expect(await queue.next()).toMatchObject({ requestId, userMessages: { count: 1, last: ['Wait.'] } });
    expect(await queue.respond(requestId, true)).toMatchObject({ accepted: true, outcome: 'approved' });
    await run.handle.signal('close');
    await run.result();
  });

  test('two who wait at once get two requests', async () => {
    const run = await start('ann', 'bob');
    const queue = approvalQueue(world.client, { workflowId: run.workflowId });
    const both = await Promise.all([queue.next(), queue.next()]);
    expect(new Set(both.map(({ requestId }) => requestId)).size).toBe(2);
    await queue.denyAll();
  });

  test('a request that comes later is given out as soon as it is there', async () => {
    const run = await world.start([{ calls: [pay('ann')] }, { calls: [pay('bob')] }, { text: 'done' }], {
      policy: asking,
    });
    const queue = approvalQueue(world.client, { workflowId: run.workflowId });
    await queue.respond((await queue.next()).requestId, true);
    const later = await queue.next();
    expect(later.arguments).toMatchObject({ to: 'bob' });
    await queue.respond(later.requestId, false);
    expect(await outcomes(run)).toEqual(['approved', 'denied']);
  });

  test('it goes on in another process, which has a client of its own', async () => {
    const run = await start('ann');
    const other: CountersignClient = await createClient({ address: sharedAddress() });
    try {
      const queue = approvalQueue(other, { workflowId: run.workflowId });
      const { requestId } = await queue.next();
      await queue.respond(requestId, { approved: true, modifiedArguments: { to: 'ann', amount: 4 } });
      expect(await outcomes(run)).toEqual(['approved']);
    } finally {
      await other.close();
    }
  });

  test('what respond is told is checked before it is sent', async () => {
    const run = await start('ann');
    const queue = approvalQueue(world.client, { workflowId: run.workflowId });
    const { requestId } = await queue.next();
    const nonsense = { approved: 'yes' } as unknown as boolean;
    await expect(queue.respond(requestId, nonsense)).rejects.toMatchObject({ name: 'InvalidAnswer' });
    await expect(queue.respond('0'.repeat(32), true)).rejects.toMatchObject({ code: 'unknown_request' });
    await expect(queue.respond(requestId, { approved: true, digest: 'b'.repeat(64) })).rejects.toMatchObject({
      code: 'digest_mismatch',
    });
    await queue.respond(requestId, false);
    await expect(queue.respond(requestId, true)).rejects.toMatchObject({ code: 'already_settled' });
  });
});

describe('all at once', () => {
  test('approveAll approves what was shown, and nothing that has come since', async () => {
    const run = await start('ann', 'bob');
    const queue = approvalQueue(world.client, { tool: 'pay', agent: 'tester', workflowId: run.workflowId });
    expect(await queue.approveAll()).toEqual([]);
    const shown = await eventually('both', async () => {
      const rows = await queue.pending();
      return rows.length === 2 && rows;
    });
    const since = await start('carl');
    await since.open();
    const both = approvalQueue(world.client, {});
    const receipts = await queue.approveAll('Looked through');
    expect(receipts.map(({ requestId }) => requestId)).toEqual(shown.map(({ requestId }) => requestId));
    expect(await outcomes(run)).toEqual(['approved', 'approved']);
    expect(await both.approveAll()).toEqual([]);
    expect((await since.open())[0]!.toolName).toBe('pay');
    expect(await queue.approveAll()).toEqual([]);
    await world.client.closeRun(since.workflowId);
  });

  test('a request whose call changed since it was shown is refused in its receipt', async () => {
    const row: ApprovalSummary = { ...summary('w', '1'), digest: 'b'.repeat(64) };
    const { client, sent } = fakeInbox([row]);
    const queue = approvalQueue(client);
    await queue.pending();
    row.digest = 'c'.repeat(64);
    await queue.approveAll();
    expect(sent).toEqual([[{ requestId: row.requestId, workflowId: 'w', digest: 'b'.repeat(64) }]]);
  });

  test('denyAll denies whatever waits', async () => {
    const run = await start('ann', 'bob', 'carl');
    await run.open(3);
    const receipts = await approvalQueue(world.client, { workflowId: run.workflowId }).denyAll('Closed');
    expect(receipts.map(({ outcome }) => outcome)).toEqual(['denied', 'denied', 'denied']);
    const transcript = await run.handle.query<{ content: string }[]>('transcript');
    expect(transcript.filter(({ content }) => content === 'Denied: Closed')).toHaveLength(3);
  });
});

describe('rows of strangers', () => {
  test('two runs that list the same id: respond does not choose', async () => {
    const { client, sent } = fakeInbox([summary('real', '1'), summary('forged', '1')]);
    const queue = approvalQueue(client);
    await queue.pending();
    await expect(queue.respond('1'.repeat(32), true)).rejects.toMatchObject({ code: 'unknown_request' });
    expect(sent).toEqual([]);
  });

  test('a request that cannot be read does not hold up the others', async () => {
    const { client } = fakeInbox([summary('unreadable', '1'), summary('real', '2')]);
    const { workflowId } = await approvalQueue(client).next();
    expect(workflowId).toBe('real');
  });
});

function summary(workflowId: string, digit: string): ApprovalSummary {
  return { requestId: digit.repeat(32), workflowId, digest: 'a'.repeat(64) } as ApprovalSummary;
}

/** A client whose inbox has these rows. Runs named `unreadable` have no worker. */
function fakeInbox(rows: readonly ApprovalSummary[]): { client: CountersignClient; sent: unknown[] } {
  const sent: unknown[] = [];
  const client = {
    approvals: {
      list: async () => ({ approvals: rows.map((row) => ({ ...row })), more: 0, unread: [] }),
      get: async (requestId: string, { workflowId }: { workflowId: string }) =>
        workflowId === 'unreadable'
          ? world.client.approvals.get(requestId, { workflowId: 'there-is-no-such-run' })
          : rows.find((row) => row.workflowId === workflowId),
    },
    decide: async (decision: unknown) => sent.push(decision),
    decideAll: async (reviewed: unknown) => [sent.push(reviewed)],
  } as unknown as CountersignClient;
  return { client, sent };
}
