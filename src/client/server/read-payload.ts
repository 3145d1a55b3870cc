import type { Payload } from '@temporalio/common';
import { plainPayloadConverter } from '../../codec/plain-payload-converter.ts';
import { Undecodable, unreadEncoding } from '../../core/base/undecodable.ts';
import type { Session } from './session.ts';

/** Decodes payloads from calls in which the SDK's client does not decode. Marks those that no codec decodes. */
export async function decodePayloads({ client }: Session, payloads: Payload[]): Promise<Payload[]> {
  let decoded = payloads;
  for (const codec of client.options.loadedDataConverter.payloadCodecs.toReversed()) {
    decoded = await codec.decode(decoded);
  }
  return decoded;
}

/** Reads payloads. Never throws: a value that cannot be read is an `Undecodable`. */
export async function readPayloads(session: Session, payloads: Payload[]): Promise<unknown[]> {
  const decoded = await decodePayloads(session, payloads);
  const read = valueReader(session);
  return decoded.map((payload) => read(payload));
}

export async function readPayload(session: Session, payload: Payload): Promise<unknown> {
  return (await readPayloads(session, [payload]))[0];
}

/** Reads a decoded payload with the payload converter that runs use. Never throws. */
export type ReadValue = (payload: Payload) => unknown;

export function valueReader({ client }: Session): ReadValue {
  const { payloadConverter } = client.options.loadedDataConverter;
  return (payload) => payloadConverter.fromPayload(payload);
}

/** Reads a payload from a file, without a client. Never throws. */
export function readValue(payload: Payload): unknown {
  const { metadata, data } = payload;
  const unread = Buffer.from(metadata?.['encoding'] ?? []).toString() === unreadEncoding;
  try {
    if (!unread) return plainPayloadConverter.fromPayload(payload);
  } catch {
    // The payload is not JSON.
  }
  return new Undecodable(data?.length ?? 0, 'it cannot be read here', { unread });
}
