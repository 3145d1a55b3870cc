import { expect, test } from 'vitest';
import type { Decision } from '../../../src/contract.ts';
import { agentTool } from '../../../src/index.ts';
import { exported, verified } from '../../audit/audit-file.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { costlyModel, costlyPrices } from '../../support/costly-model.ts';
import { testAgent } from '../../support/test-agent.ts';
import { openWorld, type RunInTest, type Turns } from '../../support/world.ts';

/** What a run costs by the operator's prices, and the limit of it. A turn of `costly-1` costs 0.01 EUR. */

const world = forAllTests(() =>
  openWorld({
    policy: { version: 1, rules: [{ pattern: '*', action: 'allow' }], prices: costlyPrices },
    continueAsNewAfter: { historyEvents: 60 },
    agentsIn: (folder) => {
      const tester = { ...testAgent(folder), model: costlyModel('costly-1') };
      const clerk = { ...tester, name: 'clerk' };
      const boss = { ...tester, name: 'boss', tools: [...tester.tools, agentTool(clerk)] };
      return [tester, clerk, boss, { ...tester, name: 'odd', model: costlyModel('costly-2') }];
    },
  }),
);

const looks = (count: number): Turns => [
  ...Array.from({ length: count }, (_, index) => ({ calls: [{ tool: 'look', args: { what: `${index}` } }] })),
  { text: 'done' },
];
const start = (turns: Turns, cost: object, more: object = {}): Promise<RunInTest> =>
  world.start(turns, { policy: { version: 1, limits: { cost } as never }, ...more });
async function answer(run: RunInTest, more: Omit<Decision, 'requestId'>): Promise<string | undefined> {
  const [asked] = await run.open();
  const { requestId, sentence } = asked!;
  await run.handle.executeUpdate('decide', { args: [{ requestId, ...more }] });
  return sentence;
}
async function expectAudited(run: RunInTest): Promise<void> {
  expect(await verified(await exported(world.client.audit(run.workflowId)))).toMatchObject({ findings: [] });
}

test('a person lets the run go on for as much again, and status, result and events say what it cost', async () => {
  const run = await start(looks(4), { ask: 0.02 });
  const [asked] = await run.open();
  expect(asked).toMatchObject({ arguments: { limit: 'cost', more: '0.02' } });
  expect((await world.client.show(run.workflowId)).run?.cost).toEqual({ amount: 0.02, currency: 'EUR' });
  expect(await answer(run, { approved: true })).toBe(
    'The run has reached a limit: 0.02 EUR used. Approved, it goes on for 0.02 EUR more; denied, it ends.',
  );
  await answer(run, { approved: false });
  const { status, output, cost } = await run.result();
  expect({ status, output }).toEqual({
    status: 'limit',
    output: expect.stringContaining('Stopped after 0.04 EUR (limit: 0.02 EUR)'),
  });
  expect(cost).toEqual({ amount: 0.04, currency: 'EUR' });
  let last: object | undefined;
  for await (const event of world.client.events(run.workflowId, { follow: false })) last = event;
  expect(last).toMatchObject({ type: 'RunCompleteEvent', cost });
  await expectAudited(run);
});

test('a run ends at its end', async () => {
  const run = await start(looks(4), { end: 0.03 });
  expect((await run.result()).output).toBe('Stopped after 0.03 EUR (limit: 0.03 EUR)');
});

test('a model without a price asks, once, also where a limit ends', async () => {
  const run = await start(looks(3), { end: 5 }, { agent: 'odd' });
  expect(await answer(run, { approved: true })).toBe(
    "The cost of the run is limited and not known: there is no price for 'costly-2'. Approved, it goes on until what is known is 5 EUR more; denied, it ends.",
  );
  const { status, cost } = await run.result();
  expect({ status, cost }).toEqual({
    status: 'completed',
    cost: { amount: 0, currency: 'EUR', unpriced: ['costly-2'] },
  });
  await expectAudited(run);
});

test('a nested run counts for the run above once it has ended', async () => {
  const input = JSON.stringify(looks(1));
  const run = await start(
    [{ calls: [{ tool: 'clerk', args: { input } }] }, { text: 'done' }],
    { ask: 1 },
    { agent: 'boss' },
  );
  expect((await run.result()).cost).toEqual({ amount: 0.04, currency: 'EUR' });
});
