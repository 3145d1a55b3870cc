import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld } from '../../support/world.ts';

const world = forAllTests(() => openWorld());

const hold = [{ calls: [{ tool: 'hold', args: { name: 'never' } }] }, { text: 'done' }];

test('approved and cancelled before a worker sees either: the tool was never sent, and ran is no', async () => {
  const run = await world.start(hold);
  const [request] = await run.open();
  await world.stopWorker();
  await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
  await run.handle.cancel();
  await world.startWorker();
  await eventually('the run has ended', async () => (await run.handle.describe()).status.name === 'CANCELLED');
  const { events } = await run.handle.fetchHistory();
  expect(events!.filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'hold')).toEqual(
    [],
  );
  expect((await run.status()).outcomes).toMatchObject([{ outcome: 'approved', ran: 'no' }]);
  expect(world.ran()).toEqual([]);
});
