import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import type { RunInTest } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** A message as large as the server accepts: the run refuses it in one sentence and continues (I5). */

const world = forAllTests(() => openWorld({ policy: { rules: [], approval: { max_timeout: 'never' } } }));

const large = 'x'.repeat(1_900_000);
const manyRules = Array.from({ length: 40_000 }, (_, index) => ({ pattern: `tool_${index}`, action: 'ask' }));

async function stillDecides(run: RunInTest): Promise<void> {
  const [request] = await run.open();
  await run.handle.executeUpdate('decide', { args: [{ requestId: request!.requestId, approved: true }] });
  expect((await run.result()).status).toBe('completed');
}

test.each<[string, string, (requestId: string) => object]>([
  ['a policy', 'setPolicy', () => ({ policy: { rules: manyRules } })],
  ['a policy that has one long word', 'setPolicy', () => ({ policy: { [large]: 1 } })],
  ['a grant’s name', 'revoke', () => ({ grants: [large] })],
  ['a person’s name', 'delegate', (requestId) => ({ requestId, to: large })],
])('%s, by signal and by update', async (_, name, message) => {
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'large', amount: 1 } }] }, { text: 'done' }]);
  const [request] = await run.open();
  await run.handle.signal(name, message(request!.requestId));
  await eventually('it is refused', async () => (await run.status()).refused.total === 1);
  await expect(run.handle.executeUpdate(name, { args: [message(request!.requestId)] })).rejects.toThrow();
  await stillDecides(run);
});

test('an extension to the last representable day', async () => {
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'far', amount: 1 } }] }, { text: 'done' }]);
  const [request] = await run.open();
  const extension = { requestId: request!.requestId, until: '9999-12-31T23:59:59Z' };
  await run.handle.executeUpdate('extend', { args: [extension] }).catch((error: unknown) => error);
  await stillDecides(run);
});
