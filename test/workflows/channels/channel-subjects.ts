import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelAnswer } from '../../../src/channels/channel.ts';
import { approvalQueue } from '../../../src/channels/approval-queue.ts';
import type { ApprovalDetails, Decision } from '../../../src/contract.ts';
import { armingMs } from '../../../src/text/console-line.ts';
import { type ChannelSpec, makeChannel } from './channel-spec.ts';
import { consoleChannel } from '../../../src/channels/console-channel.ts';
import { eventually } from '../../support/eventually.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';
import { identityOf, makeToken } from '../../support/identity.ts';
import { openMailServer, type ReceivedMail } from '../../adapters/email/mail-server.ts';
import { type HttpServiceInTest, openHttpService } from '../../support/http-service.ts';
import { incidentKeys, pagerDutyTemplate } from '../../adapters/on-call/pager-duty.ts';
import { openPushWorld, publicUrl as pushUrl } from '../../adapters/web-push/push-world.ts';
import { TypedTerminal } from '../../channels/typed-terminal.ts';
import type { SlackMessageInTest } from '../../adapters/slack/slack-server.ts';
import { openSlackWorld, publicUrl } from '../../adapters/slack/slack-world.ts';
import { openReceiver } from '../../adapters/webhook/webhook-receiver.ts';
import { openWorld, type World, type WorldOptions } from '../../support/world.ts';

/** A channel with the people behind it, for many runs. */
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
  /** The next call that asks about a request fails. */
  fail(): void;
  /** How often the channel has asked about the request, and said how it was settled. */
  counts(request: ApprovalDetails): { asked: number; settled: number };
  /** For each message about the request, what tells people, or their service, that two of them are one. Absent: nothing is sent. */
  marks?(request: ApprovalDetails): unknown[];
  /** How many messages about the request were sent, if that is more than the marks: answers in a thread. */
  sent?(request: ApprovalDetails): number;
  close(): Promise<void>;
}

export interface SubjectKind {
  open: (options: WorldOptions) => Promise<ChannelSubject>;
  /** True: its people can also edit a call. */
  edits?: boolean;
  /** True: its people can also answer "always". */
  always?: boolean;
  /** False: its people deny without a reason. */
  reasons?: boolean;
  /** True: an error, and an answer that is none, deny. False: the request stays open. */
  isFunction?: boolean;
  /** True: it needs the process of the test. */
  inProcess?: boolean;
  /** An answer that comes too late is refused to whoever gives it. False: it is taken, and changes nothing. */
  refusesLate?: boolean;
  /** An answer that is none is refused to whoever gives it. */
  refusesBad?: boolean;
}

/** Makes a channel that needs the world part of every worker of it, and starts one unless the options say otherwise. */
async function addChannel(world: World, spec: ChannelSpec, { worker = true }: WorldOptions): Promise<void> {
  const before = { ...world };
  const channels = { subject: await makeChannel(spec) };
  world.startWorker = (more) => before.startWorker({ channels, ...more });
  if (worker) await world.startWorker();
}

const openFunction = (options: WorldOptions): Promise<ChannelSubject> =>
  openDesk(options, (folder) => ({ kind: 'function', folder }));
const openConditional = (options: WorldOptions): Promise<ChannelSubject> =>
  openDesk(options, (folder) => ({ kind: 'conditional', below: 'low', folder }));

