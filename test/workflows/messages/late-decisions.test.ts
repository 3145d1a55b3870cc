import { expect, test } from 'vitest';
import { refusedKept } from '../../../src/core/ledger/ledger-state.ts';
import { recordBySignal } from '../../../src/client/send/deliver.ts';
import type { ApprovalRequest } from '../../../src/contract.ts';
import { cli } from '../../adapters/cli/support.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import { type RunInTest, openWorld } from '../../support/world.ts';

/** A decision after the deadline changes nothing, and the journal says who decided what, and when, however it came. */

const world = forAllTests(() => openWorld());

/** A run with one request that has expired, and one that keeps the run waiting. */
async function startExpired(): Promise<{ run: RunInTest; expired: ApprovalRequest; waiting: ApprovalRequest }> {
  const calls = [1, 2].map((amount) => ({ tool: 'pay', args: { to: 'ann', amount } }));
  const waits = { pattern: 'pay', action: 'ask' };
  const { played } = await inTime(4, async (seconds) => {
    const expires = { ...waits, when: 'args.amount == 1', ask: { timeout: `${seconds}s` } };
    const run = await world.start([{ calls }, { text: 'done' }], { policy: { version: 1, rules: [waits, expires] } });
    // Both, unless one has expired.
    const [expired, waiting] = await run.open();
    return { run, expired: expired!, waiting: waiting! };
  });
  await eventually('the first request expires', async () => (await played.run.status()).counts.open === 1);
  return played;
}

const journaled = async ({ workflowId }: RunInTest): Promise<object[]> => {
  const { entries } = await world.client.journal(workflowId);
  return entries.filter(({ kind }) => kind === 'refused');
};

test('by update, by the client, in a list and by signal: who, what and when', async () => {
  const { run, expired, waiting } = await startExpired();
  const { requestId } = expired;
  const decisions = ['ann', 'bob', 'cleo', 'dan'].map((reviewerId, index) => ({
    requestId,
    approved: index !== 1,
    reviewerId,
    decisionId: `late-${reviewerId}`,
  }));
  const [ann, bob, cleo, dan] = decisions;
  const raw = run.handle.executeUpdate('decide', { args: [ann] });
  await expect(raw).rejects.toMatchObject({ cause: { type: 'expired', details: [{ requestId, outcome: 'expired' }] } });
  await expect(world.client.decide(bob!)).rejects.toMatchObject({ code: 'expired' });
  const list = { requestId: waiting.requestId, approved: false, digest: '0'.repeat(64) };
  expect(await run.handle.executeUpdate('decide', { args: [[cleo, list]] })).toMatchObject([
    { code: 'expired' },
    { code: 'digest_mismatch' },
  ]);
  await recordBySignal(world.client.session, { workflowId: run.workflowId, name: 'decide', payload: dan });
  await run.handle.executeUpdate('decide', { args: [{ requestId: waiting.requestId, approved: true }] });
  const { outcomes } = await run.result();
  expect(outcomes).toMatchObject([
    { outcome: 'expired', ran: 'no' },
    { outcome: 'approved', ran: 'yes' },
  ]);
  const late = decisions.map(({ approved, reviewerId, decisionId }) => ({
    code: 'expired',
    requestId,
    approved,
    reviewerId,
    identity: 'claimed',
    decisionId,
    at: expect.stringMatching(/^\d{4}-/) as string,
  }));
  expect(await journaled(run)).toMatchObject([...late.slice(0, 3), { code: 'digest_mismatch' }, late[3]]);
  expect(JSON.stringify(await journaled(run))).not.toContain('"reason"');
});

test.each(['in its run', 'in the newest runs'])(
  'by the command line, with a short id, looked for %s',
  async (where) => {
    const { run, expired, waiting } = await startExpired();
    const named = [expired.requestId.slice(0, 8), ...(where === 'in its run' ? ['--run', run.workflowId] : [])];
    const refused = await eventually('visibility lists the settled request', async () => {
      const answer = await cli(['deny', ...named, '--reviewer', 'eve']);
      return !answer.stderr.startsWith('No request that is listed so far') && answer;
    });
    expect(refused.code).toBe(4);
    await world.client.decide({ requestId: waiting.requestId, approved: true });
    await run.result();
    const entry = { code: 'expired', requestId: expired.requestId, reviewerId: 'eve', approved: false };
    expect(await journaled(run)).toMatchObject([entry]);
  },
);

test('nobody fills the history: after the first refusals, a late update is refused before it enters', async () => {
  const { run, expired, waiting } = await startExpired();
  const { requestId } = expired;
  const all = 10;
  for (let sent = 0; sent < refusedKept + all; sent++) {
    const decision = { requestId, approved: true, decisionId: `late-${sent}` };
    const again = run.handle.executeUpdate('decide', { args: [decision] });
    await expect(again).rejects.toMatchObject({ cause: { type: 'expired' } });
  }
  await run.handle.executeUpdate('decide', { args: [{ requestId: waiting.requestId, approved: true }] });
  await run.result();
  const { executions } = await world.client.historyChain(run.workflowId);
  const events = executions.flatMap((each) => each.events);
  const accepted = events.filter((each) => each.workflowExecutionUpdateAcceptedEventAttributes != null);
  expect(accepted).toHaveLength(refusedKept + 1);
  expect(await journaled(run)).toHaveLength(refusedKept);
});
