import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Order } from '../../../examples/upgrade/before/workflows.ts';
import { createClient, type CountersignClient } from '../../../src/client.ts';
import { CountersignPlugin } from '../../../src/worker.ts';
import { eventually } from '../../support/eventually.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { type ReadyProcess, killAll, spawnReady } from '../../support/ready-process.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { temporal } from '../../support/temporal-cli.ts';
import { listen } from '../../support/listen.ts';
import { createServer } from 'node:http';

/** The gate comes into a system that runs: the steps of docs/deploy.md, with `examples/upgrade`. */

installQuietRuntime();

let bank: Bank;
let client: CountersignClient;
let taskQueue: string;
beforeAll(async () => {
  client = await createClient({ address: sharedAddress() });
});
beforeEach(async () => {
  taskQueue = `upgrade-${randomUUID()}`;
  bank = await openBank();
});
afterEach(async () => {
  await killAll();
  await bank.close();
});
afterAll(() => client.close());

type Stage = 'before' | 'after';

const sourceOf = (file: string): string => fileURLToPath(new URL(`../../../examples/upgrade/${file}`, import.meta.url));

/** A worker process as the example has it. */
function startWorker(stage: Stage, env: Record<string, string> = {}): Promise<ReadyProcess> {
  const script = sourceOf(`${stage}/worker.ts`);
  const common = { TEMPORAL_ADDRESS: sharedAddress(), QUEUE: taskQueue, BANK: bank.url };
  return spawnReady(`the worker ${stage}`, script, { env: { ...common, ...env } });
}

const startOrder = (id: string, more: Partial<Order> = {}): Promise<WorkflowHandle> =>
  client.session.client.workflow.start('settleOrder', {
    workflowId: `${id}-${randomUUID()}`,
    taskQueue,
    args: [{ id, amount: 10, ...more } satisfies Order],
  });

const startOrders = (name: string, count: number, more: Partial<Order> = {}): Promise<WorkflowHandle[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => startOrder(`${name}-${index}`, more)));

/** Waits until a worker has taken up the execution. */
const takenUp = (handles: readonly WorkflowHandle[]): Promise<boolean[]> =>
  Promise.all(
    handles.map((handle) =>
      eventually(`the first workflow task of ${handle.workflowId}`, async () =>
        (await handle.fetchHistory()).events!.some((event) => event.workflowTaskCompletedEventAttributes != null),
      ),
    ),
  );

const requestOf = ({ workflowId }: WorkflowHandle): Promise<{ requestId: string }> =>
  eventually(`a request of ${workflowId}`, async () => (await client.approvals.list({ workflowId })).approvals[0]);

const resultsOf = (handles: readonly WorkflowHandle[]): Promise<unknown[]> =>
  Promise.all(handles.map((handle) => handle.result()));

const statusOf = async (handle: WorkflowHandle): Promise<string> => (await handle.describe()).status.name;

test('twenty executions in flight go on without the gate, and none that starts later does', async () => {
  // Step 0: the system as it is.
  const old = await startWorker('before');
  bank.isClosed = true;
  const waiting = await startOrders('waits', 8);
  const timed = await startOrders('timed', 4, { shipsAfterMs: 8_000 });
  const failing = await startOrders('closed', 4, { shipsAfterMs: 1 });
  const running = await startOrders('slow', 4, { shipsAfterMs: 1 });
  const inFlight = [...waiting, ...timed, ...failing, ...running];
  await takenUp(inFlight);
  await eventually('calls at the bank', () => bank.asked.size >= 8);

  // Step 1: the new worker beside the old one. gatedSince is after the end of the roll-out.
  const rolling = await startWorker('after', { GATED_SINCE: '2099-01-01', UNGATED_UNTIL: '2100-01-01' });
  const mixed = await startOrders('mixed', 4, { shipsAfterMs: 1 });
  await takenUp(mixed);
  await old.kill();
  await Promise.all(waiting.slice(4).map((handle) => handle.signal('ship')));

  // Step 2: the roll-out has ended, and gatedSince is its end.
  const gatedSince = new Date().toISOString();
  await startWorker('after', { GATED_SINCE: gatedSince, UNGATED_UNTIL: '2100-01-01' });
  await rolling.kill();
  bank.isClosed = false;
  await Promise.all(waiting.slice(0, 4).map((handle) => handle.signal('ship')));

  // Whatever starts now has the gate.
  const later = await startOrders('later', 5, { shipsAfterMs: 1 });
  const requests = await Promise.all(later.map(requestOf));
  const ofLater = (): string[] => bank.charges.filter((charge) => charge.startsWith('later'));
  expect(ofLater()).toEqual([]);
  await Promise.all(
    requests.map(({ requestId }, index) => client.decide({ requestId, approved: index > 0, reviewerId: 'ann' })),
  );
  expect(await resultsOf(later)).toEqual([
    expect.stringMatching(/^Not charged\. /),
    ...[1, 2, 3, 4].map((index) => `Charged: receipt-of-later-${index}`),
  ]);
  expect(ofLater().toSorted()).toEqual([1, 2, 3, 4].map((index) => `later-${index} 10`));

  // None of those in flight fails. Of those that started while both workers lived, some may have the gate.
  const results = await resultsOf(inFlight);
  expect(results).toEqual(results.map(() => expect.stringMatching(/^Charged: receipt-of-/)));
  for (const handle of mixed) {
    if ((await statusOf(handle)) !== 'RUNNING') continue;
    const { requestId } = await requestOf(handle);
    await client.decide({ requestId, approved: true, reviewerId: 'ann' });
  }
  expect(await resultsOf(mixed)).toEqual(mixed.map((_, index) => `Charged: receipt-of-mixed-${index}`));
  // Every order is charged. Without the gate, a call that a killed worker has made may be repeated, as before.
  expect(new Set(bank.charges).size).toBe(20 + 4 + 4);
});

