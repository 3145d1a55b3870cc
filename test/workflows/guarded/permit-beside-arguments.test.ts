import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ActivityInboundCallsInterceptor, NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../../src/client.ts';
import { openGatedWorld, type GatedWorld } from '../../support/gated-world.ts';
import { sharedAddress } from '../../support/shared-server.ts';

/** The permit of a gated call travels beside its arguments, which stay as the workflow's author wrote them. */

const policy = {
  version: 1,
  rules: [
    { pattern: '*', action: 'allow' },
    { pattern: 'pay', action: 'ask' },
  ],
  approval: { max_pending: 20 },
};
const folder = mkdtempSync(join(tmpdir(), 'countersign-beside-'));
const largePayloads = { folder, thresholdBytes: 65_536 };

/** What an interceptor of the author sees. */
const seen: unknown[][] = [];

let world: GatedWorld;
beforeAll(async () => {
  const copy: ActivityInboundCallsInterceptor = {
    execute: (input, next) => {
      seen.push(input.args);
      return next({ ...input, args: structuredClone(input.args) });
    },
  };
  world = await openGatedWorld({ policy, largePayloads, interceptors: { activity: [() => ({ inbound: copy })] } });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

/** A worker without the plugin: what its activities receive is their result. */
async function withoutPlugin<Result>(use: (taskQueue: string) => Promise<Result>): Promise<Result> {
  const connection = await NativeConnection.connect({ address: sharedAddress() });
  const received = (...args: unknown[]): Promise<unknown> => Promise.resolve(args);
  const taskQueue = `plain-${randomUUID()}`;
  const worker = await Worker.create({ connection, taskQueue, activities: { look: received, pay: received } });
  try {
    return await worker.runUntil(() => use(taskQueue));
  } finally {
    await connection.close();
  }
}

test('a worker without the plugin runs an admitted call with the arguments of the workflow', async () => {
  const ends = await withoutPlugin((taskQueue) =>
    world.run('callsElsewhere', taskQueue, [
      { name: 'look', args: ['a', 1, { b: [null] }] },
      { name: 'look', args: [{ item: 'tea' }] },
      // An empty argument carries the permit.
      { name: 'look', args: [] },
    ]),
  );
  expect(ends).toEqual([{ result: ['a', 1, { b: [null] }] }, { result: [{ item: 'tea' }] }, { result: [null] }]);
});

test('interceptors of the author see the arguments alone, and may copy them', async () => {
  const calls = [['a', { b: 1 }], [undefined, 2], []];
  const steps = calls.map((args) => ({ name: 'look', args }));
  expect(await world.run('inTurn', steps)).toEqual([
    { result: ['a', { b: 1 }] },
    { result: [null, 2] },
    { result: [] },
  ]);
  expect(seen.filter(([first]) => (first as { gated?: unknown } | undefined)?.gated === undefined)).toEqual(
    expect.arrayContaining([['a', { b: 1 }], [null, 2], []]),
  );
});

test('it runs an asked call only after the approval', async () => {
  const result = await withoutPlugin(async (taskQueue) => {
    const handle = await world.start('callsElsewhere', taskQueue, [{ name: 'pay', args: ['ann', 7] }]);
    const [request] = await world.open(handle);
    const { events } = await handle.fetchHistory();
    expect(events!.filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'pay')).toEqual(
      [],
    );
    await handle.signal('decide', { requestId: request!.requestId, approved: true });
    return handle.result();
  });
  expect(result).toEqual([{ result: ['ann', 7] }]);
});

test('beside an argument in the payload folder the permit carries no journal, which anybody can read', async () => {
  const client = await createClient({ address: sharedAddress(), taskQueue: world.taskQueue });
  const large = 'x'.repeat(100_000);
  const handle = await world.start('calls', [{ name: 'look', args: [large] }]);
  await world.client.session.client.workflow
    .getHandle(handle.workflowId)
    .result()
    .catch(() => undefined);
  expect(readdirSync(folder, { recursive: true }).length).toBeGreaterThan(1);
  const { entries, gaps } = await client.journal(handle.workflowId);
  expect(entries.map(({ seq, kind, ran }) => ({ seq, kind, ran }))).toEqual([
    { seq: 1, kind: 'ruling' },
    { seq: 2, kind: 'ran', ran: 'yes' },
  ]);
  expect(gaps).toEqual([]);
  await client.close();
});

test('entries that make a permit large wait for the next payload', async () => {
  const steps = Array.from({ length: 16 }, (_, index) => ({ name: 'pay', args: [`p${index}`, 1] }));
  const handle = await world.start('calls', steps);
  const open = await world.open(handle, 16);
  const reason = '漢'.repeat(2_000);
  await handle.signal(
    'decide',
    open.map(({ requestId }) => ({ requestId, approved: true, reason, reviewerId: 'ann' })),
  );
  await handle.result();
  // This client does not have the payload folder.
  const client = await createClient({ address: sharedAddress(), taskQueue: world.taskQueue });
  const { entries, gaps } = await client.journal(handle.workflowId);
  expect(gaps).toEqual([]);
  expect(entries.filter(({ kind }) => kind === 'settled').map(({ reviewerId }) => reviewerId)).toEqual(
    Array(16).fill('ann'),
  );
  await client.close();
});
