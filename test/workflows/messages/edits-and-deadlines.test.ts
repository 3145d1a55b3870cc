import { expect, test } from 'vitest';
import type { Receipt } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import type { RunInTest } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** However often a call is edited, and whatever each edit asks, it waits in total no longer than the ceiling allows. */

const hourMs = 3_600_000;
const world = forAllTests(() =>
  openWorld({
    policy: { version: 1, rules: [], approval: { timeout: '1h', max_timeout: '1h' } },
    // The edited call also goes through continue-as-new: the first request's time is carried.
    continueAsNewAfter: { historyEvents: 20 },
  }),
);

const one: JsonObject = { pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'], timeout: '30m' } };
const over = (amount: number, reviewer: string, timeout: string): JsonObject => ({
  pattern: 'pay',
  when: `args.amount > ${amount}.0`,
  action: 'ask',
  ask: { reviewers: [reviewer], timeout },
});
const update = (run: RunInTest, name: string, message: object): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>(name, { args: [message] });

test('edited twice, then extended: never past the longest wait since the first request', async () => {
  const calls = [{ tool: 'pay', args: { to: 'chain', amount: 1 } }];
  const run = await world.start([{ calls }, { text: 'done' }], {
    policy: { rules: [one, over(10, 'bob', '1h'), over(20, 'cem', '1h')] },
  });
  const [first] = await run.open();
  const latestMs = Date.parse(first!.requestedAt) + hourMs;
  let requestId = first!.requestId;
  for (const [reviewerId, amount] of [
    ['ann', 11],
    ['bob', 21],
  ] as const) {
    const modifiedArguments = { to: 'chain', amount };
    const { successor } = await update(run, 'decide', { requestId, approved: true, reviewerId, modifiedArguments });
    requestId = successor!;
    const [next] = await run.open();
    expect(next).toMatchObject({ requestId, deadline: new Date(latestMs).toISOString() });
    // The rule's own hour would end later.
    expect(Date.parse(next!.requestedAt)).toBeGreaterThan(Date.parse(first!.requestedAt));
  }
  const until = new Date(latestMs + 1).toISOString();
  await expect(update(run, 'extend', { requestId, until, by: 'cem' })).rejects.toMatchObject({
    cause: { type: 'not_permitted_by_ceiling', message: expect.stringContaining(new Date(latestMs).toISOString()) },
  });
  await update(run, 'decide', { requestId, approved: true, reviewerId: 'cem' });
  expect((await run.result()).outcomes).toMatchObject([{ outcome: 'approved', ran: 'yes' }]);
  expect((await run.status()).executions).toBeGreaterThan(1);
});

test('an edited call whose rule has a shorter timeout waits as long as the rule says', async () => {
  const calls = [{ tool: 'pay', args: { to: 'short', amount: 1 } }];
  const run = await world.start([{ calls }, { text: 'done' }], {
    policy: { rules: [one, over(10, 'bob', '5m')] },
  });
  const [first] = await run.open();
  const modifiedArguments = { to: 'short', amount: 11 };
  await update(run, 'decide', { requestId: first!.requestId, approved: true, reviewerId: 'ann', modifiedArguments });
  const [next] = await run.open();
  expect(Date.parse(next!.deadline!) - Date.parse(next!.requestedAt)).toBe(5 * 60_000);
  await run.handle.terminate();
});
