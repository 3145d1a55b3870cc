/** The examples that are programs of their own, each as a process, against a real server and a worker. */
import { randomUUID } from 'node:crypto';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nightShift } from '../../../examples/channels/night-shift.ts';
import { policy, shop } from '../../../examples/channels/shop.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { makeNamespace } from '../../support/make-namespace.ts';
import { outcomesOf } from './shop-world.ts';
import { sharedAddress } from '../../support/shared-server.ts';

const namespace = `channels-${randomUUID()}`;
let world: GatewayWorld;

beforeAll(async () => {
  await makeNamespace(namespace);
  world = await openGatewayWorld({ namespace, taskQueue: 'countersign', agentsIn: () => [shop], worker: false });
  await eventually('the search attributes', () => world.client.setUp().catch(() => undefined));
  await world.startWorker();
});
afterAll(() => world.close());

async function run(name: string, ...words: string[]): Promise<string[]> {
  const script = fileURLToPath(new URL(`../../../examples/channels/${name}.ts`, import.meta.url));
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    TEMPORAL_ADDRESS: sharedAddress(),
    TEMPORAL_NAMESPACE: namespace,
    GATEWAY_URL: world.gateway.url,
  };
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...words], { env });
  return stdout.trimEnd().split('\n');
}

async function startAsking(): Promise<string> {
  const { workflowId } = await world.client.start('shop', 'My lamp came broken', {
    policy,
    taskQueue: 'countersign',
  });
  await world.run(workflowId).open(2);
  await eventually('both in the inbox', async () => (await world.client.approvals.list()).approvals.length === 2);
  return workflowId;
}
const outcomes = async (workflowId: string) => outcomesOf(await world.run(workflowId).result());

test('modes', async () => {
  expect((await run('modes', 'headless')).toSorted()).toEqual([
    'delete_account: denied_by_policy',
    'look_up: allowed',
    'replace_item: denied_by_policy',
  ]);
});

test.each([
  ['approve', 'approved'],
  ['deny', 'denied'],
])('queue-desk: %s all', async (what, outcome) => {
  const workflowId = await startAsking();
  const lines = await run('queue-desk', what, 'all');
  expect(lines).toHaveLength(4);
  expect(await outcomes(workflowId)).toEqual([`replace_item: ${outcome}`, `delete_account: ${outcome}`]);
});

test('web-page', async () => {
  const workflowId = await startAsking();
  expect(await run('web-page', workflowId)).toContain('delete_account: denied');
  expect(await outcomes(workflowId)).toEqual(['replace_item: approved', 'delete_account: denied']);
});

test('switching', async () => {
  const workflowId = await startAsking();
  await run('switching', workflowId, 'close');
  expect(await outcomes(workflowId)).toEqual(['replace_item: superseded', 'delete_account: superseded']);
});

test('night-shift', async () => {
  await run('night-shift');
  const schedule = world.client.session.client.schedule.getHandle(nightShift);
  expect((await schedule.describe()).spec.calendars).toHaveLength(1);
  await schedule.delete();
});
