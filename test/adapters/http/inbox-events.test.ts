import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '../../../packages/gateway/src/http/identity/principal.ts';
import { createClient } from '../../../src/client/client.ts';
import {
  startGateway,
  type Gateway,
  type InboxEvents,
  type InboxPage,
  type InboxRow,
} from '../../../packages/gateway/src/index.ts';
import type { ApprovalSummary } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { openLink } from '../../support/link.ts';
import { makeNamespace } from '../../support/make-namespace.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { openSse, type SseClient } from './sse-client.ts';
import { once, pay, rule } from '../../support/team.ts';

/** `GET /approvals/events`: the inbox as it changes, in a namespace of its own. */

const namespace = `inbox-events-${randomUUID()}`;
/** The test's people say in a header who they are. */
const groups: Record<string, string[]> = { ann: [], bob: ['legal'] };
/** Whose group counts. */
const directory = { people: { ann: { groups: ['finance'] } } };
const authenticator = {
  authenticate: async (request: Request): Promise<Principal> => {
    const id = request.headers.get('x-person') ?? 'ann';
    return { id, roles: ['reviewer'], groups: groups[id] ?? [], via: 'token', key: id };
  },
};

let world: GatewayWorld;
beforeAll(async () => {
  await makeNamespace(namespace);
  const client = await createClient({ address: sharedAddress(), namespace });
  await client.setUp();
  await client.close();
  world = await openGatewayWorld({ namespace }, { authenticator });
});
afterAll(() => world.close());

const watch = (person = 'ann', gateway: Pick<Gateway, 'url'> = world.gateway): Promise<SseClient> =>
  openSse(new URL('/approvals/events', gateway.url), { 'x-person': person });
const ask = (settings: JsonObject = {}) =>
  world.start(once(pay('bob')), { policy: { ...rule('pay', 'ask', { ask: settings }), directory } });

/** The list that a page shows after all events so far; undefined before the first one. */
function listOf({ events }: SseClient): Map<string, InboxRow> | undefined {
  let rows: Map<string, InboxRow> | undefined;
  for (const { event, data } of events) {
    if (event === 'snapshot') rows = new Map((data as InboxPage).approvals.map((row) => [row.requestId, row]));
    if (event === 'changed') rows!.set((data as InboxRow).requestId, data as InboxRow);
    if (event === 'gone') rows!.delete((data as InboxEvents['gone']).requestId);
  }
  return rows;
}

test('first a snapshot, then what is opened, and what is gone', async () => {
  const before = await ask();
  const [old] = await before.open();
  const viewer = await watch();
  await eventually('the snapshot', () => listOf(viewer)?.get(old!.requestId));
  expect(viewer.events[0]!.event).toBe('snapshot');
  const run = await ask();
  const [request] = await run.open();
  const row = await eventually('the new row', () => listOf(viewer)!.get(request!.requestId));
  const names = { toolName: 'pay', sentence: 'Pay (to, amount)' };
  expect(row).toMatchObject({ workflowId: run.workflowId, ...names, reviewers: [], waitsFor: 'anyone' });
  for (const each of [before, run]) await world.client.closeRun(each.workflowId);
  await eventually('both are gone', () => listOf(viewer)!.size === 0);
  const gone = viewer.events.filter(({ event }) => event === 'gone').map(({ data }) => data);
  expect(gone).toContainEqual({ requestId: request!.requestId, workflowId: run.workflowId });
  // After trouble with a slow server comes another.
  const times = (name: string): number => viewer.events.filter(({ event }) => event === name).length;
  expect(times('snapshot')).toBe(1 + times('trouble'));
  // A stream that is opened again begins with what is there now.
  const again = await watch();
  await eventually('the snapshot', () => listOf(again));
  expect(again.events).toEqual([{ event: 'snapshot', data: { approvals: [], more: 0, unread: [] } }]);
  await Promise.all([viewer.close(), again.close()]);
});

test('each viewer sees for whom a request waits: by name, by group, and after a delegation', async () => {
  const viewers = { ann: await watch('ann'), bob: await watch('bob') };
  const runs = {
    named: await ask({ reviewers: ['bob'] }),
    group: await ask({ reviewers: ['group:finance', 'bob'] }),
    other: await ask({ reviewers: ['group:legal'] }),
  };
  const waits = (person: 'ann' | 'bob', requestId: string) => listOf(viewers[person])?.get(requestId)?.waitsFor;
  const idOf = async (name: keyof typeof runs): Promise<string> => (await runs[name].open())[0]!.requestId;
  const ids = { named: await idOf('named'), group: await idOf('group'), other: await idOf('other') };
  const expected = { named: ['others', 'you'], group: ['you', 'you'], other: ['others', 'others'] } as const;
  for (const name of ['named', 'group', 'other'] as const) {
    for (const [index, person] of (['ann', 'bob'] as const).entries()) {
      await eventually(`${name} waits for ${person}`, () => waits(person, ids[name]) === expected[name][index]);
    }
  }
  const message = { requestId: ids.named, to: 'ann', by: 'bob' };
  await world.client.delegate(message, { workflowId: runs.named.workflowId });
  await eventually('the seat is ann’s', () => waits('ann', ids.named) === 'you');
  expect(waits('bob', ids.named)).toBe('others');
  for (const run of Object.values(runs)) await world.client.closeRun(run.workflowId);
  await Promise.all(Object.values(viewers).map((viewer) => viewer.close()));
});

