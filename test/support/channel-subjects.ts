import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChannelAnswer } from '../../src/channels/channel.ts';
import { approvalQueue } from '../../src/channels/approval-queue.ts';
import type { ApprovalDetails } from '../../src/contract.ts';
import { type ChannelSpec, makeChannel } from './channel-spec.ts';
import { eventually } from './eventually.ts';
import { openGatewayWorld } from './gateway-world.ts';
import { identityOf, makeToken } from './identity.ts';
import { openMailServer } from './mail-server.ts';
import { openSlackWorld, publicUrl } from './slack-world.ts';
import { openReceiver } from './webhook-receiver.ts';
import { openWorld, type World, type WorldOptions } from './world.ts';

/** A channel with the people behind it, as the conformance suite uses it. */
export interface ChannelSubject {
  world: World;
  /** The channel, for a worker in another process. Absent: it has none. */
  spec?: ChannelSpec;
  /** Resolves once the request has reached its people. */
  reached(request: ApprovalDetails): Promise<unknown>;
  /** Answers as its people do. Rejects, or does nothing, if that is not possible any more. */
  answer(request: ApprovalDetails, answer: ChannelAnswer): Promise<unknown>;
  /** Answers with something that is no answer. */
  misanswer(request: ApprovalDetails): Promise<unknown>;
  /** The next call of what carries the channel fails. */
  fail(): void;
  /** How often the channel has asked about the request, and said how it was settled. */
  counts(request: ApprovalDetails): { asked: number; settled: number };
  close(): Promise<void>;
}

export interface SubjectKind {
  open: (options: WorldOptions) => Promise<ChannelSubject>;
  /** True: its people can also edit a call, and answer "always". */
  edits: boolean;
  /** True: an error, and an answer that is none, deny. False: the request stays open. */
  isFunction?: boolean;
}

/** Starts the worker again, with this channel, as every worker that the test starts later. */
async function withChannel(world: World, spec: ChannelSpec): Promise<void> {
  await world.stopWorker();
  const before = { ...world };
  const channels = { subject: await makeChannel(spec) };
  world.startWorker = (more) => before.startWorker({ channels, ...more });
  await world.startWorker();
}

