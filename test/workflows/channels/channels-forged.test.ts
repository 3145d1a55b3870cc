/** What strangers can do to the channels of a worker: signal its workflows, and start workflows of their own. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { activityNames, changedName, channelsWorkflowId } from '../../../src/contract.ts';
import { type ChannelStage, openChannelStage } from './channel-stage.ts';
import { eventually } from '../../support/eventually.ts';
import { type ForeignWorker, startForeignWorker } from '../../support/foreign-worker.ts';
import { recordedChannel } from './recorded-channel.ts';
import type { World } from '../../support/world.ts';

let stage: ChannelStage;
let world: World;
let foreign: ForeignWorker;
beforeAll(async () => {
  [stage, foreign] = await Promise.all([openChannelStage(), startForeignWorker()]);
  ({ world } = stage);
});
afterAll(async () => {
  await foreign?.close();
  await stage?.close();
});

test.concurrent('a signal with a hundred unknown ids delays nothing: one look, one attempt', async () => {
  const hall = recordedChannel({ resolves: false });
  const run = await stage.start({ hall });
  await eventually('the message is sent', () => hall.notified.length === 1);
  const { requestId } = hall.notified[0]!.request;
  const handle = stage.channelsOf(run);
  const unknown = Array.from({ length: 100 }, (_, index) => index.toString(16).padStart(32, '0'));
  await handle.signal(changedName, { requestIds: unknown });
  await world.client.decide({ requestId, approved: true, reviewerId: 'bob' }, { workflowId: run.workflowId });
  await stage.ended(run);
  expect(hall.settlements).toHaveLength(1);
  const { events = [] } = await handle.fetchHistory();
  const looks = events!.filter(
    (each) => each.activityTaskScheduledEventAttributes?.activityType?.name === activityNames.lookAtRequests,
  );
  // The opening, the forged ids, the settlement.
  expect(looks.length).toBeLessThanOrEqual(3);
});

test.concurrent.each(['shows', 'agentRun'])(
  "a stranger's workflow '%s' on a queue of its own speaks on no channel, whatever it says of a genuine request",
  async (type) => {
    const desk = recordedChannel();
    const run = await stage.start({ desk });
    await eventually('the genuine request is sent', () => desk.asked.length === 1);
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
    await stage.ended(run);
    expect(desk.notified).toHaveLength(1);
    expect(desk.settlements.map(({ request }) => request.toolName)).toEqual(['pay']);
    await stranger.terminate();
  },
);

test.concurrent(
  "a stranger's workflow of the channels' type settles no request of a run that does not exist",
  async () => {
    const hall = recordedChannel({ resolves: false });
    const run = await stage.start({ hall });
    await eventually('the genuine request is sent', () => hall.notified.length === 1);
    const { requestId, toolName, agentName, riskLevel, requestedAt, digest } = hall.notified[0]!.request;
    const workflowId = run.workflowId;
    const facts = { toolName, agentName, riskLevel, requestedAt, digest, severity: 'high' };
    const gone = `gone-${randomUUID()}`;
    const call = { channel: 'hall', requestIds: [requestId], settledIds: [requestId], gone: { [requestId]: facts } };
    const settle = (about: string, id: string) =>
      world.client.session.client.workflow.execute('approvalChannels', {
        taskQueue: foreign.taskQueue,
        workflowId: id,
        args: [
          {
            tool: activityNames.channelSettled,
            taskQueue: world.taskQueue,
            args: [{ ...call, workflowId: about, key: 'k', sent: { message: 1 } }],
          },
        ],
      });
    expect(await settle(gone, channelsWorkflowId(gone))).toEqual({ sent: { message: 1 } });
    expect(await settle(gone, `stranger-${randomUUID()}`)).toEqual({ sent: { message: 1 } });
    expect(hall.settlements).toEqual([]);
    await world.client.decide({ requestId, approved: true, reviewerId: 'bob' }, { workflowId });
    await stage.ended(run);
    expect(hall.settlements).toMatchObject([{ settlement: { outcome: 'approved' } }]);
  },
);
