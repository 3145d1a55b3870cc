import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import type { ReviewedRequest } from '../../src/client/send/decide.ts';
import type { ApprovalRequest, Receipt } from '../../src/contract.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { openLink } from '../support/link.ts';
import { sharedAddress } from '../support/shared-server.ts';
import { type RunInTest, openWorld } from '../support/world.ts';

const world = forAllTests(() => openWorld());

async function startAsking(count: number): Promise<{ run: RunInTest; open: ApprovalRequest[] }> {
  const calls = Array.from({ length: count }, (_, index) => ({
    tool: 'pay',
    args: { to: `p${index}`, amount: index },
  }));
  const run = await world.start([{ calls }, { text: '{{lastResult}}' }]);
  return { run, open: await run.open(count) };
}

const digestOnly = ({ requestId, digest }: ReviewedRequest): ReviewedRequest => ({ requestId, digest });
const seen = (receipts: Receipt[]) =>
  receipts.map(({ requestId, accepted, outcome, code }) => [requestId, accepted, code ?? outcome]);

describe('decideAll', () => {
  test('a receipt for each in order, over several runs; what is wrong with one does not affect the others', async () => {
    const one = await startAsking(3);
    const two = await startAsking(2);
    await world.client.decide({ requestId: two.open[1]!.requestId, approved: false, reviewerId: 'ann' });
    const reviewed = [
      one.open[1]!,
      { ...two.open[0]!, digest: '0'.repeat(64) },
      { requestId: 'nonsense', digest: '0'.repeat(64) },
      digestOnly(one.open[0]!),
      two.open[1]!,
      { requestId: one.open[2]!.requestId } as ReviewedRequest,
      { requestId: randomUUID().replaceAll('-', ''), digest: '0'.repeat(64) },
      { ...one.open[2]!, workflowId: 'run-nowhere' },
      one.open[0]!,
    ];
    const receipts = await world.client.decideAll(reviewed, { approved: true, reviewerId: 'rita' });
    expect(seen(receipts)).toEqual([
      [one.open[1]!.requestId, true, 'approved'],
      [two.open[0]!.requestId, false, 'digest_mismatch'],
      ['nonsense', false, 'unknown_request'],
      [one.open[0]!.requestId, true, 'approved'],
      [two.open[1]!.requestId, false, 'already_settled'],
      [one.open[2]!.requestId, false, 'invalid_decision'],
      [reviewed[6]!.requestId, false, 'unknown_request'],
      [one.open[2]!.requestId, false, 'run_not_found'],
      [one.open[0]!.requestId, false, 'already_settled'],
    ]);
    expect(receipts[4]).toMatchObject({ settledBy: 'ann' });
    expect(receipts[8]).toMatchObject({ settledBy: 'rita' });
    const rest = [one.open[2]!, two.open[0]!];
    expect(seen(await world.client.decideAll(rest, { approved: false }))).toEqual(
      rest.map(({ requestId }) => [requestId, true, 'denied']),
    );
    await Promise.all([one.run.result(), two.run.result()]);
  });

  test('a request that has come since is not touched', async () => {
    const first = await startAsking(1);
    const { approvals: reviewed } = await world.client.approvals.list({ workflowId: first.run.workflowId });
    const later = await startAsking(1);
    // The same run asks again as soon as the first call has run.
    const again = await world.start([
      { calls: [{ tool: 'pay', args: { to: 'ann', amount: 1 } }] },
      { calls: [{ tool: 'pay', args: { to: 'bob', amount: 2 } }] },
      { text: 'done' },
    ]);
    const [early] = await again.open();
    const receipts = await world.client.decideAll([...reviewed, early!], { approved: true });
    expect(receipts.map(({ outcome }) => outcome)).toEqual(['approved', 'approved']);
    const [late] = await again.open();
    expect(late!.requestId).not.toBe(early!.requestId);
    expect((await later.run.open()).map(({ requestId }) => requestId)).toEqual([later.open[0]!.requestId]);
    expect(world.ran().filter((line) => /pay (ann|bob)/.test(line))).toEqual(['pay ann 1']);
    await world.client.decideAll([late!, later.open[0]!], { approved: false });
    await Promise.all([first.run.result(), later.run.result(), again.result()]);
  });

  test('all requests of a run are one update, and a repetition under the same id gets the original receipts', async () => {
    const { run, open } = await startAsking(4);
    const batch = { approved: true, decisionId: `batch-${randomUUID()}` };
    const receipts = await world.client.decideAll(open, batch);
    await run.result();
    expect(await world.client.decideAll(open, batch)).toEqual(receipts);
    expect(seen(await world.client.decideAll(open, { ...batch, approved: false }))).toEqual(
      open.map(({ requestId }) => [requestId, false, 'already_settled']),
    );
    const { events } = await run.handle.fetchHistory();
    const updates = events!.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes != null);
    expect(updates).toHaveLength(1);
  });

  test('without a server each has a receipt, and nothing is thrown', async () => {
    const link = await openLink(sharedAddress());
    const client = await createClient({ address: link.address });
    link.cut();
    try {
      const reviewed = Array.from({ length: 30 }, (_, index) => ({
        requestId: `${index % 10}`.repeat(32),
        digest: '0'.repeat(64),
        workflowId: `run-${index}`,
      }));
      expect(seen(await client.decideAll(reviewed, { approved: true }))).toEqual(
        reviewed.map(({ requestId }) => [requestId, false, 'server_unreachable']),
      );
    } finally {
      await client.close();
      await link.close();
    }
  });

  test('nothing reviewed: no receipts', async () => {
    await expect(world.client.decideAll([], { approved: true })).resolves.toEqual([]);
  });
});
