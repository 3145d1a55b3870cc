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

/** Reads one such payload. Never throws: a value that cannot be read is an `Undecodable`. */
export async function readPayload(session: Session, payload: Payload): Promise<unknown> {
  const [decoded] = await decodePayloads(session, [payload]);
  return session.client.options.loadedDataConverter.payloadConverter.fromPayload(decoded!);
}
