import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openGatedWorld } from '../../support/gated-world.ts';

/** A user's own workflow writes the attributes that its worker names, as an agent's run does. */

const world = forAllTests(() =>
  openGatedWorld({
    attributes: { tags: false },
    policy: { version: 1, rules: [{ pattern: '*', action: 'ask' }] },
  }),
);

test('without tags: ids and deadline are written', async () => {
  const handle = await world.start('inTurn', [{ name: 'pay', args: ['ann', 1] }]);
  const [request] = await world.open(handle);
  const { searchAttributes } = await handle.describe();
  expect(searchAttributes['ApprovalIds']).toEqual([request!.requestId]);
  expect(searchAttributes).toHaveProperty('ApprovalDue');
  expect(searchAttributes).not.toHaveProperty('ApprovalTags');
  await world.client.decide({ requestId: request!.requestId, approved: true });
  expect(await handle.result()).toEqual([{ result: 'paid 1 to ann' }]);
});
