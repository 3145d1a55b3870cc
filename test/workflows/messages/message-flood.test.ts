import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { maxWaiting } from '../../../src/workflows/messages/message-queue.ts';
import { eventually } from '../../support/eventually.ts';
import { type World, openWorld } from '../../support/world.ts';

/** Lists of decisions that arrive together are applied in one activation, which must not take longer than it may (I5). */

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('lists of decisions beyond what one activation applies are refused whole, and delay nothing', async () => {
  const policy = { version: 1, rules: [{ pattern: '*', action: 'ask' }] };
  const turns = [{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 1 } }] }, { text: 'done' }];
  const run = await world.start(turns, { policy });
  const [request] = await run.open();
  await world.stopWorker();
  const listLength = 100;
  const lists = maxWaiting / listLength;
  const left = 20;
  const list = Array.from({ length: listLength }, () => ({
    requestId: randomUUID().replaceAll('-', ''),
    approved: true,
  }));
  const data = Buffer.from(JSON.stringify(list));
  for (let sent = 0; sent < lists + left; sent++) {
    await world.client.session.connection.workflowService.signalWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: run.workflowId },
      signalName: 'decide',
      requestId: randomUUID(),
      input: { payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data }] },
    });
  }
  await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
  await world.startWorker();
  expect(await run.result()).toMatchObject({ status: 'completed' });
  const { refused } = await eventually('the refusals can be read', () =>
    run.status().then(
      (status) => status,
      () => undefined,
    ),
  );
  expect(refused.total).toBe(maxWaiting + left);
});
