import type { WebClient } from '@slack/web-api';
import type { Json } from '../../core/base/tool-call.ts';
import { blockOwner } from './message-blocks.ts';

/** What `notify` returns: the messages, and the beginnings of the ids of their requests. */
export interface PostedMessages {
  channel: string;
  messages: { ts: string; of: string }[];
}

const idLength = 8;

export function sentMessage(ts: string, requestIds: readonly string[]): PostedMessages['messages'][number] {
  return { ts, of: requestIds.map((each) => each.slice(0, idLength)).join(' ') };
}

/** The message of a request; undefined if there is none, or the value is not of this channel's making. */
export function postedMessage(sent: Json | undefined, requestId: string): { channel: string; ts: string } | undefined {
  const { channel, messages } = (sent ?? {}) as Partial<PostedMessages>;
  if (typeof channel !== 'string' || !Array.isArray(messages)) return undefined;
  const found = messages.find(({ of }) => of.split(' ').includes(requestId.slice(0, idLength)));
  return found && { channel, ts: found.ts };
}

/** The type of the metadata by which a message is found again. */
export const metadataType = 'countersign_request';

/** How many pages of messages are looked through, and how many messages one has. */
const mostPages = 5;
const pageSize = 200;

/** The clocks of Slack and of a worker may differ. */
const marginMs = 5 * 60_000;

/** Messages about requests are not older. */
export function oldestOf(requests: readonly { requestedAt: string }[]): number {
  return Math.min(...requests.map(({ requestedAt }) => Date.parse(requestedAt))) - marginMs;
}

/** Where messages of this app are looked for: in a channel, or in the thread of `threadOf`, since `oldestMs`. */
interface Place {
  channel: string;
  oldestMs: number;
  threadOf?: string;
}

/** The messages that this app has sent to a place: their keys and timestamps. */
export async function sentSince(client: WebClient, place: Place): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { ts, key } of ownMessages(client, place)) found.set(key, ts);
  return found;
}

/** The message that shows a request, by its blocks; undefined if this app has sent none to the place. */
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

/** The newest first. Metadata of other apps is not believed. */
async function* ownMessages(
  client: WebClient,
  { channel, oldestMs, threadOf }: Place,
): AsyncGenerator<{ ts: string; key: string; blocks: readonly { block_id?: string }[] }> {
  const { bot_id: ours } = await client.auth.test();
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const options = {
      channel,
      include_all_metadata: true,
      limit: pageSize,
      oldest: (oldestMs / 1_000).toFixed(6),
      ...(cursor !== undefined && { cursor }),
    };
    const { messages = [], response_metadata: more } = await (threadOf === undefined
      ? client.conversations.history(options)
      : client.conversations.replies({ ...options, ts: threadOf }));
    for (const { ts, bot_id: sender, metadata, blocks = [] } of messages) {
      const key =
        metadata?.event_type === metadataType ? (metadata.event_payload as { key?: unknown })?.key : undefined;
      const isOurs = sender !== undefined && sender === ours && typeof key === 'string';
      if (ts !== undefined && isOurs) yield { ts, key, blocks };
    }
    cursor = more?.next_cursor;
    if (cursor === undefined || cursor === '') break;
  }
}
