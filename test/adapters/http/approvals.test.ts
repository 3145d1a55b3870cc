import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
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
  // Other tests have requests in this namespace; the list follows the runs.
  await eventually('the request is listed', async () => {
    const response = await world.call('GET', '/approvals?limit=500');
    expect(response.status).toBe(200);
    const { approvals } = (await response.json()) as { approvals: { workflowId: string }[] };
    return approvals.some(({ workflowId }) => workflowId === run.workflowId);
  });
});