test('after a roll-back, a waiting request keeps its decision until the gate is back', async () => {
  const gate = await startWorker('after');
  const order = await startOrder('rolled', { shipsAfterMs: 1 });
  const { requestId } = await requestOf(order);
  await gate.kill();
  const old = await startWorker('before');
  // The old code cannot replay the execution: its task fails and is retried, and nothing is charged.
  const receipt = await client.decide({ requestId, approved: true, reviewerId: 'ann' });
  expect(receipt).toMatchObject({ accepted: true, recorded: true });
  await eventually('a failed task', async () =>
    (await order.fetchHistory()).events!.some((event) => event.workflowTaskFailedEventAttributes != null),
  );
  await eventually('the reason why it cannot be asked', () =>
    client
      .run(order.workflowId)
      .status()
      .then(
        () => false,
        (error: Error & { code: string }) => error.code === 'no_worker' && /after a roll-back/.test(error.message),
      ),
  );
  expect(await statusOf(order)).toBe('RUNNING');
  expect((await client.approvals.list({ workflowId: order.workflowId })).approvals).toMatchObject([{ requestId }]);
  expect(bank.charges).toEqual([]);
  await old.kill();
  await startWorker('after');
  expect(await order.result()).toBe('Charged: receipt-of-rolled');
  expect(bank.charges).toEqual(['rolled 10']);
});

test('with Worker Versioning, old executions stay on the old version and new ones have the gate', async () => {
  const DEPLOYMENT = taskQueue;
  const makeCurrent = (buildId: string): Promise<boolean> =>
    eventually(`${buildId} as the current version`, async () => {
      const name = ['--deployment-name', DEPLOYMENT, '--build-id', buildId];
      const { exitCode } = await temporal(['worker', 'deployment', 'set-current-version', ...name, '--yes']);
      return exitCode === 0;
    });
  await startWorker('before', { DEPLOYMENT, BUILD_ID: 'v1' });
  await makeCurrent('v1');
  const early = await startOrders('early', 4);
  await takenUp(early);

  // No window: version v2 admits no call without a permit.
  await startWorker('after', { DEPLOYMENT, BUILD_ID: 'v2' });
  await makeCurrent('v2');
  const later = await startOrders('later', 2, { shipsAfterMs: 1 });
  const requests = await Promise.all(later.map(requestOf));
  await Promise.all(early.map((handle) => handle.signal('ship')));
  expect(await resultsOf(early)).toEqual(early.map((_, index) => `Charged: receipt-of-early-${index}`));
  expect(bank.charges.filter((charge) => charge.startsWith('later'))).toEqual([]);

  // A roll-back: what began with the gate keeps it.
  await makeCurrent('v1');
  await Promise.all(requests.map(({ requestId }) => client.decide({ requestId, approved: true, reviewerId: 'ann' })));
  expect(await resultsOf(later)).toEqual(later.map((_, index) => `Charged: receipt-of-later-${index}`));

  // The new code replays both: the old version is not needed for its closed executions.
  const histories = await Promise.all(
    [...early, ...later].map(async (handle) => ({
      workflowId: handle.workflowId,
      history: await handle.fetchHistory(),
    })),
  );
  const options = { workflowsPath: sourceOf('after/workflows.ts'), plugins: [new CountersignPlugin()] };
  const errors: unknown[] = [];
  for await (const { error } of Worker.runReplayHistories(options, histories)) errors.push(error);
  expect(errors).toEqual(histories.map(() => undefined));
});

/** The bank of `examples/upgrade`, as an HTTP server. */
interface Bank {
  url: string;
  /** The charges that it made, as `ORDER AMOUNT`. */
  charges: string[];
  /** Orders for which it was asked. */
  asked: Set<string>;
  /** While true, it answers 503 for orders whose id begins with `closed`. */
  isClosed: boolean;
  close(): Promise<void>;
}

/** For an order whose id begins with `slow`, the first request gets no answer. */
async function openBank(): Promise<Bank> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { orderId, amount } = JSON.parse(body) as { orderId: string; amount: number };
      const isFirst = !bank.asked.has(orderId);
      bank.asked.add(orderId);
      if (orderId.startsWith('slow') && isFirst) return;
      if (orderId.startsWith('closed') && bank.isClosed) {
        response.writeHead(503).end();
        return;
      }
      bank.charges.push(`${orderId} ${amount}`);
      response.end(`receipt-of-${orderId}`);
    });
  });
  const { url, close } = await listen(server);
  const bank: Bank = {
    url,
    charges: [],
    asked: new Set(),
    isClosed: false,
    close,
  };
  return bank;
}
