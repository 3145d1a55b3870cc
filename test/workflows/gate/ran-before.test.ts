/** What a request says of the very same call that ran before it in the same run. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApprovalDetails } from '../../../src/contract.ts';
import { cardOf } from '../../../src/card/card-of.ts';
import { type World, openWorld } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const pay = (to: string, amount: number) => ({ calls: [{ tool: 'pay', args: { to, amount } }] });

test('only a call that ran with the same arguments is named, with when', async () => {
  const turns = [pay('ann', 5), pay('bob', 5), pay('ann', 5), pay('ann', 6), { text: 'done' }];
  const policy = { version: 1 as const, rules: [{ pattern: 'pay', action: 'ask' }] };
  const run = await world.start(turns, { policy });
  const seen: ApprovalDetails[] = [];
  for (const approved of [true, true, true, true]) {
    const [open] = await run.open();
    const details = await world.client.approvals.get(open!.requestId);
    seen.push(details);
    await world.client.decide({ requestId: open!.requestId, approved });
  }
  await run.result();
  const [first, , third] = seen;
  const ended = await world.client.approvals.get(first!.requestId);
  const ranBefore = { requestId: first!.requestId, at: ended.settled!.settledAt, ran: 'yes' };
  expect(seen.map((each) => each.ranBefore)).toEqual([undefined, undefined, ranBefore, undefined]);
  expect(cardOf(third!).warnings).toContain(
    `The very same call already ran in this run: it was settled at ${ranBefore.at}, as request ${ranBefore.requestId}.`,
  );
});
