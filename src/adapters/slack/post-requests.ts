import type { WebClient } from '@slack/web-api';
import type { NotifyContext } from '../../channels/channel.ts';
import type { ApprovalDetails } from '../../contract.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { visibleText } from '../../text/visible-text.ts';
import { fallbackText, type SlackMessage } from '../../card/slack-blocks.ts';
import { slackProblem } from './open-web-client.ts';
import { inFullOrShort } from '../../channels/outgoing/not-taken.ts';
import { inMessages, type MessageBlock, requestBlocks, runBlock, shortBlock } from './message-blocks.ts';
import { metadataType, oldestOf, type PostedMessages, sentMessage, sentSince } from './sent-messages.ts';
import type { SlackSettings } from './slack-settings.ts';

/** More would not fit into what is remembered of them. */
const mostMessages = 30;

/** Shows open requests in as few messages as they take, and in their threads what does not fit. */
export async function postRequests(
  client: WebClient,
  settings: SlackSettings,
  { key, attempt, requests }: Pick<NotifyContext, 'key' | 'attempt' | 'requests'>,
): Promise<Json> {
  const { channel } = settings;
  const oldestMs = oldestOf(requests);
  const sentBefore = (threadOf?: string): Promise<Map<string, string>> =>
    attempt === 1
      ? Promise.resolve(new Map())
      : sentSince(client, { channel, oldestMs, threadOf }).catch((error: unknown) => {
          throw slackProblem(
            error,
            threadOf === undefined ? 'conversations.history' : 'conversations.replies',
            channel,
          );
        });

  const before = await sentBefore();
  const messages: PostedMessages['messages'] = [];
  const all = inMessages(requests, settings);
  for (const [index, together] of all.slice(0, mostMessages).entries()) {
    const parts = together.map((request) => requestBlocks(request, settings, together.length));
    const messageKey = `${key}.${index}`;
    const known = before.get(messageKey);
    const link = runBlock(together, settings);
    const blocks = [...parts.flatMap((part) => part.blocks), link];
    const postOne = (isShort: boolean): Promise<string> => {
      const shown = isShort ? [...together.map((request) => shortBlock(request)), link] : blocks;
      return post(client, { channel, text: titleOf(together), blocks: shown }, messageKey);
    };
    const ts = known ?? (await inFullOrShort(postOne));
    const replies = parts.flatMap(({ thread }) => thread);
    const repliesBefore = known === undefined || replies.length === 0 ? new Map() : await sentBefore(ts);
    for (const [place, reply] of replies.entries()) {
      const replyKey = `${messageKey}.${place}`;
      if (!repliesBefore.has(replyKey)) await post(client, { channel, thread_ts: ts, ...reply }, replyKey);
    }
    messages.push(
      sentMessage(
        ts,
        together.map(({ requestId }) => requestId),
      ),
    );
  }
  const left = all.slice(mostMessages).flat().length;
  const restKey = `${key}.rest`;
  if (left > 0 && !before.has(restKey)) {
    await post(client, { channel, text: `${left} more calls wait: ${settings.gatewayUrl}/inbox/` }, restKey);
  }
  return { channel, messages } satisfies PostedMessages;
}

/** Posts a message that can be found by its key. Text is markup to Slack: the caller has escaped it. */
export async function post(
  client: WebClient,
  message: {
    channel: string;
    text: string;
    blocks?: (MessageBlock | SlackMessage['blocks'][number])[];
    thread_ts?: string;
    reply_broadcast?: boolean;
  },
  key: string,
): Promise<string> {
  const metadata = { event_type: metadataType, event_payload: { key } };
  const options = { ...message, metadata, unfurl_links: false, unfurl_media: false, parse: 'none' };
  try {
    const { ts } = (await client.apiCall('chat.postMessage', options)) as { ts?: string };
    return ts!;
  } catch (error) {
    throw slackProblem(error, 'chat.postMessage', message.channel);
  }
}

/** What notifications show. */
export function titleOf(requests: readonly ApprovalDetails[]): string {
  const [{ toolName, agentName }] = requests as [ApprovalDetails];
  const isOneTool = requests.every((each) => each.toolName === toolName);
  const what = isOneTool ? visibleText(toolName) : 'several tools';
  const title = requests.length === 1 ? `Approval of ${what}` : `${requests.length} approvals of ${what}`;
  return fallbackText(`${title}, asked by ${visibleText(agentName)}`.slice(0, 500).toWellFormed());
}
