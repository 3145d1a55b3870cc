import type { WebClient } from '@slack/web-api';
import type { Json } from '../../core/base/tool-call.ts';
import { blockOwner, inMessages, type MessageBlock, requestBlocks, runBlock, shortBlock } from './cards.ts';
import type { NotifyContext, ChannelStep } from '../../channels/channel.ts';
import type { ApprovalDetails } from '../../contract.ts';
import { visibleText } from '../../text/visible-text.ts';
import { fallbackText, type SlackMessage, section } from '../../card/render-slack.ts';
import { orSlackProblem } from './slack-api.ts';
import { inFullOrShort } from '../../channels/outgoing/not-taken.ts';
import type { SlackSettings } from './slack-settings.ts';

/** What `notify` returns: the messages, each with the first characters of its requests' ids, separated by blanks. */
interface PostedMessages {
  channel: string;
  messages: { ts: string; of: string }[];
}

const idLength = 8;

/** Finds the message of a request in the result of `notify`. Undefined if the result does not have the message. */
export function postedMessage(sent: Json | undefined, requestId: string): { channel: string; ts: string } | undefined {
  const { channel, messages } = (sent ?? {}) as Partial<PostedMessages>;
  if (typeof channel !== 'string' || !Array.isArray(messages)) return undefined;
  const found = messages.find(({ of }) => of.split(' ').includes(requestId.slice(0, idLength)));
  return found && { channel, ts: found.ts };
}

/** The type in the metadata of messages, by which this app finds its own. */
const metadataType = 'countersign_request';

/** The most pages of messages to search, and the messages on a page. */
const mostPages = 5;
const pageSize = 200;

const marginMs = 5 * 60_000;

/** The earliest time at which Slack's clock may say that a message about these requests was posted. */
export function oldestOf(requests: readonly { requestedAt: string }[]): number {
  return Math.min(...requests.map(({ requestedAt }) => Date.parse(requestedAt))) - marginMs;
}

/** Where to search for this app's messages: in a channel, or in the thread of the message `threadOf`. */
interface Place {
  channel: string;
  oldestMs: number;
  threadOf?: string;
}

/** Returns the timestamps of this app's messages in a place, by their keys. */
async function sentSince(client: WebClient, place: Place): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { ts, key } of ownMessages(client, place)) found.set(key, ts);
  return found;
}

/** Finds the message that shows a request, by the ids of its blocks. Undefined if there is none. */
export async function messageShowing(
  client: WebClient,
  place: Place,
  requestId: string,
): Promise<{ channel: string; ts: string } | undefined> {
  for await (const { ts, blocks } of ownMessages(client, place)) {
    const shows = blocks.some(({ block_id: id }) => blockOwner(id)?.requestId === requestId);
    if (shows) return { channel: place.channel, ts };
  }
  return undefined;
}

/** Yields this app's messages in the first pages of a place, not those of other apps, even with the same metadata. */
async function* ownMessages(
  client: WebClient,
  { channel, oldestMs, threadOf }: Place,
): AsyncGenerator<{ ts: string; key: string; blocks: readonly { block_id?: string }[] }> {
  const method = threadOf === undefined ? 'conversations.history' : 'conversations.replies';
  const { bot_id: ours } = await orSlackProblem(client.auth.test(), method, channel);
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const range = { channel, include_all_metadata: true, limit: pageSize, oldest: (oldestMs / 1_000).toFixed(6) };
    const options = { ...range, ...(cursor !== undefined && { cursor }) };
    const reading =
      threadOf === undefined
        ? client.conversations.history(options)
        : client.conversations.replies({ ...options, ts: threadOf });
    const { messages = [], response_metadata: more } = await orSlackProblem(reading, method, channel);
    for (const { ts, bot_id: sender, metadata, blocks = [] } of messages) {
      const { key } = (metadata?.event_type === metadataType ? (metadata.event_payload ?? {}) : {}) as {
        key?: unknown;
      };
      if (ts === undefined || sender === undefined || sender !== ours || typeof key !== 'string') continue;
      yield { ts, key, blocks };
    }
    cursor = more?.next_cursor;
    if (cursor === undefined || cursor === '') break;
  }
}

/** The most messages: the result of `notify` lists them, and its size is limited. */
const mostMessages = 30;

