import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { resetToTask } from '../../support/reset-to.ts';
import { openWorld, type RunInTest, type World } from '../../support/world.ts';

const keyTool = defineTool({
  name: 'key',
  description: 'Returns its idempotency key.',
  input: z.object({}),
  risk: 'read_only',
  execute: (_args, { idempotencyKey }) => idempotencyKey,
});

let world: World;
beforeAll(async () => {
  const tester = defineAgent({ name: 'tester', instructions: '', model: promptScripted(), tools: [keyTool] });
  world = await openWorld({ agentsIn: () => [tester], continueAsNewAfter: { historyEvents: 20 } });
});
afterAll(() => world.close());

const turns = [...Array.from({ length: 3 }, () => ({ calls: [{ tool: 'key' }, { tool: 'key' }] })), { text: 'done' }];
const callIds = ['1.1', '1.2', '2.1', '2.2', '3.1', '3.2'];

async function start(workflowId: string): Promise<{ run: RunInTest; firstRunId: string }> {
  const { workflow } = world.client.session.client;
  const args = [{ agent: 'tester', input: JSON.stringify(turns) }];
  const { firstExecutionRunId } = await workflow.start('agentRun', { workflowId, taskQueue: world.taskQueue, args });
  return { run: world.run(workflowId), firstRunId: firstExecutionRunId };
}

/** The keys that the tools returned, in the order of the calls. */
async function keysOf({ handle }: RunInTest): Promise<string[]> {
  await handle.result();
  const messages = await handle.query<{ role: string; content: string }[]>('transcript');
  return messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
}

test('each call has its own key: in all executions of a run, after a reset, and under a workflow id used before', async () => {
  const workflowId = `run-${randomUUID()}`;
  const { run, firstRunId } = await start(workflowId);
  const keys = callIds.map((callId) => `${firstRunId}/${callId}`);
  expect(await keysOf(run)).toEqual(keys);
  expect((await run.status()).executions).toBeGreaterThan(1);

  const firstExecution = world.client.session.client.workflow.getHandle(workflowId, firstRunId);
  const { events } = await firstExecution.fetchHistory();
  const [, second] = events!.filter((event) => event.workflowTaskCompletedEventAttributes != null);
  await resetToTask(world, { workflowId, runId: firstRunId }, second!);
  expect((await run.handle.describe()).runId).not.toBe(firstRunId);
  expect(await keysOf(run)).toEqual(keys);

  const again = await start(workflowId);
  expect(again.firstRunId).not.toBe(firstRunId);
  expect(await keysOf(again.run)).toEqual(callIds.map((callId) => `${again.firstRunId}/${callId}`));
});
