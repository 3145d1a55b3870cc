import { expect, test } from 'vitest';
import type { ApprovalDetails, Grant, Receipt } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld } from '../../support/world.ts';

/** A waiting run that continues as new carries votes, seats, grants, denials and known message ids (I11). */

const world = forAllTests(() => openWorld({ continueAsNewAfter: { historyEvents: 40, updates: 100 } }));

test('votes, seats, deadline, grants, denial counts and receipts survive', async () => {
  const pay = (amount: number) => ({ tool: 'pay', args: { to: 'carried', amount } });
  const run = await world.start(
    [
      { calls: [pay(1)] },
      { calls: [pay(2)] },
      { calls: [{ tool: 'wipe', args: {} }] },
      { calls: [pay(3)] },
      { text: 'end' },
    ],
    {
      policy: {
        rules: [
          { pattern: 'pay', action: 'ask' },
          { pattern: 'wipe', action: 'ask', ask: { reviewers: ['ann', 'bob', 'cat'], quorum: 2, timeout: '1h' } },
        ],
      },
    },
  );
  const update = (name: string, message: object): Promise<Receipt> =>
    run.handle.executeUpdate<Receipt, [unknown]>(name, { args: [message] });
  const [first] = await run.open();
  await update('decide', { requestId: first!.requestId, approved: false, reason: 'Too early', decisionId: 'early' });
  const [second] = await run.open();
  await update('decide', {
    requestId: second!.requestId,
    approved: true,
    always: { kind: 'arguments', match: { to: 'carr*' } },
  });
  const third = await eventually('wipe to be asked about', async () => {
    const [request] = await run.open();
    return request!.toolName === 'wipe' && request!;
  });
  const { requestId } = third;
  const vote = { requestId, approved: true, reviewerId: 'ann', decisionId: 'vote' };
  await update('decide', vote);
  await update('delegate', { requestId, to: 'eve', by: 'bob' });

  const executions = async (): Promise<number> => (await run.status()).executions;
  const before = await executions();
  await eventually('the run to continue as new', async () => {
    await run.handle.signal('decide', { requestId: '0'.repeat(32), approved: true });
    return (await executions()) > before;
  });

  const details = await run.handle.query<ApprovalDetails, [unknown]>('approvals', { requestId });
  expect(details).toMatchObject({ requestId, deadline: third.deadline, requestedAt: third.requestedAt });
  expect(details.votes).toMatchObject([{ reviewerId: 'ann', approved: true }]);
  expect(await run.handle.query<Grant[]>('grants')).toMatchObject([
    { grantId: 'grant-1', scope: { kind: 'arguments' } },
  ]);
  expect(await run.status()).toMatchObject({ counts: { denials: 1, open: 1 } });
  // A vote under a known id is not a second vote; a repeated decision on the settled request gets its receipt again.
  expect(await update('decide', vote)).toMatchObject({ accepted: true, votes: { have: 1, need: 2 } });
  const early = { requestId: first!.requestId, approved: false, reason: 'Too early', decisionId: 'early' };
  expect(await update('decide', early)).toMatchObject({ accepted: true, outcome: 'denied' });
  await expect(update('decide', { requestId, approved: true, reviewerId: 'bob' })).rejects.toMatchObject({
    cause: { type: 'not_entitled' },
  });
  expect(await update('decide', { requestId, approved: true, reviewerId: 'eve' })).toMatchObject({
    outcome: 'approved',
  });
  const { outcomes } = await run.result();
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['denied', 'approved', 'approved', 'allowed']);
  expect(world.ran().filter((line) => line === 'wipe' || line.startsWith('pay carried'))).toEqual([
    'pay carried 2',
    'wipe',
    'pay carried 3',
  ]);
});
