import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';
import { once, pay, rule } from '../../support/team.ts';

const world = forAllTests(() => openGatewayWorld({ agentPolicy: rule('pay', 'ask') }));

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