async function openFunction(options: WorldOptions): Promise<ChannelSubject> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-desk-'));
  const spec: ChannelSpec = { kind: 'function', folder };
  const world = await openWorld({ ...options, channels: { subject: await makeChannel(spec) } });
  const linesOf = (file: string, { requestId }: ApprovalDetails): number => {
    const path = join(folder, file);
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
    return lines.filter((each) => each === requestId).length;
  };
  /** The first answer stays. */
  const write = async ({ requestId }: ApprovalDetails, answer: unknown): Promise<void> =>
    writeFileSync(join(folder, `answer-${requestId}`), JSON.stringify(answer), { flag: 'wx' });
  return {
    world,
    spec,
    reached: (request) => eventually('the function is called', () => linesOf('notified', request) > 0),
    answer: write,
    misanswer: (request) => write(request, { approved: 'yes' }),
    fail: () => writeFileSync(join(folder, 'failing'), ''),
    counts: (request) => ({ asked: linesOf('notified', request), settled: linesOf('settled', request) }),
    close: async () => {
      await world.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function openQueue(options: WorldOptions): Promise<ChannelSubject> {
  const world = await openWorld(options);
  const queue = approvalQueue(world.client);
  return {
    world,
    reached: ({ requestId }) =>
      eventually('the queue has it', async () => (await queue.pending()).some((each) => each.requestId === requestId)),
    answer: ({ requestId }, answer) => queue.respond(requestId, answer),
    misanswer: ({ requestId }) => queue.respond(requestId, { approved: 'yes' } as never),
    // It calls nothing but the server.
    fail: () => undefined,
    // Nothing is sent: the queue is the list of open requests.
    counts: () => ({ asked: 1, settled: 1 }),
    close: () => world.close(),
  };
}

async function openWebhook(options: WorldOptions): Promise<ChannelSubject> {
  const answers = new Map<string, unknown>();
  let failures = 0;
  const receiver = await openReceiver(({ method, path }) => {
    failures -= 1;
    if (failures >= 0) return { status: 500 };
    if (method === 'POST') return undefined;
    const answer = answers.get(path.split('/').at(-1)!);
    return answer === undefined ? { status: 202 } : { status: 200, body: answer };
  });
  const spec: ChannelSpec = {
    kind: 'webhook',
    options: {
      url: receiver.url,
      secret: 'a secret of this test, long enough',
      allowAddresses: ['127.0.0.1'],
      pollIntervalMs: 500,
    },
  };
  const world = await openWorld({ ...options, channels: { subject: await makeChannel(spec) } });
  const posts = ({ requestId }: ApprovalDetails): { event: string }[] =>
    receiver
      .got('POST')
      .map(({ body }) => JSON.parse(body) as { requestId: string; delivery: { event: string } })
      .flatMap((each) => (each.requestId === requestId ? [each.delivery] : []));
  return {
    world,
    spec,
    reached: (request) => eventually('it is posted', () => posts(request).length > 0),
    answer: async ({ requestId, digest }, answer) => answers.set(requestId, { digest, ...answer }),
    misanswer: async ({ requestId }) => answers.set(requestId, { approved: 'yes' }),
    fail: () => void (failures = 1),
    counts: (request) => ({
      asked: posts(request).filter(({ event }) => event === 'asked').length,
      settled: posts(request).filter(({ event }) => event === 'settled').length,
    }),
    close: async () => {
      await world.close();
      await receiver.close();
    },
  };
}

async function openSlack(options: WorldOptions): Promise<ChannelSubject> {
  const world = await openSlackWorld({ ann: ['reviewer'] }, options);
  const spec: ChannelSpec = { kind: 'slack', settings: world.settings };
  await withChannel(world, spec);
  const ann = await world.linked('ann');
  const post = () => world.slack.posts.at(-1)!;
  const isOpen = (): boolean => JSON.stringify(post().blocks).includes('"approve"');
  let settled = 0;
  return {
    world,
    spec,
    reached: () => eventually('it is posted', () => world.slack.posts.length > 0),
    answer: async (_request, { approved, always, reason = null, modifiedArguments }) => {
      const shown = structuredClone(post());
      const click = (action: string) => world.deliver(world.slack.click(ann, shown, action));
      if (approved && modifiedArguments === undefined) {
        await click(always === undefined ? 'approve' : 'always');
        return world.toldTo(ann);
      }
      await click(approved ? 'edit' : 'deny');
      const view = await eventually('the modal', () => world.slack.views.at(-1));
      return world.deliver(world.slack.submit(ann, view, approved ? JSON.stringify(modifiedArguments) : reason));
    },
    misanswer: () => world.deliver(world.slack.sign({ type: 'block_actions', actions: [{ action_id: 'approve' }] })),
    fail: () => world.slack.fail('chat.postMessage', 'down'),
    counts: () => {
      if (settled === 0 && !isOpen()) settled = 1;
      return { asked: world.slack.posts.length, settled };
    },
    close: () => world.close(),
  };
}

async function openEmail(options: WorldOptions): Promise<ChannelSubject> {
  const keys = {
    SESSION_KEY: 'a session key of this test, long enough',
    LINK_KEY: 'a link key of this test, long enough',
  };
  const identity = identityOf(
    {
      public_url: publicUrl,
      tokens: [makeToken('ann', ['reviewer']).entry],
      sessions: { key_env: 'SESSION_KEY' },
      links: { key_env: 'LINK_KEY' },
    },
    keys,
  );
  const server = await openMailServer();
  const world = await openGatewayWorld(
    {
      ...options,
      policy: {
        ...(options.policy as object),
        rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'] } }],
      },
    },
    { identity },
  );
  const spec: ChannelSpec = {
    kind: 'email',
    options: {
      transport: { host: '127.0.0.1', port: server.port, tls: 'none' },
      from: 'approvals@example.com',
      gatewayUrl: publicUrl,
      namespace: 'default',
      linkKey: keys.LINK_KEY,
      people: { ann: 'ann@example.com' },
    },
  };
  await withChannel(world, spec);
  const texts = (): string[] => server.mails.map(({ parts }) => parts.get('text/plain') ?? '');
  const post = (fields: Record<string, string>): Promise<Response> => {
    const [url = ''] = /https:\S+\/links\/\S+/.exec(asking()[0]!) ?? [];
    const body = new URLSearchParams(fields);
    return fetch(new URL(new URL(url).pathname, world.gateway.url), { method: 'POST', body });
  };
  const asking = (): string[] => texts().filter((text) => text.includes('/links/'));
  return {
    world,
    spec,
    reached: () => eventually('the mail is there', () => asking().length > 0),
    answer: (_request, { approved, reason }) =>
      post({ answer: approved ? 'approve' : 'deny', ...(reason && { reason }) }),
    misanswer: () => post({ answer: 'perhaps' }),
    fail: () => {
      server.refusals.set('ann@example.com', '451 later');
      setTimeout(() => server.refusals.clear(), 500);
    },
    counts: () => ({ asked: asking().length, settled: server.mails.length - asking().length }),
    close: async () => {
      await world.close();
      await server.stop();
    },
  };
}

/** Every kind of channel by which people answer. */
export const channelSubjects: Readonly<Record<string, SubjectKind>> = {
  'a function': { open: openFunction, edits: true, isFunction: true },
  'the queue': { open: openQueue, edits: true },
  'a webhook': { open: openWebhook, edits: true },
  Slack: { open: openSlack, edits: true },
  mail: { open: openEmail, edits: false },
};
