import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MockActivityEnvironment } from '@temporalio/testing';
import { z } from 'zod';
import { callTool } from '../../src/activities/call-tool.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import type { Permit } from '../../src/contract.ts';

const permit: Permit = {
  workflowId: 'w',
  callId: '1.1',
  digest: '0'.repeat(64),
  definition: '0'.repeat(64),
  outcome: 'allowed',
  agent: 'tester',
};

/** How many heartbeats the activity sends for a tool that takes 60 ms. */
async function heartbeats(heartbeatTimeoutMs: number): Promise<number> {
  const environment = new MockActivityEnvironment({ heartbeatTimeoutMs });
  let count = 0;
  environment.on('heartbeat', () => count++);
  const execute = () => sleep(60);
  const tool = defineTool({ name: 'wait', description: 'Waits.', input: z.object({}), execute });
  await environment.run(callTool(tool), permit, {});
  return count;
}

test('an activity with a heartbeat timeout sends heartbeats', async () => {
  expect(await heartbeats(30)).toBeGreaterThan(0);
});

test('an activity without one, which the SDK gives as zero, sends none', async () => {
  expect(await heartbeats(0)).toBe(0);
});
