import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import type { Turns } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** Messages that need an activity do not keep an execution from continuing as new (I11). */

const world = forAllTests(() => openWorld());

test('150 policies at once: the execution looks up 100, refuses the rest for now, and continues as new', async () => {
  const calls = [{ tool: 'pay', args: { to: 'lookups', amount: 1 } }];
  const policy = { version: 1, rules: [{ pattern: 'pay', action: 'ask' }] };
  const run = await world.start([{ calls }, { text: 'done' }] as Turns, { policy });
  const [request] = await run.open();
  await world.stopWorker();
  const rules = [{ pattern: 'pay', action: 'ask' }];
  for (let sent = 0; sent < 150; sent++) {
    await run.handle.signal('setPolicy', { policy: { rules }, reason: `change ${sent}` });
  }
  await world.startWorker();
  await eventually('the run has continued as new', async () => (await run.status()).executions > 1);
  expect((await run.status()).refused).toMatchObject({ total: 50 });
  expect((await run.status()).refused.last.every(({ code }) => code === 'rate_limited')).toBe(true);
  const until = { requestId: request!.requestId, approved: true };
  expect(await world.client.decide(until, { workflowId: run.workflowId })).toMatchObject({ outcome: 'approved' });
  expect((await run.result()).status).toBe('completed');
});
