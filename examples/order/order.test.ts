/** Runs the workflow with the activities of the worker: docs/testing.md. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { createClient, type CountersignClient } from 'countersign/client';
import { createWorker, type CountersignWorker } from 'countersign/worker';
import { orderActivities } from './activities.ts';
import { gated } from './gated.ts';
import type { returnOrder } from './workflows.ts';

const here = import.meta.dirname;
const taskQueue = 'order-tests';
const folder = mkdtempSync(join(tmpdir(), 'order-'));
const log = join(folder, 'order.log');
let client: CountersignClient;
let worker: CountersignWorker;
let running: Promise<void>;

beforeAll(async () => {
  client = await createClient({ taskQueue });
  await client.setUp();
  worker = await createWorker({
    taskQueue,
    workflowsPath: join(here, 'workflows.ts'),
    activities: orderActivities(log),
    gated,
    policy: join(here, 'policy.yaml'),
    workflowTypes: ['returnOrder', 'returnsDesk'],
  });
  running = worker.run();
});
afterAll(async () => {
  worker.shutdown();
  await running;
  await client.close();
  rmSync(folder, { recursive: true });
});

/** Each test has an order of its own, by which it finds its lines of the log. */
function startReturn(orderId: string, amount: number): Promise<WorkflowHandle<typeof returnOrder>> {
  const { workflow } = client.session.client;
  const input = { orderId, amount, customer: orderId, clerk: 'carl' };
  return workflow.start<typeof returnOrder>('returnOrder', { workflowId: randomUUID(), taskQueue, args: [input] });
}

/** The request that a workflow waits for. */
async function openRequest(workflowId: string): Promise<string> {
  for await (const event of client.events(workflowId)) {
    if (event.type === 'ApprovalRequestEvent') return event.requestId;
  }
  throw new Error('The workflow ended without a request.');
}

const ran = (orderId: string): string[] =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes(orderId));

test('a small refund runs at once', async () => {
  const handle = await startReturn('small', 20);
  expect(await handle.result()).toBe('Refunded: refund-of-small');
});

test('a large refund runs after another person has approved it', async () => {
  const handle = await startReturn('large', 250);
  const requestId = await openRequest(handle.workflowId);
  expect(await client.approvals.get(requestId)).toMatchObject({ arguments: { orderId: 'large', amount: 250 } });
  await client.decide({ requestId, approved: true, reviewerId: 'ann' });
  expect(await handle.result()).toBe('Refunded: refund-of-large');
  expect(ran('large')).toEqual(['refund large 250', 'mail large: We refunded 250.']);
});

test('a refund that is denied does not run', async () => {
  const handle = await startReturn('denied', 250);
  const requestId = await openRequest(handle.workflowId);
  await client.decide({ requestId, approved: false, reason: 'Ask her first.', reviewerId: 'ann' });
  expect(await handle.result()).toContain('Ask her first.');
  expect(ran('denied')).toEqual(['mail denied: We could not refund your order.']);
});
