import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { RunEvents } from '../../../packages/gateway/src/index.ts';
import { startGateway } from '../../../packages/gateway/src/index.ts';
import { countPolls } from './count-polls.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';
import { openSse, runEventsOf, type SseClient } from './sse-client.ts';
import { callOf, once, pay, rule, team } from '../../support/team.ts';
import type { RunInTest } from '../../support/world.ts';

/** `GET /runs/{id}/events`: a run's events over HTTP, live and afterwards. */

const world = forAllTests(() =>
  openGatewayWorld({
    agentsIn: (folder) => team(folder, { tester: rule('pay', 'ask') }),
    continueAsNewAfter: { historyEvents: 30 },
  }),
);

const pathOf = ({ workflowId }: Pick<RunInTest, 'workflowId'>, query = ''): string =>
  `/runs/${encodeURIComponent(workflowId)}/events${query}`;
const watch = (run: Pick<RunInTest, 'workflowId'>, query = '', headers = {}, gateway = world.gateway) =>
  openSse(new URL(pathOf(run, query), gateway.url), headers);
const threeTurns = [
  { calls: [pay('bob', 1)] },
  { calls: [pay('bob', 2)] },
  { calls: [pay('bob', 3)] },
  { text: 'done' },
];

/** Approves each request that a viewer sees, until the run ends. */
async function approveAll(viewer: SseClient): Promise<void> {
  const approved = new Set<string>();
  await eventually('the run ends', async () => {
    for (const event of runEventsOf(viewer)) {
      if (event.type !== 'ApprovalRequestEvent' || approved.has(event.requestId)) continue;
      approved.add(event.requestId);
      await world.client.decide({ requestId: event.requestId, approved: true }, { workflowId: event.workflowId });
    }
    return viewer.events.at(-1)?.event === 'end';
  });
}

const idsOf = (viewer: SseClient): (string | undefined)[] =>
  viewer.events.flatMap(({ id }) => (id === undefined ? [] : [id]));

test('a viewer gets each event under its name and id, then `end`, and the stream closes', async () => {
  const run = await world.start(threeTurns);
  const viewer = await watch(run);
  expect(viewer).toMatchObject({ status: 200, contentType: 'text/event-stream' });
  await approveAll(viewer);
  await viewer.ended;
  const names = viewer.events.filter(({ event }) => event !== 'heartbeat').map(({ event }) => event);
  expect(names.slice(0, 3)).toEqual(['RunItemEvent', 'RunItemEvent', 'ApprovalRequestEvent']);
  expect(names.slice(-2)).toEqual(['RunCompleteEvent', 'end']);
  for (const { event, id, data } of viewer.events) {
    const isRecorded = !['heartbeat', 'end', 'RawResponseEvent'].includes(event);
    expect(id).toBe(isRecorded ? (data as { id: string }).id : undefined);
    if (isRecorded) expect(data).toMatchObject({ type: event, workflowId: run.workflowId });
  }
  // Over several executions, all of it, each once.
  const expected: string[] = [];
  for await (const event of world.client.events(run.workflowId, { follow: false })) {
    if (event.type !== 'RawResponseEvent') expected.push(event.id);
  }
  expect(idsOf(viewer)).toEqual(expected);
  expect(new Set(expected.map((id) => id.split('.')[0])).size).toBeGreaterThan(1);
});

test('a viewer goes on after the last id it has seen, by header before query, also when the run is over', async () => {
  const run = await world.start(threeTurns);
  const first = await watch(run);
  await approveAll(first);
  const ids = idsOf(first);
  for (const at of [0, 4, ids.length - 2, ids.length - 1]) {
    const byQuery = await watch(run, `?after=${ids[at]}`);
    await byQuery.ended;
    expect(idsOf(byQuery)).toEqual(ids.slice(at + 1));
    expect(byQuery.events.at(-1)?.event).toBe('end');
    const byHeader = await watch(run, `?after=${ids[0]}`, { 'last-event-id': ids[at]! });
    await byHeader.ended;
    expect(idsOf(byHeader)).toEqual(ids.slice(at + 1));
  }
});

test('a gateway stops while a run is watched: viewers go on at another one, without loss or repetition', async () => {
  const other = await startGateway({ client: world.client, port: 0, log: () => undefined });
  const run = await world.start(threeTurns);
  const before = await watch(run, '', {}, other);
  const [request] = await run.open();
  await eventually('the request is seen', () => before.events.some(({ event }) => event === 'ApprovalRequestEvent'));
  await other.stop();
  await before.ended;
  expect(before.events.map(({ event }) => event)).not.toContain('end');
  await world.client.decide({ requestId: request!.requestId, approved: true }, { workflowId: run.workflowId });
  const after = await watch(run, '', { 'last-event-id': idsOf(before).at(-1)! });
  await approveAll(after);
  const whole = await watch(run);
  await whole.ended;
  expect([...idsOf(before), ...idsOf(after)]).toEqual(idsOf(whole));
});