/** Posts open requests in as few messages as possible, the rest as a number. A retry posts only what is missing. */
export async function postRequests(
  client: WebClient,
  settings: SlackSettings,
  { key, attempt, requests }: Pick<NotifyContext, 'key' | 'attempt' | 'requests'>,
): Promise<Json> {
  const { channel } = settings;
  const oldestMs = oldestOf(requests);
  const sentBefore: SentBefore = async (threadOf) =>
    attempt === 1 ? new Map() : sentSince(client, { channel, oldestMs, threadOf });
  const before = await sentBefore();
  const messages: PostedMessages['messages'] = [];
  const all = inMessages(requests, settings);
  for (const [index, together] of all.slice(0, mostMessages).entries()) {
    const messageKey = `${key}.${index}`;
    const ts = await postTogether(client, settings, together, messageKey, before.get(messageKey), sentBefore);
    messages.push({ ts, of: together.map(({ requestId }) => requestId.slice(0, idLength)).join(' ') });
  }
  const left = all.slice(mostMessages).flat().length;
  const restKey = `${key}.rest`;
  if (left > 0 && !before.has(restKey)) {
    await post(client, { channel, text: `${left} more calls wait: ${settings.gatewayUrl}/inbox/` }, restKey);
  }
  return { channel, messages } satisfies PostedMessages;
}

/** Returns the timestamps of what an earlier attempt has sent, by key: of messages, or of replies in a thread. */
type SentBefore = (threadOf?: string) => Promise<Map<string, string>>;

/** Posts a message, unless it is `known` from an earlier attempt, and the missing replies. Returns its timestamp. */
async function postTogether(
  client: WebClient,
  settings: SlackSettings,
  together: readonly ApprovalDetails[],
  messageKey: string,
  known: string | undefined,
  sentBefore: SentBefore,
): Promise<string> {
  const { channel } = settings;
  const parts = together.map((request) => requestBlocks(request, settings, together.length));
  const link = runBlock(together, settings);
  const blocks = [...parts.flatMap((part) => part.blocks), link];
  const postMessage = (isShort: boolean): Promise<string> => {
    const shown = isShort ? [...together.map((request) => shortBlock(request)), link] : blocks;
    return post(client, { channel, text: titleOf(together), blocks: shown }, messageKey);
  };
  const ts = known ?? (await inFullOrShort(postMessage));
  const replies = parts.flatMap(({ thread }) => thread);
  const repliesBefore = known === undefined || replies.length === 0 ? new Map() : await sentBefore(ts);
  for (const [place, reply] of replies.entries()) {
    const replyKey = `${messageKey}.${place}`;
    if (!repliesBefore.has(replyKey)) await post(client, { channel, thread_ts: ts, ...reply }, replyKey);
  }
  return ts;
}

/** Posts a message that can be found again by its key. `text` must be escaped, because Slack reads markup in it. */
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
  const method = 'chat.postMessage';
  const { ts } = (await orSlackProblem(client.apiCall(method, options), method, message.channel)) as { ts?: string };
  return ts!;
}

function titleOf(requests: readonly ApprovalDetails[]): string {
  const [{ toolName, agentName }] = requests as [ApprovalDetails];
  const isOneTool = requests.every((each) => each.toolName === toolName);
  const what = isOneTool ? visibleText(toolName) : 'several tools';
  const title = requests.length === 1 ? `Approval of ${what}` : `${requests.length} approvals of ${what}`;
  return fallbackText(`${title}, asked by ${visibleText(agentName)}`.slice(0, 500).toWellFormed());
}

const mostNames = 20;
/** A search for reminders begins this long before the message of the request. */
const clockMarginMs = 1_000;

