/** The examples that reach a service: each on a real server, with a real run and a service on this machine. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import nights, { nightShift, scheduleNights } from '../../../examples/channels/night-shift.ts';
import { channelRequest, firstAttempt } from '../../support/channel-request.ts';
import { z } from 'zod';
import { readChannels } from '../../../src/adapters/read-channels.ts';
import { secretShape } from '../../../src/channels/secret.ts';
import { simpleKinds } from '../../../src/channels/simple-kinds.ts';
import { eventually } from '../../support/eventually.ts';
import { openShop, runShop, type ShopExample } from '../../support/shop-world.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

type Answer = { status?: number; body?: unknown };

/** A service on a free port; returns its address. */
async function serve(answer: (request: IncomingMessage, body: unknown) => Answer): Promise<string> {
  const server = createServer((request, response) => {
    void text(request).then((written) => {
      const { status = 200, body = {} } = answer(request, written === '' ? undefined : JSON.parse(written));
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The example, read anew with these variables. */
async function load(name: string, env: Record<string, string>): Promise<ShopExample> {
  Object.assign(process.env, env);
  const module = (await import(`../../../examples/channels/${name}.ts?${Math.random()}`)) as { default: ShopExample };
  return module.default;
}

test('external service: its verdict is the answer, and one that is down approves nothing', async () => {
  const asked: unknown[] = [];
  const url = await serve((_request, body) => {
    asked.push(body);
    const { tool } = body as { tool: string };
    return tool === 'replace_item' ? { body: { verdict: 'yes', by: 'desk' } } : { status: 503 };
  });
  const shop = await runShop(await load('external-service', { VERDICT_URL: `${url}/verdicts` }));
  closing.push(() => shop.close());
  expect(await shop.outcomes()).toEqual(['replace_item: approved', 'delete_account: denied']);
  expect(asked).toContainEqual({
    id: expect.stringMatching(/^[0-9a-f]{32}$/),
    tool: 'replace_item',
    arguments: { orderId: 'o-17', item: 'lamp' },
    severity: 'medium',
  });
});

/** A tracker with one ticket for each key. */
async function openTracker() {
  interface Kept {
    id: string;
    key: string;
    title: string;
    state: string;
    assignee?: string;
    comment?: string;
  }
  const tickets: Kept[] = [];
  const url = await serve(({ method, url = '' }, body) => {
    if (method === 'POST') {
      const { key, title } = body as Kept;
      const known = tickets.find((each) => each.key === key);
      const ticket = known ?? { id: `T-${tickets.length + 1}`, key, title, state: 'open' };
      if (known === undefined) tickets.push(ticket);
      return { body: ticket };
    }
    const ticket = tickets.find(({ id }) => url === `/tickets/${id}`);
    if (ticket === undefined) return { status: 404 };
    if (method === 'PUT') Object.assign(ticket, body);
    return { body: ticket };
  });
  return { url, tickets, about: (tool: string) => tickets.find(({ title }) => title.includes(tool)) };
}

test('ticket: each request is a ticket, and what becomes of the ticket is the answer', async () => {
  const { url, tickets, about } = await openTracker();
  const shop = await runShop(await load('ticket', { TRACKER_URL: url, TRACKER_POLL_MS: '20' }));
  closing.push(() => shop.close());
  await eventually('two tickets', () => tickets.length === 2);
  Object.assign(about('replace_item')!, { state: 'approved', assignee: 'rita' });
  Object.assign(about('delete_account')!, { state: 'rejected', comment: 'Ask her first' });
  expect(await shop.outcomes()).toEqual(['replace_item: approved', 'delete_account: denied']);
  const { outcomes } = await shop.result();
  expect(outcomes).toHaveLength(3);
});

test('ticket: one that is settled elsewhere is closed', async () => {
  const { url, tickets, about } = await openTracker();
  const shop = await runShop(await load('ticket', { TRACKER_URL: url, TRACKER_POLL_MS: '20' }));
  closing.push(() => shop.close());
  await eventually('two tickets', () => tickets.length === 2);
  for (const { requestId } of await shop.run.open(2)) {
    await shop.run.handle.signal('decide', { requestId, approved: true, reviewerId: 'ann' });
  }
  expect(await shop.outcomes()).toEqual(['replace_item: approved', 'delete_account: approved']);
  await eventually('closed tickets', () => tickets.every(({ state }) => state === 'closed'));
  expect(about('replace_item')).toMatchObject({ comment: 'approved by ann' });
});

test('night shift: its file sends what is not small to the people on duty', async () => {
  process.env.WEBHOOK_SECRET = 'whsec_a-secret-of-the-test';
  const shape = z.strictObject({ url: z.url(), secret: secretShape });
  const webhook = { shape, make: () => ({ resolve: () => false }) };
  const { channels, routes } = await readChannels(nights.channels, { kinds: { ...simpleKinds, webhook } });
  expect(routes).toEqual({ default: ['small'], reviewers: { 'group:support-leads': ['duty'] } });
  const answers = async (severity: 'low' | 'high') =>
    channels.small!.resolve!(channelRequest({ severity }), new AbortController().signal, firstAttempt);
  expect(await answers('low')).toMatchObject({ approved: true });
  expect(await answers('high')).toBe(false);
});

test('night shift: the schedule starts a run, which waits ten minutes for people', async () => {
  const world = await openShop({ agents: nights.agents, policy: nights.policy });
  closing.push(() => world.close());
  const schedule = await scheduleNights(world.client, world.taskQueue);
  closing.push(() => schedule.delete());
  const { spec } = await schedule.describe();
  expect(spec.calendars).toMatchObject([{ hour: [{ start: 3 }], minute: [{ start: 0 }] }]);
  await schedule.trigger();
  const workflowId = await eventually('a run of the schedule', async () => {
    const { info } = await schedule.describe();
    return info.recentActions.at(-1)?.action.workflow.workflowId;
  });
  expect(workflowId).toMatch(new RegExp(`^${nightShift}-`));
  const [request] = await world.run(workflowId).open(2);
  const waitsMs = Date.parse(request!.deadline!) - Date.parse(request!.requestedAt);
  expect(waitsMs).toBe(600_000);
  await world.client.closeRun(workflowId);
});
