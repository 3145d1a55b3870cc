import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openWorld } from '../../support/world.ts';

/**
 * A refused update leaves an empty workflow task in history. A worker that takes over the run while the next task is in
 * flight gets both as one activation, with jobs in another order than in a later replay. The commands must come in the
 * same order regardless, or the run is lost to a non-determinism error (I12).
 */

const world = forAllTests(() => openWorld({ maxCachedWorkflows: 0 }));

test.each([1, 2, 3])('an approval among refused updates, on a worker without a cache (%i)', async (round) => {
  const calls = [1, 2].map((amount) => ({ tool: 'pay', args: { to: `merged ${round}`, amount } }));
  const run = await world.start([{ calls }, { text: 'done' }]);
  const [first, second] = await run.open(2);
  await run.handle.executeUpdate('decide', { args: [{ requestId: first!.requestId, approved: true }] });
  for (const approved of [true, false]) {
    const again = run.handle.executeUpdate('decide', { args: [{ requestId: first!.requestId, approved }] });
    await expect(again).rejects.toMatchObject({ cause: { type: 'already_settled' } });
  }
  await run.handle.executeUpdate('decide', { args: [{ requestId: second!.requestId, approved: true }] });
  expect((await run.result()).status).toBe('completed');
  const { events } = await run.handle.fetchHistory();
  const failed = events!.filter((event) => event.workflowTaskFailedEventAttributes != null);
  expect(failed.map((event) => event.workflowTaskFailedEventAttributes!.failure?.message)).toEqual([]);
});
