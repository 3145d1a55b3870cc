/** The examples in which nobody is asked: each on a real server, with a real run. */
import { describe, expect, test, type TestContext } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import ci from '../../../examples/channels/ci.ts';
import callbackExample, { noDeletions } from '../../../examples/channels/function.ts';
import modes, { runIn } from '../../../examples/channels/modes.ts';
import readOnly from '../../../examples/channels/read-only.ts';
import rehearsal from '../../../examples/channels/rehearsal.ts';
import { openShop, outcomesOf, runShop, type ShopExample, type ShopRun } from './shop-world.ts';

async function play({ onTestFinished }: TestContext, example: ShopExample): Promise<ShopRun> {
  const shop = await runShop(example);
  onTestFinished(() => shop.close());
  return shop;
}

const both = (outcome: string): string[] => [`replace_item: ${outcome}`, `delete_account: ${outcome}`];
test.concurrent('rehearsal: everything is approved, and the journal says by what', async (context) => {
  const shop = await play(context, rehearsal);
  expect(await shop.outcomes()).toEqual(both('approved'));
  expect((await shop.told()).join('\n')).toContain('lamp of o-17 sent again');
});

test.concurrent('read-only: everything is denied, and the model reads why', async (context) => {
  const shop = await play(context, readOnly);
  expect(await shop.outcomes()).toEqual(both('denied'));
  expect(await shop.told()).toContain('Denied: This agent only reads, so not delete_account.');
});

test.concurrent('ci: everything of medium severity or more is denied', async (context) => {
  const shop = await play(context, ci);
  expect(await shop.outcomes()).toEqual(both('denied'));
  expect(await shop.told()).toContain('Denied: Nothing risky in the pipeline.');
});

test.concurrent('function: its boolean decides, and its reason says why', async (context) => {
  const shop = await play(context, callbackExample);
  expect(await shop.outcomes()).toEqual(['replace_item: approved', 'delete_account: denied']);
  expect(await shop.told()).toContain('Denied: delete_account is not for a function to approve.');
});

test.concurrent('function: a function itself is a channel', async (context) => {
  const shop = await play(context, { ...callbackExample, channels: { 'no-deletions': noDeletions } });
  expect(await shop.outcomes()).toEqual(['replace_item: approved', 'delete_account: denied']);
});

test.concurrent('function: one that throws denies, with the type of its error', async (context) => {
  const fails = (): never => {
    throw new RangeError('the database is full of secrets');
  };
  const shop = await play(context, { ...callbackExample, channels: { fails } });
  expect(await shop.outcomes()).toEqual(both('denied'));
  expect((await shop.told()).slice(1)).toEqual([
    'Denied: Approval handler error: RangeError.',
    'Denied: Approval handler error: RangeError.',
  ]);
});

describe('modes', () => {
  const world = forAllTests(() => openShop(modes));

  test.each([
    ['approve_all', both('allowed')],
    ['reject_all', both('denied_by_policy')],
    ['headless', both('denied_by_policy')],
  ] as const)('%s: nobody is asked', async (mode, outcomes) => {
    const run = await runIn(world.client, mode);
    expect(outcomesOf(await run.result())).toEqual(outcomes);
  });

  test('interactive: a person is asked', async () => {
    const { workflowId } = await runIn(world.client, 'interactive');
    const open = await world.run(workflowId).open(2);
    await world.client.decideAll(open, { approved: true });
    expect(outcomesOf(await world.run(workflowId).result())).toEqual(both('approved'));
  });
});
