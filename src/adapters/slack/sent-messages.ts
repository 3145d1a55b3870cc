import type { WebClient } from '@slack/web-api';
import type { Json } from '../../core/base/tool-call.ts';

/** What `notify` returns: the messages, and the beginnings of the ids of their requests. */
export interface Sent {
  channel: string;
  messages: { ts: string; of: string }[];
}

const idLength = 8;

export function sentMessage(ts: string, requestIds: readonly string[]): Sent['messages'][number] {
  return { ts, of: requestIds.map((each) => each.slice(0, idLength)).join(' ') };
}

/** The message of a request; undefined if there is none, or the value is not of this channel's making. */
export function messageOf(sent: Json | undefined, requestId: string): { channel: string; ts: string } | undefined {
  const { channel, messages } = (sent ?? {}) as Partial<Sent>;
  if (typeof channel !== 'string' || !Array.isArray(messages)) return undefined;
  const found = messages.find(({ of }) => of.split(' ').includes(requestId.slice(0, idLength)));
  return found && { channel, ts: found.ts };
}

/** The type of the metadata by which a message is found again. */
export const metadataType = 'countersign_request';

/** How many pages of messages are looked through, and how many messages one has. */
const mostPages = 5;
const pageSize = 200;

/**
 * The messages that this app has sent to a channel since `oldestMs`, or into the thread of `threadOf`: their keys and
 * timestamps. Metadata of other apps is not believed.
 */
export async function sentSince(
  client: WebClient,
  { channel, oldestMs, threadOf }: { channel: string; oldestMs: number; threadOf?: string },
): Promise<Map<string, string>> {
  const { bot_id: ours } = await client.auth.test();
  const found = new Map<string, string>();
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
    for (const { ts, bot_id: sender, metadata } of messages) {
      const key =
        metadata?.event_type === metadataType ? (metadata.event_payload as { key?: unknown })?.key : undefined;
      if (ts !== undefined && sender !== undefined && sender === ours && typeof key === 'string') found.set(key, ts);
    }
    cursor = more?.next_cursor;
    if (cursor === undefined || cursor === '') break;
  }
  return found;
}
