import { afterEach, beforeEach, expect, test } from 'vitest';
import { type World, openWorld } from '../../support/world.ts';

/**
 * A call that the present ceiling would refuse to start is refused before anybody is asked, although the run recorded
 * another ceiling, and so is an edit.
 */

const policyOf = (rule: string): string => `version: 1\nrules:\n  - { pattern: pay, action: ask }\n${rule}`;
const stricter = policyOf('  - { pattern: "pay:mallory", action: deny, reason: No more payments to Mallory }\n');
const pay = (to: string) => ({ tool: 'pay', args: { to, amount: 1 } });

let world: World;
beforeEach(async () => {
  world = await openWorld({ policy: policyOf('') });
});
afterEach(() => world.close());

const deploy = async (): Promise<void> => {
  await world.stopWorker();
  await world.startWorker({ policy: stricter });
};

test('a call that cannot start is told so before anybody is asked', async () => {
  const run = await world.start([{ calls: [pay('ann')] }, { calls: [pay('mallory')] }, { text: '{{lastResult}}' }]);
  const [request] = await run.open();
  await deploy();
  await world.client.decide({ requestId: request!.requestId, approved: true }, { workflowId: run.workflowId });
  await expect(run.result()).resolves.toMatchObject({
    output: 'Error: No more payments to Mallory',
    outcomes: [
      { callId: '1.1', outcome: 'approved', ran: 'yes' },
      { callId: '2.1', outcome: 'refused' },
    ],
  });
  expect(world.ran()).toEqual(['pay ann 1']);
});

test('an edit that cannot start is refused to its reviewer', async () => {
  const run = await world.start([{ calls: [pay('ann')] }, { text: '{{lastResult}}' }]);
  const [request] = await run.open();
  await deploy();
  const edit = { requestId: request!.requestId, approved: true, modifiedArguments: { to: 'mallory', amount: 1 } };
  await expect(world.client.decide(edit, { workflowId: run.workflowId })).rejects.toMatchObject({
    code: 'denied_by_policy',
    message: expect.stringContaining('No more payments to Mallory'),
  });
  await world.client.decide({ requestId: request!.requestId, approved: true }, { workflowId: run.workflowId });
  await expect(run.result()).resolves.toMatchObject({ output: 'paid 1 to ann' });
});
