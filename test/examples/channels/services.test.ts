/** The examples that reach a service: each on a real server, with a real run and a service on this machine. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import nights, { nightShift, scheduleNights } from '../../../examples/channels/night-shift.ts';
import house from '../../../examples/channels/in-house.ts';
import chat from '../../../examples/channels/slack.ts';
import { readChannels } from '../../../src/adapters/read-channels.ts';
import { verifyWebhook } from '../../../src/channels.ts';
import { channelRequest, notifyContext } from '../../channels/channel-request.ts';
import { makeCertificate } from '../../support/certificates.ts';
import { SlackServer } from '../../adapters/slack/slack-server.ts';
import { openReceiver } from '../../adapters/webhook/webhook-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { openShop, runShop, type ShopExample } from './shop-world.ts';
import { listen } from '../../support/listen.ts';

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
  const { url, close } = await listen(server);
  closing.push(close);
  return url;
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

const whsec = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
/** The channel file of an example, with other texts in places that lead off this machine. */
function textOf(path: string, places: Readonly<Record<string, string>>): string {
  const written = readFileSync(path, 'utf8');
  return Object.entries(places).reduce((all, [from, to]) => {
    expect(all).toContain(from);
    return all.replace(from, to);
  }, written);
}

test('night shift: its file is valid, and sends what is not small to the people on duty', async () => {
  process.env.WEBHOOK_SECRET = whsec;
  const receiver = await openReceiver(({ method }) => (method === 'POST' ? undefined : { status: 200, body: false }));
  closing.push(() => receiver.close());
  // The receiver of the test is on this machine, which a webhook may reach by name only.
  const url = `${receiver.url}, allow_addresses: [127.0.0.1]`;
  const file = textOf(nights.channels, { 'https://ops.example.com/approvals': url });
  const { channels, routes } = await readChannels(file);
  expect(routes).toEqual({ default: ['small'], reviewers: { 'group:support-leads': ['duty'] } });
  const small = channels.small!;
  expect([small.isAutomatic!(channelRequest({ severity: 'low' })), small.isAutomatic!(channelRequest())]).toEqual([
    true,
    false,
  ]);
  await small.notify!(channelRequest(), notifyContext([channelRequest()]));
  const [post] = receiver.got('POST');
  const { request } = verifyWebhook({ secret: whsec, headers: post!.headers, body: Buffer.from(post!.body) });
  expect(request.toolName).toBe('refund');
});

test('night shift: without its secret, the worker says what is missing', async () => {
  delete process.env.WEBHOOK_SECRET;
  await expect(readChannels(nights.channels)).rejects.toThrow(/WEBHOOK_SECRET is missing or empty/);
});

test('Slack: its file is valid, and a request is posted in the channel', async () => {
  const slack = await SlackServer.start();
  closing.push(() => slack.close());
  Object.assign(process.env, { SLACK_BOT_TOKEN: slack.token, SLACK_SIGNING_SECRET: slack.signingSecret });
  const file = textOf(chat.channels, {
    'kind: slack': `kind: slack\n    api_url: ${slack.apiUrl}`,
    C0123456789: slack.channel,
  });
  const { channels } = await readChannels(file);
  const request = channelRequest();
  await channels.team!.notify!(request, notifyContext([request]));
  expect(JSON.stringify(slack.posts[0]!.blocks)).toContain('"approve"');
});

test('in house: over the proxy, with both certificates, and with the signature that the receiver checks already', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-house-'));
  closing.push(async () => rmSync(folder, { recursive: true }));
  makeCertificate(folder, 'house-ca');
  for (const name of ['server', 'client']) makeCertificate(folder, name, 'house-ca');
  const [cert, key, ca] = ['server.pem', 'server.key', 'house-ca.pem'].map((each) => readFileSync(join(folder, each)));
  const tls = { cert, key, ca, requestCert: true, rejectUnauthorized: true };
  const receiver = await openReceiver(() => undefined, { tls });
  closing.push(() => receiver.close());
  const proxied: string[] = [];
  const tunnel = createServer().on('connect', (incoming, near: Duplex) => {
    proxied.push(incoming.url!);
    const far = connect(receiver.port, '127.0.0.1', () => near.write('HTTP/1.1 200 OK\r\n\r\n'));
    near.on('error', () => far.destroy()).pipe(far);
    far.on('error', () => near.destroy()).pipe(near);
  });
  const proxy = await listen(tunnel);
  closing.push(proxy.close);
  Object.assign(process.env, { WEBHOOK_SECRET: whsec, LEGACY_SECRET: 'your-hmac-secret' });
  const file = textOf(house.channels, {
    'https://approvals.corp.example/requests': `https://127.0.0.1:${receiver.port}/requests`,
    'request_timeout: 60s': 'request_timeout: 60s\n    allow_addresses: [127.0.0.1]',
    'http://proxy.corp.example:8080': proxy.url,
    '/etc/countersign/house-ca.pem': join(folder, 'house-ca.pem'),
    '/etc/countersign/client.pem': join(folder, 'client.pem'),
    '/etc/countersign/client.key': join(folder, 'client.key'),
  });
  const { channels } = await readChannels(file);
  const request = channelRequest();
  await channels.house!.notify!(request, notifyContext([request]));
  expect(proxied).toEqual([`127.0.0.1:${receiver.port}`]);
  const [post] = receiver.got('POST');
  // As a receiver in Python checks it.
  const verify = [
    'import hashlib, hmac, json, sys',
    'request_id, tool_name, received, secret = sys.argv[1:]',
    'payload = json.dumps({"request_id": request_id, "tool_name": tool_name}, sort_keys=True)',
    'expected = hmac.new(secret.encode(), payload.encode(), hashlib.sha256).hexdigest()',
    'print(hmac.compare_digest(expected, received))',
  ].join('\n');
  const received = String(post!.headers['x-promptise-signature']);
  const given = [request.requestId, request.toolName, received, 'your-hmac-secret'];
  expect(execFileSync('python3', ['-c', verify, ...given], { encoding: 'utf8' })).toBe('True\n');
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
