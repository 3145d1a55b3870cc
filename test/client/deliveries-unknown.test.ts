/** A run says nothing of its channels in two cases: it has none, or they could not be asked. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { channelsWorkflowId } from '../../src/contract.ts';
import { grpcStatus } from '../../src/connection/server-error.ts';
import { openChannelStage } from '../workflows/channels/channel-stage.ts';
import { eventually } from '../support/eventually.ts';
import { recordedChannel } from '../workflows/channels/recorded-channel.ts';

test('show says that it is not known how requests travel, where the channels cannot be asked', async () => {
  const stage = await openChannelStage();
  onTestFinished(() => stage.close());
  const { client } = stage.world;
  const [hall, none] = [await stage.start({ hall: recordedChannel({ resolves: false }) }), await stage.start({})];
  const { workflowId } = hall;
  await Promise.all([hall.open(), none.open()]);
  const delivered = [{ channels: ['hall'] }];
  await eventually('it is delivered', async () => (await client.show(workflowId)).deliveries !== undefined);
  expect(await client.show(workflowId)).toMatchObject({ deliveries: delivered });

  const { workflow } = client.session.client;
  const getHandle = workflow.getHandle.bind(workflow);
  const busy = Object.assign(new Error('busy'), { code: grpcStatus.RESOURCE_EXHAUSTED, details: 'busy' });
  vi.spyOn(workflow, 'getHandle').mockImplementation((id, ...more) => {
    const handle = getHandle(id, ...more);
    if (id === channelsWorkflowId(workflowId)) handle.query = () => Promise.reject(busy);
    return handle;
  });
  const { deliveries, deliveriesNote } = await client.show(workflowId);
  expect(deliveries).toBeUndefined();
  expect(deliveriesNote).toMatch(/is busy/);
  const withoutChannels = await client.show(none.workflowId);
  expect(withoutChannels.deliveries ?? withoutChannels.deliveriesNote).toBeUndefined();
  for (const { handle } of [hall, none]) await handle.terminate();
});
