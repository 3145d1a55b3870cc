/** Runs the agent with the channel that answers for people: docs/testing.md. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, type CountersignClient } from 'countersign/client';
import { createWorker, type CountersignWorker } from 'countersign/worker';
import options from './function.ts';

const taskQueue = 'channels-tests';
let client: CountersignClient;
let worker: CountersignWorker;
let running: Promise<void>;

beforeAll(async () => {
  client = await createClient({ taskQueue });
  await client.setUp();
  worker = await createWorker({ ...options, taskQueue });
  running = worker.run();
});
afterAll(async () => {
  worker.shutdown();
  await running;
  await client.close();
});

test('the function approves the replacement of a known order, and denies that an account is deleted', async () => {
  const run = await client.start('shop', 'My lamp came broken');
  await run.result();
  const { outcomes } = await client.show(run.workflowId);
  expect(Object.fromEntries(outcomes.map(({ toolName, outcome }) => [toolName, outcome]))).toEqual({
    look_up: 'allowed',
    replace_item: 'approved',
    delete_account: 'denied',
  });
});
