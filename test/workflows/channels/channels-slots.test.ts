import { expect, test } from 'vitest';
import { channelsWorkflowId } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { recordedChannel } from './recorded-channel.ts';
import { openWorld } from '../../support/world.ts';

test.concurrent(
  'more requests wait for channels than the worker has slots: an approved call runs at once',
  async ({ onTestFinished }) => {
    const desk = recordedChannel();
    const world = await openWorld({ channels: { desk }, maxConcurrentActivityTaskExecutions: 4 });
    onTestFinished(() => world.close());
    const calls = Array.from({ length: 8 }, (_, amount) => ({ tool: 'pay', args: { to: 'ann', amount } }));
    const run = await world.start([{ calls }, { text: 'done' }]);
    const [first, ...rest] = await run.open(8);
    await eventually('all are asked about', () => desk.asked.length === 8);
    const { requestId } = first!;
    await world.client.decide({ requestId, approved: true, reviewerId: 'bob' }, { workflowId: run.workflowId });
    await eventually('the call runs', () => world.ran().length === 1);
    expect(desk.asked.filter(({ signal }) => signal.aborted).length).toBeLessThanOrEqual(1);
    const index = desk.asked.findIndex(({ request }) => request.requestId === requestId);
    await eventually('the call that nobody needs is stopped', () => desk.asked[index]!.signal.aborted);
    // What waits without a slot is answered and fails like any other call.
    for (const { request } of desk.asked) {
      if (request.requestId === rest.at(-1)!.requestId) desk.fail(new RangeError('closed'));
      else desk.answer(false);
    }
    const { outcomes } = await run.result();
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(['approved', ...rest.map(() => 'denied')]);
  },
);

test.concurrent(
  'a worker that stops gives its waiting calls up at once, and the next one makes them again',
  async ({ onTestFinished }) => {
    const desk = recordedChannel();
    const world = await openWorld({ channels: { desk } });
    onTestFinished(() => world.close());
    const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 1 } }] }, { text: 'done' }]);
    await eventually('it is asked about', () => desk.asked.length === 1);
    await world.stopWorker();
    expect(desk.asked[0]!.signal.aborted).toBe(true);
    await world.startWorker();
    await eventually('it is asked about again', () => desk.asked.length === 2);
    const handle = world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
    const { events = [] } = await handle.fetchHistory();
    const failures = events!.flatMap((each) => each.activityTaskFailedEventAttributes?.failure ?? []);
    expect(failures).toMatchObject([{ applicationFailureInfo: { type: 'WorkerShutdown' } }]);
    // Otherwise the server misses heartbeats for 30 seconds first.
    expect(events!.filter((each) => each.activityTaskTimedOutEventAttributes != null)).toEqual([]);
    desk.answer(true);
    desk.answer(true);
    expect((await run.result()).outcomes).toMatchObject([{ outcome: 'approved' }]);
  },
);
