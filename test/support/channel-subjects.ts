import type { Channel, ChannelAnswer } from '../../src/channels/channel.ts';
import { approvalQueue } from '../../src/channels/approval-queue.ts';
import { emailChannel } from '../../src/adapters/email/email-channel.ts';
import { webhookChannel } from '../../src/adapters/webhook/webhook-channel.ts';
import type { ApprovalDetails, Settlement } from '../../src/contract.ts';
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

async function restarted(world: World, channels: Record<string, Channel>): Promise<void> {
  await world.stopWorker();
  const before = { ...world };
  // A worker that a test starts later has the channel, too.
  world.startWorker = (more) => before.startWorker({ channels, ...more });
  await world.startWorker();
}

async function openFunction(options: WorldOptions): Promise<ChannelSubject> {
  const notified: string[] = [];
  const settlements: [string, Settlement][] = [];
  /** Beside the worker, so that the next one finds them, too. */
  const answers = new Map<string, PromiseWithResolvers<ChannelAnswer>>();
  const answerTo = (requestId: string): PromiseWithResolvers<ChannelAnswer> => {
    const found = answers.get(requestId) ?? Promise.withResolvers<ChannelAnswer>();
    answers.set(requestId, found);
    return found;
  };
  let isFailing = false;
  const desk: Channel = {
    notify: ({ requestId }) => void notified.push(requestId),
    settled: ({ requestId }, settlement) => void settlements.push([requestId, settlement]),
    resolve: ({ requestId }) => {
      if (isFailing) throw new TypeError('the desk is closed');
      return answerTo(requestId).promise;
    },
  };
  const world = await openWorld({ ...options, channels: { desk } });
  return {
    world,
    reached: ({ requestId }) => eventually('the function is called', () => notified.includes(requestId)),
    answer: async ({ requestId }, answer) => answerTo(requestId).resolve(answer),
    misanswer: async ({ requestId }) => answerTo(requestId).resolve({ approved: 'yes' } as never),
    fail: () => void (isFailing = true),
    counts: ({ requestId }) => ({
      asked: notified.filter((each) => each === requestId).length,
      settled: settlements.filter(([each]) => each === requestId).length,
    }),
    close: () => world.close(),
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
  const channel = await webhookChannel({
    url: receiver.url,
    secret: 'a secret of this test, long enough',
    allowAddresses: ['127.0.0.1'],
    pollIntervalMs: 500,
  });
  const world = await openWorld({ ...options, channels: { hook: channel } });
  const posts = ({ requestId }: ApprovalDetails): { event: string }[] =>
    receiver
      .got('POST')
      .map(({ body }) => JSON.parse(body) as { requestId: string; delivery: { event: string } })
      .flatMap((each) => (each.requestId === requestId ? [each.delivery] : []));
  return {
    world,
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
  await restarted(world, { team: world.channel });
  const ann = await world.linked('ann');
  const post = () => world.slack.posts.at(-1)!;
  const isOpen = (): boolean => JSON.stringify(post().blocks).includes('"approve"');
  let settled = 0;
  return {
    world,
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
  const channel = emailChannel({
    transport: { host: '127.0.0.1', port: server.port, tls: 'none' },
    from: 'approvals@example.com',
    gatewayUrl: publicUrl,
    namespace: 'default',
    linkKey: keys.LINK_KEY,
    people: { ann: 'ann@example.com' },
  });
  await restarted(world, { mail: channel });
  const texts = (): string[] => server.mails.map(({ parts }) => parts.get('text/plain') ?? '');
  const post = (fields: Record<string, string>): Promise<Response> => {
    const [url = ''] = /https:\S+\/links\/\S+/.exec(asking()[0]!) ?? [];
    const body = new URLSearchParams(fields);
    return fetch(new URL(new URL(url).pathname, world.gateway.url), { method: 'POST', body });
  };
  const asking = (): string[] => texts().filter((text) => text.includes('/links/'));
  return {
    world,
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
