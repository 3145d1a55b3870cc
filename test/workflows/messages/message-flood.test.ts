import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { maxWaiting } from '../../../src/workflows/messages/message-queue.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld } from '../../support/world.ts';

/** Lists of decisions that arrive together are applied in one activation, which must not take longer than it may (I5). */

const world = forAllTests(() => openWorld());

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

test('changes of policy that arrive together cost one execution no more than a task may take', async () => {
  const policy = {
    version: 1,
    rules: [
      ...Array.from({ length: 200 }, (_, index) => ({ pattern: `pay:*[a-z]?*${index}`, action: 'ask' })),
      { pattern: '*', action: 'ask' },
    ],
  };
  const calls = Array.from({ length: 10 }, (_, amount) => ({ tool: 'pay', args: { to: 'ann', amount } }));
  const run = await world.start([{ calls }, { text: 'done' }], { policy });
  const open = await run.open(10);
  await world.stopWorker();
  for (let sent = 0; sent < 1_000; sent += 50) {
    const modes = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? 'interactive' : 'default'));
    await Promise.all(modes.map((mode) => run.handle.signal('setPolicy', { mode })));
  }
  await world.startWorker();
  await world.client.decide(open.map(({ requestId }) => ({ requestId, approved: true })));
  const { status, outcomes } = await run.result();
  expect([status, new Set(outcomes.map(({ outcome }) => outcome))]).toEqual(['completed', new Set(['approved'])]);
  const { refused } = await run.status();
  expect(refused.last.map(({ code }) => code)).toContain('rate_limited');
});
