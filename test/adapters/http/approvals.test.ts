import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { once, pay, rule } from '../../support/team.ts';

let world: GatewayWorld;
beforeAll(async () => {
  world = await openGatewayWorld({ agentPolicy: rule('pay', 'ask') });
});
afterAll(() => world.close());

test('the inbox is listed', async () => {
  const run = await world.start(once(pay('bob')));
  await run.open();
  const response = await world.call('GET', '/approvals');
  expect(response.status).toBe(200);
  const { approvals } = (await response.json()) as { approvals: { workflowId: string }[] };
  expect(approvals.map(({ workflowId }) => workflowId)).toContain(run.workflowId);
});
