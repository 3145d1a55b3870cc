import type { ChatApp } from '../../channels/chat-app.ts';
import { requirePackage, type ChannelKind } from '../../channels/channel-kind.ts';
import { interactionHandler, type InteractionHandler } from './answer.ts';
import { type SlackSettings, type SlackMembers, slackSettings, slackShape } from './slack-settings.ts';
import { socketInteractions } from './socket.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { isSignedBySlack, openWebClient, orSlackProblem } from './slack-api.ts';
import type { WebClient } from '@slack/web-api';
import { checkOptions } from '../../agents/check-options.ts';
import { type Channel, type ChannelRequest, testText } from '../../channels/channel.ts';
import { recentIds } from '../../channels/channel-answer.ts';
import { utf8Text } from '../../text/read-json.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { postReminder, post, postRequests, postedMessage, messageShowing, oldestOf, updateMessage } from './post.ts';

/**
 * Receives answers for `startGateway`. The channels in `entries` belong to one or more Slack apps, which send over HTTP
 * or over Socket Mode. Throws `policy_invalid` if a package is missing.
 */
export function slackApp(entries: readonly SlackSettings[]): ChatApp {
  const handler = interactionHandler();
  requirePackage('@slack/web-api', 'Slack');
  const isHttp = entries.some(({ signingSecret }) => signingSecret !== undefined);
  const isSocket = entries.some(({ appToken }) => appToken !== undefined);
  if (isSocket) requirePackage('@slack/socket-mode', `Slack's Socket Mode`);
  return {
    ...(isHttp && { receive: httpInteractions(entries, handler) }),
    ...(isSocket && { connect: (gateway) => socketInteractions(entries, handler, gateway) }),
    drain: () => handler.drain(),
  };
}

/** Handles Slack's requests to the gateway, forms with a payload as JSON. Throws `forbidden` without a signature. */
function httpInteractions(
  entries: readonly SlackSettings[],
  handler: InteractionHandler,
): NonNullable<ChatApp['receive']> {
  return async (request, gateway) => {
    const signed = entries.filter(
      ({ signingSecret }) => signingSecret !== undefined && isSignedBySlack(request, signingSecret),
    );
    if (signed.length === 0) {
      const message = 'Slack has not signed this, or more than five minutes ago.';
      throw new ProblemError({ code: 'forbidden', message });
    }
    let acknowledgement: object | undefined;
    await handler.handle(payloadOf(request.body), signed, gateway, (body) => {
      acknowledgement = body;
    });
    return acknowledgement === undefined ? new Response(null) : Response.json(acknowledgement);
  };
}

function payloadOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new URLSearchParams(utf8Text(body) ?? '').get('payload') ?? '');
  } catch {
    return undefined;
  }
}

const settingsOf = new WeakMap<Channel, SlackSettings>();

/**
 * Creates a channel that shows requests in Slack. It has no `resolve`, because people answer through the gateway
 * (`slackApp`). Throws a `DefinitionError` for an unknown option.
 *
 * @example See {@link readChannels}, which makes it from a file.
 */
export function slackChannel(settings: SlackSettings): Channel {
  const places = { name: true, token: true, channel: true, gatewayUrl: true } as const;
  const more = { highestSeverity: true, apiUrl: true, signingSecret: true, appToken: true } as const;
  checkOptions('slackChannel', settings, { ...places, ...more });
  // Run the updates of a message one by one, so that none overwrites another.
  const inTurn = keyedQueue();
  const shownHere = recentIds();
  const connected = async <Result>(signal: AbortSignal, call: (client: WebClient) => Promise<Result>) =>
    call(await openWebClient(settings, { signal, waitsForRate: false }));

  /** Finds the message of a request. It may exist even if all attempts to post it failed. */
  async function findMessage(client: WebClient, request: ChannelRequest, sent: Json | undefined) {
    if (sent !== undefined) return postedMessage(sent, request.requestId);
    const place = { channel: settings.channel, oldestMs: oldestOf([request]) };
    return messageShowing(client, place, request.requestId);
  }

  const channel: Channel = {
    check: () => requirePackage('@slack/web-api', 'Slack'),
    reach: (signal) => connected(signal, (client) => requirePlace(client, settings.channel)),
    test: ({ key, signal }) =>
      connected(signal, async (client) => {
        await requirePlace(client, settings.channel);
        await post(client, { channel: settings.channel, text: testText }, key);
        return `a message to channel ${settings.channel}`;
      }),
    batch: true,
    notify: (request, context) =>
      connected(context.signal, async (client) => {
        const isFirst = context.step.kind === 'asked';
        const message = isFirst ? undefined : await findMessage(client, request, context.sent);
        if (message === undefined) return postRequests(client, settings, context);
        if (context.step.kind === 'user_wrote') {
          await inTurn(message.ts, () => updateMessage(client, settings, message, context.requests));
        }
        await postReminder(client, message, context);
        return undefined;
      }),
    settled: (request, settlement, { sent, requests, signal }) =>
      connected(signal, async (client) => {
        const message = await findMessage(client, request, sent);
        if (message === undefined) return;
        const others = requests.filter((each) => each.requestId !== request.requestId);
        const now = [...others, { ...request, settled: settlement }];
        const keyOf = (requestId: string): string => `${message.ts} ${requestId}`;
        await inTurn(message.ts, async () => {
          // Skip this update if an earlier one has already shown that the request is settled.
          if (shownHere.has(keyOf(request.requestId))) return;
          const settledIds = await updateMessage(client, settings, message, now);
          for (const requestId of settledIds) shownHere.add(keyOf(requestId));
        });
      }),
  };
  settingsOf.set(channel, settings);
  return channel;
}

/** Throws unless the app may read the channel, which requires a valid token and an invitation. */
async function requirePlace(client: WebClient, channel: string): Promise<void> {
  await orSlackProblem(client.conversations.history({ channel, limit: 1 }), 'conversations.history', channel);
}

/**
 * Returns the app that receives answers from the Slack channels in `channels`. Undefined if there are none.
 *
 * @example
 * ```ts
 * import { readChannels, slackAppOf } from 'countersign/channels';
 *
 * const { channels } = await readChannels('channels: { ci: { kind: auto_deny } }');
 * console.log(slackAppOf(channels)); // undefined
 * ```
 */
export function slackAppOf(channels: Readonly<Record<string, Channel>>): ChatApp | undefined {
  const entries = Object.values(channels).flatMap((channel) => settingsOf.get(channel) ?? []);
  return entries.length === 0 ? undefined : slackApp(entries);
}

/** Returns a function that runs the tasks of one key in order, one by one. Tasks of different keys run concurrently. */
function keyedQueue(): <Result>(key: string, task: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>();
  return async (key, task) => {
    const before = last.get(key) ?? Promise.resolve();
    const run = before.then(task, task);
    last.set(key, run);
    try {
      return await run;
    } finally {
      if (last.get(key) === run) last.delete(key);
    }
  };
}

/** `kind: slack` in a channel file (docs/slack.md). */
export const slackKind: ChannelKind<SlackMembers> = {
  shape: slackShape,
  make: (members, context) => slackChannel(slackSettings(members, context)),
};
