import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { orderActivities } from '../../../examples/order/activities.ts';
import { gated } from '../../../examples/order/gated.ts';
import type { CountersignClient } from '../../../src/client/countersign-client.ts';
import { createClient } from '../../../src/client/client.ts';
import { projectHistories } from '../../support/read-histories.ts';
import type { ApprovalRequest } from '../../../src/contract.ts';
import type { CountersignWorker } from '../../../src/worker.ts';
import { createWorker } from '../../../src/worker.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedAddress } from '../../support/shared-server.ts';

/** A long-lived user's own workflow: it continues as new while calls wait, and nothing is lost or runs twice. */

const example = (file: string): string => fileURLToPath(new URL(`../../../examples/order/${file}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'countersign-desk-'));
const log = join(folder, 'order.log');
const taskQueue = `desk-${randomUUID()}`;
let client: CountersignClient;
let worker: CountersignWorker;
let done: Promise<void>;

beforeAll(async () => {
  const address = sharedAddress();
  client = await createClient({ address, taskQueue });
  worker = await createWorker({
    address,
    taskQueue,
    workflowsPath: example('workflows.ts'),
    activities: orderActivities(log),
    gated,
    policy: example('policy.yaml'),
    workflowTypes: ['returnsDesk'],
    continueAsNewAfter: { historyEvents: 40 },
    logLevel: 'ERROR',
  });
  done = worker.run();
});
afterAll(async () => {
  worker.shutdown();
  await done;
  await client.close();
  rmSync(folder, { recursive: true, force: true });
});

test('returns are decided over many executions: each request keeps its id and deadline, each refund runs once', async () => {
  const workflowId = `desk-${randomUUID()}`;
  const { workflow } = client.session.client;
  await workflow.start('returnsDesk', { workflowId, taskQueue, args: [[]] });
  const handle = workflow.getHandle(workflowId);
  const total = 12;
  const seen = new Map<string, ApprovalRequest>();
  for (let number = 1; number <= total; number++) {
    // Every third is refunded without a request.
    const amount = number % 3 === 0 ? 20 : 200 + number;
    await handle.signal('takeReturn', { orderId: `o-${number}`, amount, customer: 'ann', clerk: 'carl' });
    const open = await eventually(`return ${number}`, async () => {
      const requests = await handle.query<ApprovalRequest[]>('approvals').catch(() => []);
      const taken = requests.some(({ arguments: { orderId } }) => orderId === `o-${number}`);
      return (amount === 20 || taken) && requests;
    });
    for (const each of open) {
      expect(seen.get(each.requestId) ?? each).toEqual(each);
      seen.set(each.requestId, each);
    }
    // Decided two returns later, so that some requests are always open.
    const due = open.find(({ arguments: { orderId } }) => orderId === `o-${number - 2}`);
    if (due !== undefined) await client.decide({ requestId: due.requestId, approved: number !== 7 });
  }
  for (const { requestId } of await handle.query<ApprovalRequest[]>('approvals')) {
    await client.decide({ requestId, approved: true });
  }
  await eventually('nothing is open', async () => {
    const { open, more } = await client.show(workflowId);
    return open.length === 0 && more === 0;
  });
  await client.close();
  client = await createClient({ address: sharedAddress(), taskQueue });
  await client.session.client.workflow.getHandle(workflowId).signal('close', { reason: 'evening' });
  await client.session.client.workflow.getHandle(workflowId).result();
  const { executions } = await client.historyChain(workflowId);
  const projection = projectHistories(executions);
  expect(executions.length).toBeGreaterThan(2);
  expect(projection.gaps).toEqual([]);
  expect(projection.requests).toHaveLength(8);
  const runs = projection.outcomes.filter(({ ran }) => ran === 'yes').length;
  expect(projection.outcomes).toHaveLength(total);
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
  expect(lines).toHaveLength(runs);
  expect(new Set(lines).size).toBe(runs);
});
