/** What strangers can do to the channels of a worker: signal its workflows, and start workflows of their own. */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { activityNames, changedName, channelsWorkflowId } from '../../src/contract.ts';
import { eventually } from '../support/eventually.ts';
import { type ForeignWorker, startForeignWorker } from '../support/foreign-worker.ts';
import { recordedChannel } from '../support/recorded-channel.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let foreign: ForeignWorker | undefined;
afterEach(async () => {
  await foreign?.close();
  foreign = undefined;
  await world.close();
});

const pay = { tool: 'pay', args: { to: 'ann', amount: 5 } };
const turns = [{ calls: [pay] }, { text: '{{lastResult}}' }];

test('a signal with a hundred unknown ids delays nothing: one look, one attempt', async () => {
  const desk = recordedChannel({ resolves: false });
  world = await openWorld({ channels: { desk } });
  const run = await world.start(turns);
  await eventually('the message is sent', () => desk.notified.length === 1);
  const { requestId } = desk.notified[0]!.request;
  const handle = world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
  const unknown = Array.from({ length: 100 }, (_, index) => index.toString(16).padStart(32, '0'));
  await handle.signal(changedName, { requestIds: unknown });
  await world.client.decide({ requestId, approved: true, reviewerId: 'bob' }, { workflowId: run.workflowId });
  await run.result();
  await handle.result();
  expect(desk.settlements).toHaveLength(1);
  const { events = [] } = await handle.fetchHistory();
  const looks = events!.filter(
    (each) => each.activityTaskScheduledEventAttributes?.activityType?.name === activityNames.lookAtRequests,
  );
  // The opening, the forged ids, the settlement.
  expect(looks.length).toBeLessThanOrEqual(3);
});

test.each(['shows', 'agentRun'])(
  "a stranger's workflow '%s' on a queue of its own speaks on no channel, whatever it says of a genuine request",
  async (type) => {
    const desk = recordedChannel();
    world = await openWorld({ channels: { desk } });
    const run = await world.start(turns);
    await eventually('the genuine request is sent', () => desk.asked.length === 1);
    foreign = await startForeignWorker();
    const { workflow } = world.client.session.client;
    const workflowId = `stranger-${randomUUID()}`;
    const shown = { ...desk.asked[0]!.request, workflowId, toolName: 'send_flowers', agentName: 'the CEO' };
    const stranger = await workflow.start(type, { taskQueue: foreign.taskQueue, workflowId, args: [{ shown }] });
    const channels = await workflow.signalWithStart('approvalChannels', {
      taskQueue: world.taskQueue,
      workflowId: channelsWorkflowId(workflowId),
      args: [{ workflowId }],
      signal: changedName,
      signalArgs: [{ requestIds: [shown.requestId] }],
    });
    // It has nothing to carry.
    await channels.result();
    desk.answer(false);
    await run.result();
    await workflow.getHandle(channelsWorkflowId(run.workflowId)).result();
    expect(desk.notified).toHaveLength(1);
    expect(desk.settlements.map(({ request }) => request.toolName)).toEqual(['pay']);
    await stranger.terminate();
  },
);
