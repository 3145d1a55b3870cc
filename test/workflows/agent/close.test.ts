import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ApprovalDetails } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import type { Calls } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** Signal `close`: the run ends, open requests are cancelled, and the sender is answered. */

const world = forAllTests(() => openWorld());

const transcript = async (run: { handle: { query: (name: string) => Promise<unknown> } }): Promise<string[]> =>
  ((await run.handle.query('transcript')) as { role: string; content: string }[])
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => content);

test('open requests are cancelled; a running tool finishes first', async () => {
  const calls: Calls = [
    { tool: 'pay', args: { to: 'closed', amount: 1 } },
    { tool: 'hold', args: { name: 'closing' } },
  ];
  const run = await world.start([{ text: 'Paying.', calls }, { text: 'never said' }], {
    policy: { rules: [{ pattern: 'hold', action: 'allow' }] },
  });
  const [request] = await run.open();
  await eventually('the tool to run', () => world.ran().includes('start closing'));
  await run.handle.signal('close', { by: 'ann', reason: 'Wrong customer' });
  await eventually('the request to be cancelled', async () => (await run.status()).counts.open === 0);
  expect((await run.handle.describe()).status.name).toBe('RUNNING');
  writeFileSync(join(world.folder, 'release-closing'), '');
  const { status, output, outcomes } = await run.result();
  expect({ status, output }).toEqual({ status: 'closed', output: 'Paying.' });
  expect(outcomes.map(({ outcome, ran }) => [outcome, ran])).toEqual([
    ['allowed', 'yes'],
    ['cancelled', 'no'],
  ]);
  const { requestId } = request!;
  const details = await run.handle.query<ApprovalDetails, [unknown]>('approvals', { requestId });
  expect(details.settled).toMatchObject({ outcome: 'cancelled', reason: 'Wrong customer' });
  expect(await transcript(run)).toEqual(['Cancelled: Wrong customer', 'held closing']);
  const { approvals } = await world.client.approvals.list({ workflowId: run.workflowId });
  expect(approvals).toEqual([]);
});

test('calls that wait for their turn are cancelled too', async () => {
  const calls = [1, 2].map((amount) => ({ tool: 'pay', args: { to: 'held', amount } }));
  const run = await world.start([{ calls }], { policy: { rules: [], approval: { batch: 'sequential' } } });
  await run.open();
  await run.handle.signal('close');
  expect(await run.result()).toMatchObject({ status: 'closed' });
  expect(await transcript(run)).toEqual(['Cancelled: the run was closed', 'Cancelled: the run was closed']);
});

test('a cancelled run reports it too', async () => {
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'cancelled', amount: 1 } }] }]);
  await run.open();
  await run.handle.cancel();
  await eventually('the run to end', async () => (await run.handle.describe()).status.name === 'CANCELLED');
  expect(await transcript(run)).toEqual(['Cancelled: the run was cancelled']);
});

test.each([
  ['a text', 'now'],
  ['an unknown field', { force: true }],
])('%s closes nothing', async (_, payload) => {
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'open', amount: 1 } }] }]);
  await run.open();
  await run.handle.signal('close', payload);
  await eventually('the refusal', async () => (await run.status()).counts.refused === 1);
  expect(await run.status()).toMatchObject({ counts: { open: 1 } });
  await run.handle.terminate();
});