async function openDesk(options: WorldOptions, specOf: (folder: string) => ChannelSpec): Promise<ChannelSubject> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-desk-'));
  const spec = specOf(folder);
  const world = await openWorld({ ...options, channels: { subject: await makeChannel(spec) } });
  const linesOf = (file: string, { requestId }: ApprovalDetails): number => {
    const path = join(folder, file);
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
    return lines.filter((each) => each === requestId).length;
  };
  const write = async ({ requestId }: ApprovalDetails, answer: unknown): Promise<void> => {
    const file = join(folder, `answer-${requestId}`);
    // At once: whoever waits for the file reads all of it.
    writeFileSync(`${file}.new`, JSON.stringify(answer));
    renameSync(`${file}.new`, file);
  };
  return {
    world,
    spec,
    reached: (request) => eventually('the function is called', () => linesOf('notified', request) > 0),
    answer: write,
    misanswer: (request) => write(request, { approved: 'yes' }),
    fail: () => writeFileSync(join(folder, 'failing'), ''),
    counts: (request) => ({ asked: linesOf('notified', request), settled: linesOf('settled', request) }),
    marks: (request) => Array.from({ length: linesOf('notified', request) }, () => request.requestId),
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
    if (method === 'POST') {
      failures -= 1;
      return failures >= 0 ? { status: 500 } : undefined;
    }
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
  const posts = (about: ApprovalDetails): { id: unknown; event: string }[] =>
    receiver.got('POST').flatMap(({ headers, body }) => {
      const { requestId, delivery } = JSON.parse(body) as { requestId: string; delivery: { event: string } };
      return requestId === about.requestId ? [{ id: headers['webhook-id'], event: delivery.event }] : [];
    });
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
    marks: (request) => posts(request).map(({ id }) => id),
    close: async () => {
      await world.close();
      await receiver.close();
    },
  };
}

