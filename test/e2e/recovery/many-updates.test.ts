import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import type { Receipt } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { openWorld } from '../../support/world.ts';

/**
 * The server allows 2,000 updates per execution; a run continues as new before that. Here the limit is low to make the
 * test quick. For a realistic number: `COUNTERSIGN_TEST_UPDATES=2500 npm test -- e2e/many-updates`.
 */

const wished = Number(process.env.COUNTERSIGN_TEST_UPDATES ?? 120);
const inEarnest = wished > 2_000;
const inTurn = 10;
/** With a lower limit, an execution would reach this number of events before its number of updates. */
const continueAsNewAfter = { historyEvents: 40_000, updates: inEarnest ? 1_500 : 50 };

/** May take as many turns as needed. */
const asker = defineAgent({
  name: 'tester',
  instructions: 'Play your script.',
  model: promptScripted(),
  maxTurns: 1_000,
  tools: [
    defineTool({
      name: 'pay',
      description: 'Pays money.',
      input: z.object({ to: z.string(), amount: z.number() }),
      execute: () => 'paid',
    }),
  ],
});

const world = forAllTests(() => openWorld({ continueAsNewAfter, agents: [asker] }));

test(`${wished} decisions by update in one run`, inEarnest ? { timeout: 1_800_000 } : {}, async () => {
  const turns = Math.ceil(wished / inTurn);
  const calls = (turn: number) =>
    Array.from({ length: inTurn }, (_, index) => ({ tool: 'pay', args: { to: `turn ${turn}`, amount: index } }));
  const run = await world.start([
    ...Array.from({ length: turns }, (_, turn) => ({ calls: calls(turn) })),
    { text: 'done' },
  ]);
  let decided = 0;
  for (let turn = 0; turn < turns; turn++) {
    for (const { requestId } of await run.open(inTurn)) {
      // A response instead of the tool's result: nothing runs, and nothing is denied.
      const decision = { requestId, approved: false, response: `answer ${turn}` };
      const receipt = await world.client.decide(decision, { workflowId: run.workflowId });
      expect(receipt).toMatchObject({ accepted: true, outcome: 'responded' } satisfies Partial<Receipt>);
      decided++;
    }
  }
  const { status, outcomes } = await run.result();
  expect([status, decided]).toEqual(['completed', turns * inTurn]);
  expect(outcomes.every(({ outcome, ran }) => outcome === 'responded' && ran === 'no')).toBe(true);
  const { executions } = await world.client.historyChain(run.workflowId);
  const updates = executions.map(
    ({ events }) => events.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes != null).length,
  );
  // All were updates, none a signal instead, and no execution took more than its limit.
  expect(updates.reduce((sum, count) => sum + count)).toBe(decided);
  expect(executions.length).toBeGreaterThanOrEqual(Math.floor(decided / continueAsNewAfter.updates) + 1);
  expect(Math.max(...updates)).toBeLessThanOrEqual(continueAsNewAfter.updates + inTurn);
});
