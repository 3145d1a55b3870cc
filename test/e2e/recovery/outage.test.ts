/**
 * Ten minutes without a receiver, on a server that skips time: each message arrives while its request is open, none twice,
 * and none afterwards.
 */
import { createConnection, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ActivityExecuteInput } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { emailChannel } from '../../../src/adapters/email/email-channel.ts';
import { httpTemplateChannel } from '../../../src/adapters/on-call/http-template-channel.ts';
import { slackChannel } from '../../../src/adapters/slack/slack-channel.ts';
import { webhookChannel } from '../../../src/adapters/webhook/webhook-channel.ts';
import type { Channel } from '../../../src/channels/channel.ts';
import { channelsWorkflowId, type Delivered, deliveriesName } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { openMailServer } from '../../adapters/email/mail-server.ts';
import { incidentKeys, pagerDutyTemplate } from '../../adapters/on-call/pager-duty.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { SlackServer } from '../../adapters/slack/slack-server.ts';
import { findTimeSkipping, type TimeSkippingServer } from './time-skipping-server.ts';
import { openWorld, type RunInTest, type World } from '../../support/world.ts';
import { listen } from '../../support/listen.ts';

const found = await findTimeSkipping();
const withoutReceivers = 'missing' in found ? describe.skip : describe;

installQuietRuntime({ errors: false });

const minuteMs = 60_000;
/** Less than a heartbeat may take. */
const stepMs = 10_000;
const gatewayUrl = 'https://approvals.example.com';

/** How a receiver fails. `cut`: it takes the message, and the answer is lost. */
type Way = 'refuses' | '403' | '429' | '503' | 'greylists' | 'hangs' | 'cuts';

/** A receiver that fails in one way, or works. */
interface Receiver {
  channel: Channel;
  /** What tells people, or their service, that two messages are one: for each message about a request that it has taken. */
  marks(requestId: string): unknown[];
  set(state: 'works' | 'fails'): void;
  /** When it was called, in virtual time. */
  calledMs: number[];
  close(): Promise<void>;
}

let server: TimeSkippingServer;
let nowMs = 0;
/** How many calls of channels run. */
let running = 0;

/** A proxy before an HTTP service: it fails in one way, or passes everything on. */
async function failing(
  way: Way,
  target: () => string,
): Promise<{ url: string } & Pick<Receiver, 'calledMs' | 'set' | 'close'>> {
  const calledMs: number[] = [];
  let works = false;
  const proxy = createServer((request, response) => {
    void (async () => {
      calledMs.push(nowMs);
      const body = await text(request);
      const pass = (): Promise<Response> =>
        fetch(new URL(request.url!, target()), {
          method: request.method!,
          headers: Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
            ['host', 'connection', 'content-length', 'transfer-encoding'].includes(name) ? [] : [[name, String(value)]],
          ),
          ...(!['GET', 'HEAD'].includes(request.method!) && { body }),
        });
      if (!works && way !== 'cuts') {
        if (way === 'refuses') return void request.socket.destroy();
        if (way === 'hangs') return;
        const retryAfter = way === '429' ? { 'retry-after': '120' } : {};
        return void response.writeHead(Number(way), retryAfter).end();
      }
      const answer = await pass();
      if (!works) return void request.socket.destroy();
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
      response.end(await answer.text());
    })();
  });
  const { url, close } = await listen(proxy);
  return { url, calledMs, set: (state) => void (works = state === 'works'), close };
}

/** A service that takes everything, and knows what it took. */
async function taking(): Promise<{ url: string; bodies: string[]; ids: unknown[]; close(): Promise<void> }> {
  const [bodies, ids]: [string[], unknown[]] = [[], []];
  const service = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body);
      ids.push(request.headers['webhook-id']);
      response.writeHead(202).end('{}');
    });
  });
  const { url, close } = await listen(service);
  return { url, bodies, ids, close };
}

async function counted(input: ActivityExecuteInput, next: (input: ActivityExecuteInput) => Promise<unknown>) {
  running += 1;
  try {
    return await next(input);
  } finally {
    running -= 1;
  }
}

const http = { allowAddresses: ['127.0.0.1'], requestTimeoutMs: 500 };

