/** A channel is tried: what it sends is marked as a test, and what is missing is said in one sentence. */
import { Runtime } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { emailChannel } from '../../src/adapters/email/email-channel.ts';
import { httpTemplateChannel } from '../../src/adapters/on-call/http-template-channel.ts';
import { slackChannel } from '../../src/adapters/slack/slack-channel.ts';
import type { SlackSettings } from '../../src/adapters/slack/slack-settings.ts';
import { verifyWebhook } from '../../src/adapters/webhook/verify-webhook.ts';
import { webhookChannel } from '../../src/adapters/webhook/webhook-channel.ts';
import { autoDeny, conditional } from '../../src/channels/simple-channels.ts';
import { type Channel, testText } from '../../src/channels/channel.ts';
import { channelSetOf } from '../../src/channels/channel-set.ts';
import { testChannel, warnOfUnreached } from '../../src/channels/try-channels.ts';
import { eventually } from '../support/eventually.ts';
import { type HttpServiceInTest, openHttpService } from '../support/http-service.ts';
import { type MailServerInTest, openMailServer } from './email/mail-server.ts';
import { pagerDutyTemplate } from './on-call/pager-duty.ts';
import { openPushWorld, type PushWorld } from './web-push/push-world.ts';
import { SlackServer } from './slack/slack-server.ts';
import { openReceiver, type Receiver } from './webhook/webhook-receiver.ts';
import { openWorld } from '../support/world.ts';

const gatewayUrl = 'https://approvals.example.com';
const secret = 'a secret of at least sixteen bytes';
const allowAddresses = ['127.0.0.1'];

let push: PushWorld;
let slack: SlackServer;
let mail: MailServerInTest;
let service: HttpServiceInTest;
let receiver: Receiver;
let status = 204;
beforeAll(async () => {
  [push, slack, mail, service, receiver] = await Promise.all([
    openPushWorld(),
    SlackServer.start(),
    openMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        password === 'right' ? done(null, { user: username }) : done(new Error('wrong password')),
    }),
    openHttpService(),
    openReceiver(() => ({ status })),
  ]);
});
afterAll(async () => {
  await Promise.all([push?.close(), slack?.close(), mail?.stop(), service?.stop(), receiver?.close()]);
});

const team = (more: Partial<Pick<SlackSettings, 'token' | 'channel'>> = {}): Channel =>
  slackChannel({
    name: 'team',
    token: slack.token,
    signingSecret: slack.signingSecret,
    channel: slack.channel,
    gatewayUrl,
    apiUrl: slack.apiUrl,
    ...more,
  });
const mailer = (password = 'right', port = mail.port): Channel =>
  emailChannel({
    transport: { host: '127.0.0.1', port, tls: 'none', user: 'app', password },
    from: 'approvals@example.com',
    gatewayUrl,
    people: { ann: 'ann@example.com', bob: 'bob@example.com' },
  });
const hook = (url = receiver.url): Promise<Channel> => webhookChannel({ url, secret, allowAddresses, name: 'hook' });
const pager = (): Channel => httpTemplateChannel({ ...pagerDutyTemplate(service.url), allowAddresses });
const alert = (): Channel =>
  httpTemplateChannel({
    notify: {
      url: `${service.url}/alerts/{{request.requestId}}`,
      body: { text: '{{sentence}}', link: '{{inboxUrl}}' },
    },
    settled: { url: `${service.url}/closed/{{request.requestId}}`, body: { why: '{{settlement.reason}}' } },
    gatewayUrl,
    allowAddresses,
  });
const tried = (channel: Channel) => testChannel(['it', channel], () => Promise.resolve(push.records));
async function unreached(channels: Record<string, Channel>): Promise<string[]> {
  const warned: string[] = [];
  await warnOfUnreached(channelSetOf({ channels }), new AbortController().signal, (each) => warned.push(each));
  return warned;
}
/** A port where nothing listens. */
const closedPort = 1;