test('an id of another run is refused before the stream begins, and so is what is no id', async () => {
  const [one, other] = [await world.start([{ text: 'one' }]), await world.start([{ text: 'other' }])];
  await Promise.all([one.result(), other.result()]);
  const seen = await watch(other);
  await seen.ended;
  for (const id of [idsOf(seen)[0]!, 'nonsense', `${randomUUID()}.1.0`, 'x'.repeat(500)]) {
    const response = await world.call('GET', pathOf(one), undefined, { 'last-event-id': id });
    expect(response.status).toBe(422);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ code: 'invalid_message' });
  }
});

test('an unknown run and a workflow without a gate are problems, not streams', async () => {
  const unknown = await world.call('GET', pathOf({ workflowId: 'nobody' }));
  expect(unknown.status).toBe(404);
  expect(await unknown.json()).toMatchObject({ code: 'run_not_found' });
  const { workflow } = world.client.session.client;
  const workflowId = `foreign-${randomUUID()}`;
  const args = [{ secret: 'theirs' }];
  const handle = await workflow.start('foreignWorkflow', { workflowId, taskQueue: 'nobody-polls', args });
  for (const accept of ['text/event-stream', 'application/json']) {
    const foreign = await world.call('GET', pathOf({ workflowId }), undefined, { accept });
    expect(foreign.status).toBe(404);
    expect(await foreign.text()).not.toContain('theirs');
  }
  await handle.terminate();
});

test('as JSON: what has happened so far, in pages', async () => {
  const run = await world.start(threeTurns);
  const viewer = await watch(run);
  await run.open();
  await eventually('the request is seen', () => viewer.events.some(({ event }) => event === 'ApprovalRequestEvent'));
  const list = async (query: string, headers = {}): Promise<RunEvents> => {
    const response = await world.call('GET', pathOf(run, query), undefined, headers);
    expect(response.headers.get('content-type')).toContain('application/json');
    return (await response.json()) as RunEvents;
  };
  const soFar = await list('?follow=false');
  expect(soFar.events.map(({ type }) => type)).toEqual(['RunItemEvent', 'RunItemEvent', 'ApprovalRequestEvent']);
  expect(soFar.next).toBeUndefined();
  expect(await list('', { accept: 'application/json' })).toEqual(soFar);
  const paged: unknown[] = [];
  for (let next: string | undefined = ''; next !== undefined;) {
    const page: RunEvents = await list(`?follow=false&limit=2${next === '' ? '' : `&after=${next}`}`);
    expect(page.events.length).toBeLessThanOrEqual(2);
    paged.push(...page.events);
    next = page.next;
  }
  expect(paged).toEqual(soFar.events);
  expect((await world.call('GET', pathOf(run, '?limit=0'))).status).toBeGreaterThanOrEqual(400);
  await viewer.close();
  await world.client.closeRun(run.workflowId);
});

test('a nested run, whose id has a slash, is watched as any other', async () => {
  const run = await world.start(once(callOf('researcher', { text: 'found' })));
  await run.result();
  const viewer = await watch({ workflowId: `${run.workflowId}/1.1` });
  await viewer.ended;
  expect(viewer.events.map(({ event }) => event)).toEqual(['RunItemEvent', 'RunItemEvent', 'RunCompleteEvent', 'end']);
});

test('fifty viewers have one poller, and none is left afterwards', async () => {
  const run = await world.start(once(pay('bob')));
  await run.open();
  const polls = countPolls(world.client);
  try {
    const first = await watch(run);
    await eventually('the poller waits', () => polls.open === 1);
    const forOne = polls.calls;
    const others = await Promise.all(Array.from({ length: 49 }, () => watch(run)));
    const seen = (viewer: SseClient): boolean => viewer.events.some(({ event }) => event === 'ApprovalRequestEvent');
    await eventually('all have seen it', () => others.every(seen));
    expect(polls.most).toBe(1);
    // The poller itself may ask again, for an event that comes meanwhile; a poller for each viewer asks 49 times more.
    expect(polls.calls - forOne).toBeLessThan(5);
    await Promise.all([first, ...others].map((viewer) => viewer.close()));
    await eventually('the poller is gone', () => polls.open === 0);
  } finally {
    polls.stop();
  }
  await world.client.closeRun(run.workflowId);
});
