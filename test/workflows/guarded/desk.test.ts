import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import config from '../../../examples/desk/agent.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld } from '../../support/world.ts';

/** The example of cooperating agents, and the page that explains it. */

const world = forAllTests(() => openWorld({ agentsIn: () => config.agents, policy: config.policy }));

test('a nested agent asks, then the run is handed over and asks again', async () => {
  const run = await world.start([], { agent: 'desk', input: 'Order 7 came broken', caller: { userId: 'kim' } });
  const nested = world.run(`${run.workflowId}/1.1`);
  const [first] = await eventually('the researcher asks', () => nested.open().catch(() => undefined));
  expect(first).toMatchObject({ agentName: 'researcher', toolName: 'message_warehouse', lineage: [run.workflowId] });
  await world.client.decide({ requestId: first!.requestId, approved: true });
  const [second] = await run.open();
  expect(second).toMatchObject({ agentName: 'billing', toolName: 'refund', reason: 'Money leaves the house' });
  await world.client.decide({ requestId: second!.requestId, approved: true });
  expect(await run.result()).toMatchObject({ status: 'completed', output: 'Order 7: 25 refunded.' });
});

test('the page shows what the example does', () => {
  const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
  const blocks = ['docs/agents.md', 'README.md'].flatMap((page) =>
    [...read(page).matchAll(/^```ts\n(.*?)^```/gms)]
      .map(([, block = '']) => block)
      .filter((block) => block.includes('agentTool')),
  );
  expect(blocks).toHaveLength(1);
  for (const block of blocks) expect(read('examples/desk/agent.ts')).toContain(block);
});