test('fifty viewers, one poller; nobody looks, no poller', async () => {
  const { workflowService } = world.client.session.connection;
  const list = workflowService.listWorkflowExecutions.bind(workflowService);
  let [calls, open, most] = [0, 0, 0];
  workflowService.listWorkflowExecutions = ((request: object) => {
    calls += 1;
    most = Math.max(most, (open += 1));
    return list(request).finally(() => (open -= 1));
  }) as never;
  try {
    const looks = (): Promise<boolean> => {
      const from = calls;
      return eventually('some looks', () => calls >= from + 6);
    };
    const first = await watch();
    await looks();
    const others = await Promise.all(Array.from({ length: 49 }, () => watch()));
    await eventually('all have the snapshot', () => others.every((each) => listOf(each) !== undefined));
    await looks();
    // A look lists requests, and those that no channel could deliver. Of a poller for each, many would look at the same time.
    expect(most).toBeLessThanOrEqual(2);
    await Promise.all([first, ...others].map((each) => each.close()));
    await eventually('no more looks', async () => {
      const before = calls;
      // Longer than a pause between two looks.
      await sleep(3_000);
      return calls === before;
    });
  } finally {
    workflowService.listWorkflowExecutions = list;
  }
});

test('a server that is away is trouble; the stream goes on when it is back', async () => {
  const link = await openLink(sharedAddress());
  const client = await createClient({ address: link.address, namespace });
  const gateway = await startGateway({ client, port: 0, log: () => undefined, authenticator });
  try {
    const viewer = await watch('ann', gateway);
    await eventually('the snapshot', () => listOf(viewer));
    link.cut();
    await eventually('trouble', () => viewer.events.some(({ event }) => event === 'trouble'));
    expect(viewer.events.at(-1)).toMatchObject({ event: 'trouble', data: { code: 'server_unreachable' } });
    const run = await ask();
    const [request] = await run.open();
    link.mend();
    await eventually('the row', () => listOf(viewer)!.has(request!.requestId));
    await world.client.closeRun(run.workflowId);
    await viewer.close();
  } finally {
    await gateway.stop();
    await client.close();
    await link.close();
  }
});

test('without a worker a row says as much', async () => {
  const run = await ask({ reviewers: ['bob'] });
  const [request] = await run.open();
  await world.stopWorker();
  const viewers = { ann: await watch('ann'), bob: await watch('bob') };
  for (const [person, waitsFor] of [
    ['ann', 'others'],
    ['bob', 'you'],
  ] as const) {
    await eventually('the row', () => listOf(viewers[person])?.has(request!.requestId));
    expect(listOf(viewers[person])!.get(request!.requestId)).toMatchObject({ toolName: 'pay', waitsFor });
  }
  await world.startWorker();
  await world.client.closeRun(run.workflowId);
  await Promise.all(Object.values(viewers).map((viewer) => viewer.close()));
});

test('a stranger’s row neither hides nor changes another run’s request', async () => {
  const run = await ask();
  const [request] = await run.open();
  const { requestId } = request!;
  const viewer = await watch();
  await eventually('the row', () => listOf(viewer)?.has(requestId));
  const { approvals } = await world.client.approvals.list({ workflowId: run.workflowId });
  const copied = await startStranger((workflowId) => ({
    ...approvals[0]!,
    workflowId,
    toolName: 'harmless',
    sentence: 'x'.repeat(1_001),
    approvers: { ann: true } as never,
    reviewers: undefined,
  }));
  const rowsOf = (event: string) =>
    viewer.events.filter((each) => each.event === event).map(({ data }) => data as InboxEvents['gone']);
  const isStrangers = (row: InboxEvents['gone']): boolean => row.workflowId === copied.workflowId;
  await eventually('the row of the stranger', () => rowsOf('changed').some(isStrangers));
  const shown = { toolName: 'harmless', sentence: 'Harmless (to, amount)', waitsFor: 'unknown' };
  expect(rowsOf('changed').find(isStrangers)).toMatchObject({ requestId, ...shown });
  await copied.terminate();
  await eventually('it is gone', () => rowsOf('gone').some(isStrangers));
  expect(rowsOf('gone').every(isStrangers)).toBe(true);
  // A row that no run of ours would write is counted, and not kept.
  const huge = await startStranger((workflowId) => ({ ...approvals[0]!, workflowId, reason: 'x'.repeat(100_000) }));
  const isCounted = ({ event, data }: SseClient['events'][number]): boolean =>
    event === 'snapshot' && (data as InboxPage).more === 1;
  await eventually('it is counted', () => viewer.events.some(isCounted));
  expect(JSON.stringify(viewer.events)).not.toContain('x'.repeat(1_000));
  await huge.terminate();
  await world.client.closeRun(run.workflowId);
  await viewer.close();
});

/** A run of a workflow that nobody serves; its starter wrote the row of its memo. */
function startStranger(rowOf: (workflowId: string) => ApprovalSummary) {
  const workflowId = `stranger-${randomUUID()}`;
  const row = rowOf(workflowId);
  const ids = defineSearchAttributeKey('ApprovalIds', 'KEYWORD_LIST');
  return world.client.session.client.workflow.start('stranger', {
    workflowId,
    taskQueue: 'nobody-polls',
    memo: { approvals: { open: [row], journal: [] } },
    typedSearchAttributes: new TypedSearchAttributes([{ key: ids, value: [row.requestId] }]),
  });
}