describe('a test message that arrives', () => {
  test('Slack: a text without buttons', async () => {
    expect(await tried(team())).toEqual({ channel: 'it', ok: true, message: 'Sent a message to channel C0001.' });
    expect(slack.messages).toMatchObject([{ text: testText, blocks: [] }]);
  });

  test('mail: one, without a link', async () => {
    expect(await tried(mailer())).toEqual({ channel: 'it', ok: true, message: 'Sent a mail to ann@example.com.' });
    expect(mail.mails).toHaveLength(1);
    expect(JSON.stringify(mail.mails[0])).toContain('Test message of Countersign');
    expect(JSON.stringify(mail.mails[0])).not.toContain(gatewayUrl);
  });

  test.each<[number, string]>([
    [204, 'Sent a signed message to ORIGIN.'],
    [422, 'Sent a signed message to ORIGIN, which answered 422: it is there, and takes no test.'],
  ])('webhook that answers %i: signed, and no request', async (answer, message) => {
    status = answer;
    receiver.hits.length = 0;
    expect(await tried(await hook())).toEqual({
      channel: 'it',
      ok: true,
      message: message.replace('ORIGIN', receiver.url),
    });
    const [{ body, headers }] = receiver.hits as [(typeof receiver.hits)[number]];
    expect(JSON.parse(body)).toEqual({ delivery: { event: 'test' }, channel: 'hook', text: testText });
    // The signature is right, and a receiver that knows requests only finds none.
    expect(() => verifyWebhook({ secret, headers, body })).toThrow('it holds no request');
  });

  test('PagerDuty: an incident that says so, and is resolved', async () => {
    service.requests.length = 0;
    expect(await tried(pager())).toMatchObject({ ok: true });
    const events = service.requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    expect(events).toMatchObject([
      { event_action: 'trigger', payload: { summary: testText, severity: 'info' } },
      { event_action: 'resolve', dedup_key: events[0]!['dedup_key'] },
    ]);
  });

  test('a template: its sentence says so, and its link leads to no request', async () => {
    service.requests.length = 0;
    expect(await tried(alert())).toMatchObject({ ok: true });
    expect(service.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { text: testText, link: `${gatewayUrl}/inbox/` },
      { why: testText },
    ]);
  });

  test('web push: to each browser; without one, it says so', async () => {
    expect(await tried(push.channelWith())).toEqual({
      channel: 'it',
      ok: false,
      message:
        'No browser has subscribed: open https://approvals.example.com/inbox/ and switch notifications on in its settings.',
    });
    await push.subscribed('ann');
    await expect
      .poll(() => tried(push.channelWith()), { timeout: 60_000 })
      .toMatchObject({ ok: true, message: 'Sent a notification to 1 of 1 browsers.' });
  });

  test('a channel that sends nothing', async () => {
    expect(await tried(autoDeny())).toMatchObject({ ok: true, message: 'It sends no messages, so nothing was sent.' });
    const staging = conditional({ below: 'medium', otherwise: pager() });
    expect(await tried(staging)).toMatchObject({
      ok: true,
      message: expect.stringContaining('a message to') as string,
    });
  });
});

const faults: [string, () => Channel | Promise<Channel>, RegExp][] = [
  ['a Slack channel that does not exist', () => team({ channel: 'C0002' }), /channel_not_found; check the id/],
  ['a wrong Slack token', () => team({ token: 'xoxb-other' }), /invalid_auth; check the token\.$/],
  ['a wrong mail password', () => mailer('wrong'), /EAUTH.*check 'user' and 'password'\.$/],
  ['no mail server', () => mailer('right', closedPort), /took no mail \(ECONNREFUSED|ESOCKET/],
  ['no webhook host', () => hook(`http://127.0.0.1:${closedPort}`), /cannot be reached: .*ECONNREFUSED/],
];

test.each(faults)('%s: the test and the start of a worker say so', async (_, make, sentence) => {
  const channel = await make();
  expect(await tried(channel)).toMatchObject({ ok: false, message: expect.stringMatching(sentence) as string });
  expect(await unreached({ it: channel })).toEqual([expect.stringMatching(sentence)]);
});

test('Slack without an invitation', async () => {
  slack.fail('conversations.history', { error: 'not_in_channel' });
  expect(await tried(team())).toMatchObject({
    ok: false,
    message: expect.stringContaining('not_in_channel; invite the app to the channel.') as string,
  });
});

test('a webhook that answers 404', async () => {
  status = 404;
  expect(await tried(await hook())).toEqual({
    channel: 'it',
    ok: false,
    message: `The service at ${receiver.url} answered 404. Check the path of 'url'.`,
  });
});

test('what can send is not warned of, and gets no message', async () => {
  const sent = [slack.messages.length, mail.mails.length];
  const { looks } = service;
  service.requests.length = 0;
  const channels = { team: team(), mail: mailer(), hook: await hook(), pager: pager(), alert: alert(), ci: autoDeny() };
  expect(await unreached(channels)).toEqual([]);
  expect([slack.messages.length, mail.mails.length]).toEqual(sent);
  expect([service.requests, service.looks]).toEqual([[], looks + 2]);
});

test('a worker that starts warns of what it cannot reach, and waits for none of it', async ({ onTestFinished }) => {
  const warn = vi.spyOn(Runtime.instance().logger, 'warn').mockImplementation(() => undefined);
  const never = () => Promise.withResolvers<never>().promise;
  const gone = { notify: () => undefined, reach: () => Promise.reject(new Error('no route')) };
  const world = await openWorld({
    channels: { gone, slow: { resolve: () => true, reach: never } },
    routes: { default: ['slow'] },
  });
  onTestFinished(() => world.close());
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 5 } }] }, { text: 'done' }]);
  expect((await run.result()).output).toBe('done');
  await eventually('it warns', () =>
    warn.mock.calls.some(([sentence]) => sentence === "channel 'gone' cannot be reached: no route."),
  );
});
