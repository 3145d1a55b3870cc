import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client, Connection } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyCarried } from '../../../src/activities/verify-carried.ts';
import { startDevServer } from '../../../packages/cli/src/dev-server/start-dev-server.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { killAll } from '../../support/ready-process.ts';
import { spawnWorker } from '../../support/worker-process.ts';
import type { World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';
import { startAgain } from '../../support/start-on.ts';

/** kill -9 of the worker and of the server (I7): nothing is lost, and no tool runs twice. `worker-killed` has the stages of a call. */

let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: false });
});
afterAll(async () => {
  await killAll();
  await world.close();
});

const worker = (maxConcurrentActivityTaskExecutions?: number) =>
  spawnWorker({
    address: sharedAddress(),
    taskQueue: world.taskQueue,
    folder: world.folder,
    ...(maxConcurrentActivityTaskExecutions === undefined ? {} : { maxConcurrentActivityTaskExecutions }),
  });
const count = (line: string): number => world.ran().filter((each) => each === line).length;
const allowHold = { version: 1, rules: [{ pattern: 'hold*', action: 'allow' }] };

test('between decision and tool start: the approved call is scheduled, the worker dies, the next worker runs it once', async () => {
  // A call occupies the only slot, so an approved call is scheduled but cannot start.
  const first = await worker(1);
  const run = await world.start(
    [
      {
        calls: [
          { tool: 'hold', args: { name: 'slot' } },
          { tool: 'pay', args: { to: 'c', amount: 3 } },
        ],
      },
      { text: '{{lastResult}}' },
    ],
    { policy: allowHold },
  );
  const [request] = await run.open();
  await eventually('the slot is taken', () => world.ran().includes('start slot'));
  await run.handle.executeUpdate('decide', { args: [{ requestId: request!.requestId, approved: true }] });
  await eventually('pay is scheduled', async () => {
    const { raw } = await run.handle.describe();
    return raw.pendingActivities?.some(({ activityType }) => activityType?.name === 'pay');
  });
  expect(count('pay c 3')).toBe(0);
  await first.kill();
  await worker();
  const { output, outcomes } = await run.result();
  expect(output).toBe('paid 3 to c');
  expect(count('pay c 3')).toBe(1);
  expect(outcomes.find(({ toolName }) => toolName === 'hold')).toMatchObject({ outcome: 'allowed', ran: 'unknown' });
});

test('the server is killed with an open request and decisions sent while no worker is alive: nothing is lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-server-'));
  const dbFile = join(folder, 'temporal.db');
  let server = await startDevServer({ uiPort: null, dbFile });
  const ours = await openWorld({ address: server.address });
  const turn = { calls: [1, 2].map((amount) => ({ tool: 'pay', args: { to: 'db', amount } })) };
  const run = await ours.start([turn, { text: '{{lastResult}}' }]);
  const requests = await run.open(2);
  await ours.stopWorker();
  await run.handle.signal('decide', { requestId: requests[0]!.requestId, approved: true });
  server.kill();
  await server.ended;
  server = await startAgain(server, { uiPort: null, dbFile });
  await eventually('the server takes the second decision', () =>
    run.handle.signal('decide', { requestId: requests[1]!.requestId, approved: false, reason: 'after the crash' }).then(
      () => true,
      () => false,
    ),
  );
  await ours.startWorker();
  const { output, outcomes } = await run.result();
  expect(output).toBe('Denied: after the crash');
  expect(outcomes.map(({ outcome, ran }) => [outcome, ran])).toEqual([
    ['approved', 'yes'],
    ['denied', 'no'],
  ]);
  expect(ours.ran()).toEqual(['pay db 1']);
  await ours.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('what a killed server had not committed hides no execution from the one that continues it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-server-'));
  const dbFile = join(folder, 'temporal.db');
  let server = await startDevServer({ uiPort: null, dbFile });
  const ours = await openWorld({ address: server.address, continueAsNewAfter: { historyEvents: 20 } });
  const note = { calls: [{ tool: 'look', args: { what: 'x' } }] };
  const pay = { calls: [{ tool: 'pay', args: { to: 'db', amount: 1 } }] };
  const run = await ours.start([note, note, note, pay, { text: 'done' }]);
  await run.open();
  const [before, after] = await eventually('it continues as new', async () => {
    const { executions } = await ours.client.historyChain(run.workflowId);
    return executions.length > 1 && executions.map(({ runId }) => runId);
  });
  await ours.close();
  await server.stop();
  addUncommitted(dbFile, before!);
  server = await startDevServer({ uiPort: null, dbFile });
  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection });
  // As the server answers: its history, read in reverse by the smallest page, has no last event.
  const request = {
    namespace: 'default',
    execution: { workflowId: run.workflowId, runId: before! },
    maximumPageSize: 1,
  };
  const { history } = await connection.workflowService.getWorkflowExecutionHistoryReverse(request);
  expect(history?.events ?? []).toEqual([]);
  const workflowExecution = { workflowId: run.workflowId, runId: after! };
  await new MockActivityEnvironment({ workflowExecution }, { client }).run(verifyCarried);
  await connection.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes the last events of an execution once more, as a server that is killed before it commits them leaves them. */
function addUncommitted(dbFile: string, runId: string): void {
  const database = new DatabaseSync(dbFile);
  const tree = Buffer.from(runId.replaceAll('-', ''), 'hex');
  // Ids of transactions are stored with the other sign: this one is older than the one that counts.
  const { changes } = database
    .prepare(
      `INSERT INTO history_node SELECT shard_id, tree_id, branch_id, node_id, txn_id + 1, prev_txn_id, data, data_encoding
       FROM history_node WHERE tree_id = ? ORDER BY node_id DESC LIMIT 1`,
    )
    .run(tree);
  database.close();
  expect(changes).toBe(1);
}
