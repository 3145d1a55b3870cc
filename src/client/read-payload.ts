import type { Payload } from '@temporalio/common';
import type { Session } from './connect.ts';

/** Decodes payloads that the SDK's client hands out as the server keeps them. What cannot be decoded reads as unread. */
export async function decodePayloads({ client }: Session, payloads: Payload[]): Promise<Payload[]> {
  let decoded = payloads;
  for (const codec of client.options.loadedDataConverter.payloadCodecs.toReversed()) {
    decoded = await codec.decode(decoded);
  }
  return decoded;
}

/** Reads such payloads. Never throws: a value that cannot be read is an `Undecodable`. */
export async function readPayloads(session: Session, payloads: Payload[]): Promise<unknown[]> {
  const { payloadConverter } = session.client.options.loadedDataConverter;
  const decoded = await decodePayloads(session, payloads);
  return decoded.map((payload) => payloadConverter.fromPayload<unknown>(payload));
}

export async function readPayload(session: Session, payload: Payload): Promise<unknown> {
  return (await readPayloads(session, [payload]))[0];
}
