import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openGatedWorld } from '../../support/gated-world.ts';

/** For whom a workflow works: said once, checked, and kept in all its executions. */

const world = forAllTests(() => openGatedWorld({ policy: { version: 1, rules: [{ pattern: 'pay', action: 'ask' }] } }));

test('the user for whom a workflow works approves no call of a later execution either', async () => {
  const handle = await world.start('worksFor', { userId: 'ann' });
  const [request] = await world.open(handle);
  expect(request).toMatchObject({ callerUserId: 'ann' });
  const { requestId } = request!;
  const own = world.client.decide({ requestId, approved: true, reviewerId: 'ann' });
  await expect(own).rejects.toMatchObject({ code: 'self_approval' });
  await world.client.decide({ requestId, approved: true, reviewerId: 'bob' });
  expect(await handle.result()).toEqual({ result: 'paid 1 to a' });
});

test.each<[unknown, string]>([
  [5, 'gate.load: caller: '],
  ['ann', 'gate.load: caller: '],
  [{ userId: 5 }, 'gate.load: caller.userId: '],
  [{ userId: ['ann'] }, 'gate.load: caller.userId: '],
  [{ userId: '' }, 'gate.load: caller.userId: '],
  [{ userid: 'ann' }, 'gate.load: caller'],
  [{ userId: 'ann', group: ['ops'] }, 'gate.load: caller: '],
])('%j is no caller: one sentence ends the workflow', async (caller, sentence) => {
  const ended = await world.run('worksFor', caller).catch((error: unknown) => error);
  expect(ended).toMatchObject({
    cause: { type: 'arguments_invalid', message: expect.stringContaining(sentence) as string },
  });
});