const kinds: Record<'webhook' | 'http_template' | 'slack' | 'email', (way: Way) => Promise<Receiver>> = {
  webhook: async (way) => {
    const service = await taking();
    const proxy = await failing(way, () => service.url);
    const options = { url: proxy.url, secret: 'a secret of this test, long enough', poll: false, ...http };
    return {
      ...proxy,
      channel: await webhookChannel(options),
      marks: (requestId) => service.ids.filter((_, index) => isAsking(service.bodies[index]!, requestId)),
      close: async () => void (await Promise.all([proxy.close(), service.close()])),
    };
  },
  http_template: async (way) => {
    const service = await taking();
    const proxy = await failing(way, () => service.url);
    return {
      ...proxy,
      channel: httpTemplateChannel({ ...pagerDutyTemplate(proxy.url), ...http }),
      marks: (requestId) =>
        incidentKeys(
          service.bodies.map((body) => ({ body })),
          'trigger',
          requestId,
        ),
      close: async () => void (await Promise.all([proxy.close(), service.close()])),
    };
  },
  slack: async (way) => {
    const slack = await SlackServer.start();
    const proxy = await failing(way, () => slack.apiUrl);
    const { token, channel, signingSecret } = slack;
    const apiUrl = `${proxy.url}/api/`;
    return {
      ...proxy,
      channel: slackChannel({
        name: 'team',
        token,
        channel,
        gatewayUrl,
        apiUrl,
        signingSecret,
        highestSeverity: 'critical',
      }),
      marks: (requestId) =>
        slack.posts.filter(({ metadata }) => JSON.stringify(metadata).includes(requestId)).map(({ ts }) => ts),
      close: async () => void (await Promise.all([proxy.close(), slack.close()])),
    };
  },
  email: async (way) => {
    const calledMs: number[] = [];
    const connections: Socket[] = [];
    let works = false;
    const mails = await openMailServer();
    const refusals: Partial<Record<Way, string>> = {
      '403': '550 5.7.1 relaying denied',
      greylists: '450 4.2.0 greylisted',
    };
    // Before the server, because it says how a connection fails as a whole.
    const gate = createTcpServer((socket) => {
      calledMs.push(nowMs);
      connections.push(socket);
      socket.on('error', () => undefined);
      if (works) return bridge(socket, mails.port);
      if (way === 'refuses') return void socket.destroy();
      if (way === 'hangs') return;
      if (way === '503' || way === '429') return void socket.end('421 4.3.2 not now\r\n');
      if (way === 'cuts') return bridge(socket, mails.port, true);
      mails.refusals.set('ann@example.com', refusals[way]!);
      bridge(socket, mails.port);
    });
    const { port, close } = await listen(gate);
    return {
      calledMs,
      channel: emailChannel({
        transport: { host: '127.0.0.1', port, tls: 'none', timeoutMs: 500 },
        from: 'approvals@example.com',
        gatewayUrl,
        to: ['ann@example.com'],
      }),
      marks: (requestId) =>
        mails.mails
          .filter(({ parts, headers }) => parts.get('text/plain')!.includes(requestId) && !headers.has('in-reply-to'))
          .map(({ headers }) => headers.get('message-id')),
      set: (state) => {
        works = state === 'works';
        mails.refusals.clear();
      },
      close: async () => {
        await close();
        await mails.stop();
      },
    };
  },
};

/** Passes a connection on. `cuts`: once the server has taken a mail, its answer is lost. */
function bridge(socket: Socket, port: number, cuts = false): void {
  const other = createConnection(port, '127.0.0.1');
  other.on('error', () => socket.destroy());
  other.on('close', () => socket.destroy());
  socket.on('close', () => other.destroy());
  socket.pipe(other);
  let isData = false;
  other.on('data', (chunk: Buffer) => {
    if (cuts && isData) return void socket.destroy();
    if (/^354/m.test(chunk.toString())) isData = true;
    socket.write(chunk);
  });
}

function isAsking(body: string, requestId: string): boolean {
  // A worker looks at its start whether the receiver is there.
  if (body === '') return false;
  const { delivery, ...request } = JSON.parse(body) as { requestId: string; delivery: { event: string } };
  return request.requestId === requestId && delivery.event === 'asked';
}

const rows = (['webhook', 'http_template', 'slack', 'email'] as const).flatMap((kind) =>
  (['refuses', '403', '429', '503', 'greylists', 'hangs', 'cuts'] as const)
    .filter((way) => way !== 'greylists' || kind === 'email')
    .map((way) => [kind, way] as const),
);

