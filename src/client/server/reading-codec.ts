import type { Payload, PayloadCodec } from '@temporalio/common';
import { unreadPayload } from '../../connection/unread-payload.ts';
import { keyIdName, unreadEncoding } from '../../core/base/undecodable.ts';

/** The encodings that a converter reads without a codec, and ours for what is unread already. */
const readEncodings = ['binary/null', 'binary/plain', 'json/plain', 'json/protobuf', 'binary/protobuf', unreadEncoding];

type Context = Parameters<PayloadCodec['decode']>[1];

/**
 * The codecs of a client as one. Temporal's client throws when a codec does, or hands out what none has decoded: a
 * decision would count and be reported as failed. This codec replaces each payload that cannot be decoded with one that
 * reads as undecodable (I5c).
 */
export class ReadingCodec implements PayloadCodec {
  readonly #codecs: readonly PayloadCodec[];

  constructor(codecs: readonly PayloadCodec[]) {
    this.#codecs = codecs;
  }

  async encode(payloads: Payload[], context?: Context): Promise<Payload[]> {
    let encoded = payloads;
    for (const codec of this.#codecs) encoded = await codec.encode(encoded, context);
    return encoded;
  }

  async decode(payloads: Payload[], context?: Context): Promise<Payload[]> {
    const decoded = await this.#decodeAll(payloads, context).catch(() => undefined);
    if (decoded !== undefined) return decoded.map((each, index) => readable(each, payloads[index]));
    // One of several failed: the others are read.
    if (payloads.length === 1) return [unreadPayload('encoded', keyIdOf(payloads[0]))];
    return Promise.all(payloads.map(async (payload) => (await this.decode([payload], context))[0]!));
  }

  async #decodeAll(payloads: Payload[], context: Context): Promise<Payload[]> {
    let decoded = payloads;
    for (const codec of this.#codecs.toReversed()) decoded = await codec.decode(decoded, context);
    return decoded;
  }
}

function readable(payload: Payload, encoded: Payload | undefined): Payload {
  const name = textOf(payload, 'encoding');
  const isOfOtherKey = name === unreadEncoding && Buffer.from(payload.data ?? []).toString() === 'encoded';
  if (!isOfOtherKey && (name === '' || readEncodings.includes(name))) return payload;
  return unreadPayload('encoded', keyIdOf(encoded));
}

function keyIdOf(payload: Payload | undefined): string | undefined {
  const id = textOf(payload, keyIdName);
  return /^[\w.-]{1,64}$/.test(id) ? id : undefined;
}

function textOf(payload: Payload | undefined, name: string): string {
  return Buffer.from(payload?.metadata?.[name] ?? []).toString();
}
