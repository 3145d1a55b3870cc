import { createSecretKey, randomUUID } from 'node:crypto';
import type { Channel, ChannelRequest, NotifyContext } from '../../../src/channels/channel.ts';
import { slackApp, slackChannel } from '../../../src/adapters/slack/slack-channel.ts';
import type { SlackSettings } from '../../../src/adapters/slack/slack-settings.ts';
import { createSeals, type Seals } from '../../../src/channels/sealed-text.ts';
import type { Role } from '../../../packages/gateway/src/http/identity/principal.ts';
import type { ApprovalDetails } from '../../../src/contract.ts';
import type { Json } from '../../../src/core/base/tool-call.ts';
import type { GatewayOptions } from '../../../packages/gateway/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { identityOf, makeToken, type TestToken } from '../../support/identity.ts';
import { type SignedPayload, SlackServer, type SlackUser } from './slack-server.ts';
import type { RunInTest, WorldOptions } from '../../support/world.ts';

export const publicUrl = 'https://approvals.example.com';
const sessionSecret = 'a session key of this test, long enough';

/** The seals of a gateway: of the one in the test, or of another. */
export function sealsOf({ secret = sessionSecret, url = publicUrl } = {}): Seals {
  return createSeals({ secret: createSecretKey(Buffer.from(secret)), publicUrl: url, namespace: 'default' });
}

/** A gateway whose people answer in Slack, and a channel of that workspace. */
export interface SlackWorld extends GatewayWorld {
  slack: SlackServer;
  settings: SlackSettings;
  channel: Channel;
  /** The cookie of a session of this person. */
  cookieOf(person: string): Promise<string>;
  /** The headers of a request with this person's token. */
  bearerOf(person: string): TestToken['bearer'];
  /** Sends what Slack would send. */
  deliver(payload: SignedPayload): Promise<Response>;
  /** Links an account as its owner does: presses a button, opens the page, confirms. Each call is for a new account. */
  linked(person: string, more?: Partial<SlackUser>): Promise<SlackUser>;
  /** The address that somebody without a link is told. */
  invitation(user: SlackUser): Promise<URL>;
  /** What Slack showed to one person alone. */
  toldTo(user: SlackUser, count?: number): Promise<string[]>;
  details(run: RunInTest, requestId: string): Promise<ApprovalDetails>;
  /** Calls `notify` for these requests, as the workflow of channels does. */
  notify(requests: ApprovalDetails[], more?: Partial<NotifyContext>): Promise<Json | void>;
  settle(request: ApprovalDetails, sent: Json | void, all?: readonly ChannelRequest[]): Promise<void>;
}

/** How Slack sends what people answer. */
export type Transport = 'http' | 'socket';
export const transports: Transport[] = ['http', 'socket'];

type SlackWorldOptions = WorldOptions & Pick<SlackSettings, 'highestSeverity'> & { transport?: Transport };

export async function openSlackWorld(
  people: Readonly<Record<string, readonly Role[]>>,
  { highestSeverity, transport = 'http', ...options }: SlackWorldOptions = {},
  gatewayOptions: Partial<GatewayOptions> = {},
): Promise<SlackWorld> {
  const slack = await SlackServer.start();
  const settings: SlackSettings = {
    name: 'team',
    token: slack.token,
    ...(transport === 'http' ? { signingSecret: slack.signingSecret } : { appToken: slack.appToken }),
    channel: slack.channel,
    gatewayUrl: publicUrl,
    apiUrl: slack.apiUrl,
    ...(highestSeverity !== undefined && { highestSeverity }),
  };
  const tokens = new Map<string, TestToken>(Object.entries(people).map(([id, roles]) => [id, makeToken(id, roles)]));
  const identity = identityOf(
    { public_url: publicUrl, tokens: [...tokens.values()].map(({ entry }) => entry), sessions: { key_env: 'KEY' } },
    { KEY: sessionSecret },
  );
  const world = await openGatewayWorld(options, { identity, slack: slackApp([settings]), ...gatewayOptions });
  const channel = slackChannel(settings);
  let users = 0;
  const context = () => ({ step: { kind: 'asked' }, attempt: 1, signal: AbortSignal.timeout(60_000) }) as const;
  const slackWorld: SlackWorld = {
    ...world,
    slack,
    settings,
    channel,
    cookieOf: async (person) => {
      const response = await world.call('POST', '/login/token', { token: tokens.get(person)!.token });
      return response.headers.getSetCookie()[0]!.split(';')[0]!;
    },
    bearerOf: (person) => tokens.get(person)!.bearer,
    deliver: async ({ body, headers }) => {
      if (transport === 'http') {
        return fetch(new URL('/slack/interactions', world.gateway.url), { method: 'POST', body, headers });
      }
      await slack.sockets.connected();
      const answer = await slack.sockets.send(JSON.parse(new URLSearchParams(body).get('payload')!));
      if (answer === undefined) return new Response(null, { status: 504 });
      return Object.keys(answer).length === 0 ? new Response(null) : Response.json(answer);
    },
    invitation: async (user) => {
      const block_id = `open.${'0'.repeat(32)}.${'A'.repeat(43)}.${'A'.repeat(43)}`;
      const message = {
        ts: '1.1',
        channel: slack.channel,
        text: '',
        bot_id: slack.botId,
        blocks: [
          { type: 'actions', block_id, elements: [{ type: 'button', action_id: 'approve' }] },
          { type: 'actions', block_id: 'run', elements: [{ type: 'button', value: '["team","no-such-run"]' }] },
        ],
      };
      await slackWorld.deliver(slack.click(user, message, 'approve'));
      const told = await eventually('an invitation', () => slack.ephemerals.findLast((each) => each.user === user.id));
      return new URL(told.blocks.flatMap(({ elements = [] }) => elements).find(({ url }) => url !== undefined)!.url!);
    },
    linked: async (person, more = {}) => {
      users += 1;
      const user = { id: `U${users}${randomUUID().slice(0, 8).toUpperCase()}`, ...more };
      const state = (await slackWorld.invitation(user)).searchParams.get('state')!;
      const response = await fetch(new URL('/slack/link', world.gateway.url), {
        method: 'POST',
        body: new URLSearchParams({ state }),
        headers: { cookie: await slackWorld.cookieOf(person), 'sec-fetch-site': 'same-origin', origin: publicUrl },
      });
      if (response.status !== 200) throw new Error(`not linked: ${response.status} ${await response.text()}`);
      slack.ephemerals.splice(0);
      return user;
    },
    toldTo: (user, count = 1) =>
      eventually(`${count} sentences for ${user.id}`, () => {
        const told = slack.ephemerals.filter((each) => each.user === user.id).map(({ text }) => text);
        return told.length >= count && told;
      }),
    details: ({ workflowId }, requestId) => world.client.approvals.get(requestId, { workflowId }),
    notify: (requests, more = {}) =>
      Promise.resolve(channel.notify!(requests[0]!, { ...context(), key: randomUUID(), requests, ...more })),
    settle: async (request, sent, all = [request]) => {
      const settled = { ...context(), key: randomUUID(), requests: all, ...(sent !== undefined && { sent }) };
      await channel.settled!(request, request.settled!, settled);
    },
    close: async () => {
      await world.close();
      await slack.close();
    },
  };
  return slackWorld;
}