/** Posts a reminder to the thread of a message and so in the channel, unless an earlier attempt has done so. */
export async function postReminder(
  client: WebClient,
  { channel, ts }: { channel: string; ts: string },
  { key, attempt, step, requests }: Pick<NotifyContext, 'key' | 'attempt' | 'step' | 'requests'>,
): Promise<void> {
  if (attempt > 1) {
    const place = { channel, oldestMs: Number(ts) * 1_000 - clockMarginMs, threadOf: ts };
    if ((await sentSince(client, place)).has(key)) return;
  }
  const lines = requests.slice(0, mostNames).map(({ toolName, deadline }) => {
    const until = deadline === null ? { text: 'without a deadline' } : { text: 'until ', at: deadline };
    return section([{ text: `${visibleText(toolName)}: waits ` }, until]);
  });
  const left = requests.length - lines.length;
  const heading = headingOf(step);
  const more = left > 0 ? [section([{ text: `and ${left} more` }])] : [];
  const elements = [section([{ text: heading, bold: true }]), ...lines, ...more];
  const content = { text: fallbackText(heading), blocks: [{ type: 'rich_text' as const, elements }] };
  await post(client, { channel, thread_ts: ts, reply_broadcast: true, ...content }, key);
}

function headingOf({ kind, to = [] }: ChannelStep): string {
  switch (kind) {
    case 'warned':
      return 'This is about to expire.';
    case 'escalated':
      return `Escalated to ${to.map((each) => visibleText(each)).join(', ')}.`.slice(0, 500).toWellFormed();
    case 'user_wrote':
      return 'The user has written since this was asked: the buttons take the card as it is now.';
    case 'asked':
    case 'reminded':
      return 'This still waits for an answer.';
  }
}

/**
 * Updates a message to the present state of its requests. Returns the ids of the requests that it shows as settled.
 * Blocks of settled requests stay as they are, because `requests` may be older than the message.
 */
export async function updateMessage(
  client: WebClient,
  settings: SlackSettings,
  { channel, ts }: { channel: string; ts: string },
  requests: readonly ApprovalDetails[],
): Promise<string[]> {
  const message = await fetchMessage(client, channel, ts);
  const present = (message?.blocks ?? []) as MessageBlock[];
  const ids = [...new Set(present.flatMap((block) => blockOwner(block.block_id)?.requestId ?? []))];
  const common = present.filter((block) => blockOwner(block.block_id) === undefined);
  const parts = ids.map((requestId) => {
    const shown = present.filter((block) => blockOwner(block.block_id)?.requestId === requestId);
    const wasSettled = shown.some((block) => blockOwner(block.block_id)?.isOutcome);
    const request = requests.find((each) => each.requestId === requestId);
    const rendered = request && requestBlocks(request, settings, ids.length).blocks;
    const isSettled = wasSettled || request?.settled !== undefined;
    const blocks = wasSettled ? asWritten(shown, rendered) : (rendered ?? shown);
    return { requestId, isSettled, blocks, request, isNews: !wasSettled && idsOf(blocks) !== idsOf(shown) };
  });
  const settledIds = parts.filter(({ isSettled }) => isSettled).map(({ requestId }) => requestId);
  // No block has changed, or there is none, because the message was deleted.
  if (parts.every(({ isNews }) => !isNews)) return settledIds;
  const update = {
    channel,
    ts,
    text: titleOf(parts.flatMap(({ request }) => request ?? [])),
    blocks: [...parts.flatMap(({ blocks }) => blocks), ...common],
    metadata: message?.metadata,
    parse: 'none',
  };
  await orSlackProblem(client.apiCall('chat.update', update), 'chat.update', channel);
  return settledIds;
}

/** Joins the ids of blocks. The result changes if the card of a request changes, or if the request is settled. */
function idsOf(blocks: readonly MessageBlock[]): string {
  return blocks.map(({ block_id: id }) => id).join(' ');
}

/** Returns `rendered` if `own` differs only in the entities that Slack may return for `&`, `<` and `>`. */
function asWritten(own: MessageBlock[], rendered: MessageBlock[] | undefined): MessageBlock[] {
  const read = textsOf(own).map((text) =>
    text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  );
  return rendered !== undefined && JSON.stringify(read) === JSON.stringify(textsOf(rendered)) ? rendered : own;
}

function textsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    name === 'text' && typeof each === 'string' ? [each] : textsOf(each),
  );
}

async function fetchMessage(client: WebClient, channel: string, ts: string) {
  const range = { channel, latest: ts, oldest: ts, inclusive: true, limit: 1, include_all_metadata: true };
  const reading = client.conversations.history(range);
  const { messages = [] } = await orSlackProblem(reading, 'conversations.history', channel);
  return messages.find((each) => each.ts === ts);
}
