import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Return } from '../../../examples/order/workflows.ts';
import type { ApprovalSummary } from '../../../src/client.ts';
import type { CountersignClient } from '../../../src/client/countersign-client.ts';
import { createClient } from '../../../src/client/client.ts';
import { eventually } from '../../support/eventually.ts';
import { startExampleWorker } from './example-worker.ts';
import { type ReadyProcess, killAll } from '../../support/ready-process.ts';
import { sharedAddress } from '../../support/shared-server.ts';

/** The gate in a plain order workflow, on a worker created by `Worker.create` with the plugin: `examples/order`. */

const taskQueue = `order-${randomUUID()}`;
const folder = mkdtempSync(join(tmpdir(), 'countersign-order-'));
let client: CountersignClient;
let log: string;
let worker: ReadyProcess;

const startWorker = () =>
  startExampleWorker('order', { TEMPORAL_ADDRESS: sharedAddress(), ORDER_QUEUE: taskQueue, ORDER_LOG: log });

beforeAll(async () => {
  client = await createClient({ address: sharedAddress(), taskQueue });
  log = join(folder, 'order.log');
  worker = await startWorker();
});
beforeEach(() => rmSync(log, { force: true }));
afterAll(async () => {
  await killAll();
  await client.close();
  rmSync(folder, { recursive: true, force: true });
});

const ran = (): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []);

async function startReturn(more: Partial<Return> = {}) {
  const workflowId = `return-${randomUUID()}`;
  const input: Return = { orderId: 'o-17', amount: 250, customer: 'ann', clerk: 'carl', ...more };
  const { workflow } = client.session.client;
  const handle = await workflow.start('returnOrder', { workflowId, taskQueue, args: [input] });
  const request = (): Promise<ApprovalSummary> =>
    eventually(`a request of ${workflowId}`, async () => (await client.approvals.list({ workflowId })).approvals[0]);
  return { workflowId, handle, request, result: () => handle.result() as Promise<string> };
}

test('allowed: it runs at once', async () => {
  const { result } = await startReturn({ amount: 20 });
  expect(await result()).toBe('Refunded: refund-of-o-17');
  expect(ran()).toEqual(['refund o-17 20', 'mail ann: We refunded 20.']);
});

test('show says what is gated while it waits, and in the end what was and what the workflow returned', async () => {
  const { workflowId, request, result } = await startReturn();
  const { requestId } = await request();
  const waiting = await client.show(workflowId);
  expect(waiting).toMatchObject({
    workflowType: 'returnOrder',
    status: 'waiting',
    open: [{ requestId }],
    outcomes: [],
  });
  await client.decide({ requestId, approved: false, reason: 'Ask her first' });
  const returned = await result();
  const { note, ...ended } = await client.show(workflowId);
  expect(note).toBeUndefined();
  expect(ended).toMatchObject({
    status: 'completed',
    returned,
    outcomes: [{ toolName: 'refund', requestId, outcome: 'denied', ran: 'no' }],
  });
});

test('asked and approved: the reviewer sees the call with argument names, and exactly this call runs', async () => {
  const { workflowId, request, result } = await startReturn();
  const { requestId } = await request();
  expect(await client.approvals.get(requestId)).toMatchObject({
    workflowId,
    toolName: 'refund',
    arguments: { orderId: 'o-17', amount: 250 },
    riskLevel: 'destructive',
    agentName: 'returns',
    callerUserId: 'carl',
    rulePlace: 'policy.yaml:5',
    reason: 'More than 100 needs a second person',
    contextSummary: 'A clerk wants to refund 250 for order o-17.',
  });
  expect(ran()).toEqual([]);
  expect(await client.decide({ requestId, approved: true, reviewerId: 'rita' })).toMatchObject({
    accepted: true,
    outcome: 'approved',
  });
  expect(await result()).toBe('Refunded: refund-of-o-17');
  expect(ran()).toEqual(['refund o-17 250', 'mail ann: We refunded 250.']);
});

test('asked and denied: the workflow is told why and continues', async () => {
  const { request, result } = await startReturn();
  const { requestId } = await request();
  await client.decide({ requestId, approved: false, reason: 'no receipt' });
  expect(await result()).toBe('Not refunded. Denied: no receipt');
  expect(ran()).toEqual(['mail ann: We could not refund your order.']);
});

test('no answer: the deadline denies, without a reviewer', async () => {
  const { result } = await startReturn({
    policy: { version: 1, rules: [{ pattern: 'refund', action: 'ask' }], approval: { timeout: '1s' } },
  });
  expect(await result()).toBe('Not refunded. Denied: no decision within 1s');
  expect(ran()).toEqual(['mail ann: We could not refund your order.']);
});

test('denied by the policy: no request is opened, and no policy in the input overrides it', async () => {
  const { result } = await startReturn({
    amount: 20_000,
    policy: { version: 1, rules: [{ pattern: '*', action: 'allow' }] },
  });
  expect(await result()).toBe('Not refunded. Denied: Refunds over 10000 are paid by the bank');
});

test('the worker is killed while the call waits: the next worker continues, and the call runs once', async () => {
  const { handle, request, result } = await startReturn();
  const { requestId } = await request();
  await worker.kill();
  await handle.signal('decide', { requestId, approved: true });
  worker = await startWorker();
  expect(await result()).toBe('Refunded: refund-of-o-17');
  expect(ran()).toEqual(['refund o-17 250', 'mail ann: We refunded 250.']);
});

test('a policy that does not load fails the workflow with one sentence', async () => {
  const { result } = await startReturn({ policy: { version: 1, rules: [{ pattern: '', action: 'allow' }] } });
  await expect(result()).rejects.toMatchObject({
    cause: { type: 'policy_invalid', message: expect.stringMatching(/^The run's policy at rules/) },
  });
});

test('a standalone activity started instead of a gated one is refused', async () => {
  const start = `activity execute --activity-id bare-${randomUUID()} --type refund --start-to-close-timeout 10s`;
  const at = `--address ${sharedAddress()} --task-queue ${taskQueue} --input "o-17" --input 20`;
  const run = promisify(execFile)(process.env.COUNTERSIGN_TEMPORAL_BINARY!, `${start} ${at}`.split(' '));
  await expect(run).rejects.toMatchObject({ stdout: expect.stringMatching(/runs only inside a workflow/) });
  expect(ran()).toEqual([]);
});