withoutReceivers(`ten minutes without receivers (${'missing' in found ? found.missing : 'skips time'})`, () => {
  let world: World;
  const receivers = new Map<string, Receiver>();
  beforeAll(async () => {
    server = await (found as Extract<typeof found, { start: unknown }>).start();
    for (const [kind, way] of rows) receivers.set(`${kind}_${way}`, await kinds[kind](way));
    world = await openWorld({
      address: server.address,
      channels: Object.fromEntries([...receivers].map(([name, { channel }]) => [name, channel])),
      // Each reads the request from its run first.
      maxConcurrentActivityTaskExecutions: 4,
      interceptors: { activity: [() => ({ inbound: { execute: counted } })] },
    });
  });
  afterAll(async () => {
    await world?.close();
    await Promise.all([...receivers.values()].map((each) => each.close()));
    await server?.close();
  });

  const channelsOf = (run: RunInTest) =>
    world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));

  /** Waits until each call of a channel has ended. */
  async function settledDown(): Promise<void> {
    await eventually('no call runs', () => running === 0);
    nowMs = await server.nowMs();
  }

  async function pass(durationMs: number): Promise<void> {
    for (let passedMs = 0; passedMs < durationMs; passedMs += stepMs) {
      await server.skip(stepMs);
      await settledDown();
    }
  }

  /** A request that all channels carry, with these receivers as they are. */
  async function ask(timeout: string): Promise<{ run: RunInTest; requestId: string }> {
    const calls = [{ tool: 'pay', args: { to: 'ann', amount: 1 } }];
    const run = await world.start([{ calls }, { text: 'done' }], { policy: { version: 1, approval: { timeout } } });
    const [request] = await run.open();
    await settledDown();
    return { run, requestId: request!.requestId };
  }

  /** For each receiver how many messages about a request it has taken, and how many different ones. */
  const taken = (requestId: string): Record<string, { all: number; different: number }> =>
    Object.fromEntries(
      [...receivers].map(([name, each]) => {
        const marks = each.marks(requestId);
        return [name, { all: marks.length, different: new Set(marks).size }];
      }),
    );

  test('every message arrives once they are back, and none twice', async () => {
    const { run, requestId } = await ask('1h');
    await pass(10 * minuteMs);
    const [delivered] = await channelsOf(run).query<Delivered[]>(deliveriesName);
    expect(delivered).toMatchObject({ undelivered: true });
    for (const each of receivers.values()) each.set('works');
    // The longest pause is two minutes.
    await pass(3 * minuteMs);
    for (const [name, { all, different }] of Object.entries(taken(requestId))) {
      expect([name, different]).toEqual([name, 1]);
      // An answer that was lost is a message that was taken: the repeats say that they are the same one.
      if (!name.endsWith('cuts') || name.startsWith('slack')) expect([name, all]).toEqual([name, 1]);
    }
    for (const [name, { calledMs }] of receivers) {
      if (!name.endsWith('429') || name.startsWith('email')) continue;
      const pauses = calledMs.slice(1).map((atMs, index) => atMs - calledMs[index]!);
      expect(pauses.length).toBeGreaterThan(3);
      // A call has the time of the last step before it.
      for (const pauseMs of pauses.slice(0, 4)) expect(pauseMs).toBeGreaterThanOrEqual(2 * minuteMs - stepMs);
    }
    const after = await channelsOf(run).query<Delivered[]>(deliveriesName);
    expect(after).not.toMatchObject([{ undelivered: true }]);
    await world.client.decide({ requestId, approved: false }, { workflowId: run.workflowId });
    await run.result();
  });

  test('what has expired meanwhile is not sent when they are back', async () => {
    for (const each of receivers.values()) each.set('fails');
    const { run, requestId } = await ask('2m');
    await pass(3 * minuteMs);
    expect(await run.result()).toMatchObject({ outcomes: [{ outcome: 'expired' }] });
    const before = taken(requestId);
    for (const [name, { all }] of Object.entries(before))
      if (!name.endsWith('cuts')) expect([name, all]).toEqual([name, 0]);
    for (const each of receivers.values()) each.set('works');
    await pass(3 * minuteMs);
    expect(taken(requestId)).toEqual(before);
  });
});
