import { afterEach, beforeEach, expect, test } from 'vitest';
import { forAllTests } from '../support/for-all-tests.ts';
import { type RunInTest, openWorld } from '../support/world.ts';

/**
 * Without a worker, decisions wait in history. The sender of a second decision is told about the first, which is
 * applied before it.
 */

const world = forAllTests(() => openWorld());

let run: RunInTest;
let ids: string[];
beforeEach(async () => {
  const calls = ['ann', 'bob'].map((to) => ({ tool: 'pay', args: { to, amount: 1 } }));
  run = await world.start([{ calls }, { text: 'done' }]);
  ids = (await run.open(2)).map(({ requestId }) => requestId);
  await world.stopWorker();
});
afterEach(() => run.handle.terminate().catch(() => undefined));

const earlier = (word: string): unknown =>
  expect.stringMatching(
    new RegExp(`An earlier decision about it \\(${word} at 2[-0-9T:.]+Z\\) was recorded before and is applied first`),
  );

test('approve, then deny: the second is recorded and names the first, which wins', async () => {
  const { workflowId } = run;
  const [requestId, other] = ids as [string, string];
  const first = await world.client.decide({ requestId, approved: true, reviewerId: 'ann' });
  expect(first).toMatchObject({ accepted: true, recorded: true });
  expect(first.message).toMatch(/^The decision is recorded, not yet applied: /);
  expect(first.message).not.toContain('earlier');
  const second = await world.client.decide({ requestId, approved: false, reviewerId: 'bob' }, { workflowId });
  expect(second).toMatchObject({ accepted: true, recorded: true, message: earlier('approved by ann') });
  const third = await world.client.decide([
    { requestId, approved: true },
    { requestId: other, approved: false },
  ]);
  expect(third[0]).toMatchObject({ recorded: true, message: earlier('approved by ann') });
  expect(third[1]?.message).not.toContain('earlier');
  await world.startWorker();
  await expect(run.result()).resolves.toMatchObject({
    outcomes: [
      { requestId, outcome: 'approved' },
      { requestId: other, outcome: 'denied' },
    ],
  });
});

test('the same decision again is not an earlier one, even among undecodable signals', async () => {
  const requestId = ids[0]!;
  const decision = { requestId, approved: false, decisionId: 'mine' };
  await run.handle.signal('decide', 'nonsense');
  await run.handle.signal('decide', { requestId: ids[1], approved: true });
  await world.client.decide(decision);
  const again = await world.client.decide(decision);
  expect(again).toMatchObject({ accepted: true, recorded: true });
  expect(again.message).not.toContain('earlier');
  await world.startWorker();
});

test('a signal sent without this client is named too', async () => {
  const requestId = ids[0]!;
  await run.handle.signal('decide', [{ requestId, approved: false }]);
  expect(await world.client.decide({ requestId, approved: true })).toMatchObject({
    recorded: true,
    message: earlier('denied by an unnamed reviewer'),
  });
  await world.startWorker();
});
