import type { WebClient } from '@slack/web-api';
import type { Channel } from '../../channels/channel.ts';
import type { ChatApp } from '../../channels/chat-app.ts';
import { keyedQueue } from './keyed-queue.ts';
import { openWebClient } from './open-web-client.ts';
import { postReminder } from './post-reminder.ts';
import { postRequests } from './post-requests.ts';
import { messageOf } from './sent-messages.ts';
import { slackApp } from './slack-app.ts';
import type { SlackSettings } from './slack-settings.ts';
import { updateMessage } from './update-message.ts';

/** The settings of the channels of this process, for the app that receives their answers. */
const settingsOf = new WeakMap<Channel, SlackSettings>();

/**
 * Shows requests in a Slack channel. Its users answer by the gateway (`slackApp`), so it has no `resolve`.
 *
 * @example See {@link readChannels}, which makes it from a file.
 */
export function slackChannel(settings: SlackSettings): Channel {
  // Updates of one message run one after another, so that neither undoes the other.
  const inTurn = keyedQueue();
  const connected = async <Result>(signal: AbortSignal, call: (client: WebClient) => Promise<Result>) =>
    call(await openWebClient(settings, signal));
  const channel: Channel = {
    batch: true,
    notify: (request, context) =>
      connected(context.signal, async (client) => {
        const message = context.step.kind === 'asked' ? undefined : messageOf(context.sent, request.requestId);
        if (message === undefined) return postRequests(client, settings, context);
        await postReminder(client, message, context);
        return undefined;
      }),
    settled: async (request, settlement, { sent, requests, signal }) => {
      const message = messageOf(sent, request.requestId);
      if (message === undefined) return;
      const now = [
        ...requests.filter((each) => each.requestId !== request.requestId),
        { ...request, settled: settlement },
      ];
      await connected(signal, (client) => inTurn(message.ts, () => updateMessage(client, settings, message, now)));
    },
  };
  settingsOf.set(channel, settings);
  return channel;
}

/**
 * Receives what people answer in the Slack channels among `channels`, for `startGateway`. Undefined: there is none.
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
