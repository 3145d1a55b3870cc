import type { Payload } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { unreadEncoding } from '../../core/base/undecodable.ts';
import type { Session } from '../server/session.ts';
import { decodePayloads } from '../server/read-payload.ts';

type Event = temporal.api.history.v1.IHistoryEvent;

/** How many payloads a codec gets at once. */
const batchSize = 200;

/** Decodes all payloads of the events in place. Returns the number of those that this client cannot decode. */
export function decodeHistory(session: Session, events: readonly Event[]): Promise<number> {
  return decodeWith((payloads) => decodePayloads(session, payloads), events);
}

/**
 * Decodes all payloads of the events in place by `decode`. Returns the number of payloads that `decode` cannot decode.
 */
export async function decodeWith(
  decode: (payloads: Payload[]) => Promise<Payload[]>,
  events: readonly Event[],
): Promise<number> {
  const found = events.flatMap((event) => payloadsIn(event));
  let unread = 0;
  for (let start = 0; start < found.length; start += batchSize) {
    const batch = found.slice(start, start + batchSize);
    for (const [index, { metadata, data }] of (await decode(batch)).entries()) {
      Object.assign(batch[index]!, { metadata, data });
      if (Buffer.from(metadata?.['encoding'] ?? []).toString() === unreadEncoding) unread += 1;
    }
  }
  return unread;
}

/** All payloads in a value, except search attributes and headers, which no codec encodes. */
function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  if (isPayload(value)) return [value];
  const members = Object.entries(value).filter(([name]) => name !== 'searchAttributes' && name !== 'header');
  return members.flatMap(([, member]) => payloadsIn(member));
}

function isPayload(value: object): value is Payload {
  const { metadata, data } = value as Payload;
  return typeof metadata === 'object' && metadata !== null && (data == null || ArrayBuffer.isView(data));
}
