import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { maxSignalBytes } from '../../../src/workflows/sandbox/strict-payloads.ts';
import { openWorld } from '../../support/world.ts';

/** Signals with byte payloads are refused before each byte becomes a member of an object (I5). */

const world = forAllTests(() => openWorld());

test.each([
  ['decide', [1_900_000]],
  ['noise', [950_000, 950_000]],
])('eight simultaneous signals %s with megabytes of bytes delay nothing', async (signalName, sizes) => {
  const policy = { version: 1, rules: [{ pattern: '*', action: 'ask' }] };
  const turns = [{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 1 } }] }, { text: 'done' }];
  const run = await world.start(turns, { policy });
  const [request] = await run.open();
  await world.stopWorker();
  const metadata = { encoding: Buffer.from('binary/plain') };
  for (let count = 0; count < 8; count++) {
    await world.client.session.connection.workflowService.signalWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: run.workflowId },
      signalName,
      requestId: randomUUID(),
      input: { payloads: sizes.map((size) => ({ metadata, data: Buffer.alloc(size, 7) })) },
    });
  }
  await world.startWorker();
  await eventually('all are refused', async () => (await run.status()).refused.total === 8);
  await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
  expect(await run.result()).toMatchObject({ status: 'completed' });
});

test('twelve simultaneous signals with megabytes of JSON: the first are read, and all are refused', async () => {
  const policy = { version: 1, rules: [{ pattern: '*', action: 'ask' }] };
  const turns = [{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 2 } }] }, { text: 'done' }];
  const run = await world.start(turns, { policy });
  const [request] = await run.open();
  await world.stopWorker();
  const members = Array.from({ length: 120_000 }, (_, index) => `"k${index}":${index % 10}`);
  const data = Buffer.from(`{${members.join(',')}}`);
  const count = 12;
  for (let sent = 0; sent < count; sent++) {
    await world.client.session.connection.workflowService.signalWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: run.workflowId },
      signalName: 'decide',
      requestId: randomUUID(),
      input: { payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data }] },
    });
  }
  await world.startWorker();
  // An execution that has just continued as new counts no refusals before it has verified its carried state.
  const { last } = await eventually('all are refused', async () => {
    // On a busy machine, a task with so much input may fail and be tried again. Then the server refuses queries.
    const refused = await run.status().then(
      (status) => status.refused,
      () => undefined,
    );
    return refused?.total === count && refused;
  });
  const codes = last.map(({ code }) => code);
  const read = codes.filter((code) => code === 'invalid_decision').length;
  expect(read).toBe(Math.floor(maxSignalBytes / data.length));
  expect(codes.filter((code) => code === 'undecodable')).toHaveLength(count - read);
  await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
  expect(await run.result()).toMatchObject({ status: 'completed' });
});
