import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld } from '../../support/world.ts';

/** Models reuse call ids within a turn and in later turns: a decision applies to one request only. */

const world = forAllTests(() => openWorld());

test('the same call under the same id, twice in a turn and again in the next: an old decision applies to none of them', async () => {
  const call = { id: 'call_1', tool: 'pay', args: { to: 'reused', amount: 1 } };
  const run = await world.start([{ calls: [call, call] }, { calls: [call] }, { text: '{{lastResult}}' }]);
  const paid = (): number => world.ran().filter((line) => line === 'pay reused 1').length;
  const [first, second] = await run.open(2);
  expect(first!.requestId).not.toBe(second!.requestId);
  const decision = { requestId: first!.requestId, approved: true, reviewerId: 'ann', decisionId: 'for the first' };
  await run.handle.signal('decide', decision);
  await run.handle.signal('decide', decision);
  await eventually('the first to run', () => paid() === 1);
  expect((await run.open()).map(({ requestId }) => requestId)).toEqual([second!.requestId]);
  await run.handle.signal('decide', { requestId: second!.requestId, approved: true });
  const third = await eventually('the next turn to ask', async () => {
    const [request] = await run.open();
    return request!.requestId !== second!.requestId && request!;
  });
  expect(third.requestId).not.toBe(first!.requestId);
  expect(third.digest).toBe(first!.digest);
  // The old decision again, by update and by signal, and under a new id.
  expect(await run.handle.executeUpdate('decide', { args: [decision] })).toMatchObject({ outcome: 'approved' });
  await run.handle.signal('decide', decision);
  const renewed = { ...decision, decisionId: 'as if new' };
  await expect(run.handle.executeUpdate('decide', { args: [renewed] })).rejects.toMatchObject({
    cause: { type: 'already_settled' },
  });
  expect((await run.open()).map(({ requestId }) => requestId)).toEqual([third.requestId]);
  expect(paid()).toBe(2);
  await run.handle.executeUpdate('decide', {
    args: [{ requestId: third.requestId, approved: false, reason: 'thrice' }],
  });
  expect(await run.result()).toMatchObject({ output: 'Denied: thrice' });
  expect(paid()).toBe(2);
});