async function openSlack(options: WorldOptions): Promise<ChannelSubject> {
  const world = await openSlackWorld({ ann: ['reviewer'] }, { ...options, worker: false });
  const spec: ChannelSpec = { kind: 'slack', settings: world.settings };
  await addChannel(world, spec, options);
  const ann = await world.linked('ann');
  const messages = ({ requestId }: ApprovalDetails) =>
    world.slack.messages.filter(({ metadata }) => JSON.stringify(metadata ?? null).includes(requestId));
  const posts = (request: ApprovalDetails) => messages(request).filter(({ thread_ts: thread }) => thread === undefined);
  const isOpen = ({ blocks }: SlackMessageInTest): boolean => JSON.stringify(blocks).includes('"approve"');
  // The posts as they asked, for clicks that come late.
  const asking = new Map<string, SlackMessageInTest>();
  return {
    world,
    spec,
    reached: async (request) => {
      const post = await eventually('it is posted', () => posts(request).find(isOpen));
      asking.set(request.requestId, structuredClone(post));
    },
    answer: async ({ requestId }, { approved, always, reason = null, modifiedArguments }) => {
      const click = (action: string) => world.deliver(world.slack.click(ann, asking.get(requestId)!, action));
      const told = world.slack.ephemerals.length;
      if (approved && modifiedArguments === undefined) {
        await click(always === undefined ? 'approve' : 'always');
        return eventually('Slack answers the click', () => world.slack.ephemerals.length > told);
      }
      const views = world.slack.views.length;
      await click(approved ? 'edit' : 'deny');
      const view = await eventually('the modal', () => world.slack.views[views]);
      return world.deliver(world.slack.submit(ann, view, approved ? JSON.stringify(modifiedArguments) : reason));
    },
    misanswer: () => world.deliver(world.slack.sign({ type: 'block_actions', actions: [{ action_id: 'approve' }] })),
    fail: () => world.slack.fail('chat.postMessage', 'down'),
    counts: (request) => {
      const all = posts(request);
      return { asked: all.length, settled: all.filter((each) => !isOpen(each)).length };
    },
    marks: (request) => posts(request).map(({ ts }) => ts),
    sent: (request) => messages(request).length,
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
  const policy = { rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'] } }] };
  const world = await openGatewayWorld({ ...options, policy, worker: false }, { identity });
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
  await addChannel(world, spec, options);
  const mails = ({ requestId }: ApprovalDetails, isAsking: boolean): ReceivedMail[] =>
    server.mails.filter(({ parts }) => {
      const text = parts.get('text/plain') ?? '';
      return text.includes(requestId) && text.includes('/links/') === isAsking;
    });
  const post = (request: ApprovalDetails, fields: Record<string, string>): Promise<Response> => {
    const [asking] = mails(request, true);
    const [url = ''] = /https:\S+\/links\/\S+/.exec(asking!.parts.get('text/plain')!) ?? [];
    const body = new URLSearchParams(fields);
    return fetch(new URL(new URL(url).pathname, world.gateway.url), { method: 'POST', body });
  };
  return {
    world,
    spec,
    reached: (request) => eventually('the mail is there', () => mails(request, true).length > 0),
    answer: (request, { approved, reason }) =>
      post(request, { answer: approved ? 'approve' : 'deny', ...(reason && { reason }) }),
    misanswer: (request) => post(request, { answer: 'perhaps' }),
    fail: () => {
      server.refusals.set('ann@example.com', '451 later');
      void eventually('one refusal', () => server.refused.length > 0).then(() => server.refusals.clear());
    },
    counts: (request) => ({ asked: mails(request, true).length, settled: mails(request, false).length }),
    marks: (request) => mails(request, true).map(({ headers }) => headers.get('message-id')),
    close: async () => {
      await world.close();
      await server.stop();
    },
  };
}

async function openConsole(options: WorldOptions): Promise<ChannelSubject> {
  const terminal = new TypedTerminal();
  const { input, output } = terminal;
  const world = await openWorld({ ...options, channels: { subject: consoleChannel({ input, output }) } });
  let answeredTo = 0;
  // The end of the question that waits for a line; undefined if none does.
  const question = (): number | undefined => {
    const { shown } = terminal;
    const end = shown.endsWith('[s]kip: ') ? shown.length : 0;
    return end > answeredTo ? end : undefined;
  };
  // Types once the question has stood for long enough: one that is asked again starts anew. Without one, types at once.
  const type = async (line: string): Promise<void> => {
    for (let end = question(); end !== undefined; end = question()) {
      await sleep(armingMs + 20);
      if (question() !== end) continue;
      answeredTo = end;
      break;
    }
    terminal.typeNow(`${line}\n`);
  };
  return {
    world,
    reached: () => eventually('the question', question),
    answer: (_request, { approved, always }) => type(approved ? (always === undefined ? 'a' : 'A') : 'd'),
    misanswer: async () => {
      await type('perhaps');
      await eventually('the question again', question);
    },
    // It calls nothing.
    fail: () => undefined,
    // Nothing is sent: the question goes when the request is settled.
    counts: () => ({ asked: 1, settled: 1 }),
    close: () => world.close(),
  };
}

/** People who read what a channel sent, and answer in the inbox. */
function inInbox(world: World): Pick<ChannelSubject, 'answer' | 'misanswer'> {
  const decide = async ({ requestId, workflowId }: ApprovalDetails, answer: object): Promise<unknown> => {
    const decision = { requestId, reviewerId: 'ann', ...answer } as Decision;
    const receipt = await world.client.decide(decision, { workflowId });
    if (!receipt.accepted) throw new Error(receipt.message);
    return receipt;
  };
  return { answer: decide, misanswer: (request) => decide(request, { approved: 'yes' }) };
}

async function openPagerDuty(worldOptions: WorldOptions): Promise<ChannelSubject> {
  const service = await openHttpService();
  const options = { ...pagerDutyTemplate(service.url), allowAddresses: ['127.0.0.1'] };
  const spec: ChannelSpec = { kind: 'http_template', options };
  const keys = (action: string, { requestId }: ApprovalDetails): string[] =>
    incidentKeys(service.requests, action, requestId);
  return openTelling(worldOptions, spec, service, {
    asked: (request) => keys('trigger', request),
    settled: (request) => keys('resolve', request),
  });
}

async function openHttpTemplate(options: WorldOptions): Promise<ChannelSubject> {
  const service = await openHttpService();
  const body = { request: '{{request.requestId}}', key: '{{key}}' };
  const spec: ChannelSpec = {
    kind: 'http_template',
    options: {
      notify: { url: `${service.url}/asked`, body },
      settled: { url: `${service.url}/settled`, body },
      allowAddresses: ['127.0.0.1'],
    },
  };
  const keys = (path: string, { requestId }: ApprovalDetails): string[] =>
    service.requests
      .filter((each) => each.path === path)
      .map((each) => JSON.parse(each.body) as { request: string; key: string })
      .filter((each) => each.request === requestId)
      .map(({ key }) => key);
  return openTelling(options, spec, service, {
    asked: (request) => keys('/asked', request),
    settled: (request) => keys('/settled', request),
  });
}

/** A channel that tells a service on this machine. `asked` and `settled` are the keys of what it was told of a request. */
async function openTelling(
  options: WorldOptions,
  spec: ChannelSpec,
  service: HttpServiceInTest,
  { asked, settled }: Record<'asked' | 'settled', (request: ApprovalDetails) => string[]>,
): Promise<ChannelSubject> {
  const world = await openWorld({ ...options, channels: { subject: await makeChannel(spec) } });
  return {
    world,
    spec,
    ...inInbox(world),
    reached: (request) => eventually('the service hears of it', () => asked(request).length > 0),
    fail: () => {
      const before = service.requests.length;
      service.answer = { status: 503, body: '{}' };
      void eventually('one refusal', () => service.requests.length > before).then(() => {
        service.requests.splice(before);
        service.answer = { status: 202, body: '{}' };
      });
    },
    counts: (request) => ({ asked: asked(request).length, settled: settled(request).length }),
    marks: asked,
    close: async () => {
      await world.close();
      await service.stop();
    },
  };
}

async function openWebPush(options: WorldOptions): Promise<ChannelSubject> {
  const policy = { rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'] } }] };
  const world = await openPushWorld({ ...options, policy, worker: false });
  await world.subscribed('ann');
  const spec: ChannelSpec = {
    kind: 'web_push',
    options: {
      subject: 'mailto:ops@example.com',
      ...world.keys,
      gatewayUrl: pushUrl,
      allowAddresses: ['127.0.0.1'],
      ca: world.service.ca,
    },
  };
  await addChannel(world, spec, options);
  const pushed = (kind: 'asked' | 'settled', { requestId }: ApprovalDetails) =>
    world.service.pushed.filter(
      ({ message }) => message.url.includes(requestId) && (message.silent === true) === (kind === 'settled'),
    );
  return {
    world,
    spec,
    ...inInbox(world),
    reached: (request) => eventually('the browser hears of it', () => pushed('asked', request).length > 0),
    fail: () => {
      const before = world.service.pushed.length;
      world.service.answers.set('ann', 503);
      void eventually('one refusal', () => world.service.pushed.length > before).then(() => {
        world.service.pushed.splice(before);
        world.service.answers.clear();
      });
    },
    counts: (request) => ({ asked: pushed('asked', request).length, settled: pushed('settled', request).length }),
    marks: (request) => pushed('asked', request).map(({ headers }) => headers['topic']),
    close: () => world.close(),
  };
}

/** Every kind of channel that reaches people. */
export const channelSubjects: Readonly<Record<string, SubjectKind>> = {
  'a function': { open: openFunction, edits: true, always: true, isFunction: true },
  'a conditional channel': { open: openConditional, edits: true, always: true, isFunction: true },
  'the console': { open: openConsole, always: true, reasons: false, inProcess: true },
  'the queue': { open: openQueue, edits: true, always: true, refusesLate: true, refusesBad: true },
  'a webhook': { open: openWebhook, edits: true, always: true },
  Slack: { open: openSlack, edits: true, always: true },
  mail: { open: openEmail },
  'PagerDuty, by an HTTP template': { open: openPagerDuty, refusesLate: true, refusesBad: true },
  'an HTTP template': { open: openHttpTemplate, refusesLate: true, refusesBad: true },
  'web push': { open: openWebPush, refusesLate: true, refusesBad: true },
};
