import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec, DataConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { checkCallOptions } from '../text/check-call-options.ts';
import { keyIdName } from '../core/base/undecodable.ts';
import { unreadPayload } from '../connection/server-error.ts';
import { KeyRing, type KeySource, fingerprintOf, idShape, keysFromEnvironment } from './key-ring.ts';
import { modulePath } from '../connection/module-path.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

const encoding = 'binary/encrypted';
/**
 * The encoding of a payload that its own key does not open. No converter knows it, so a reader treats it as
 * undecodable.
 */
const damagedEncoding = 'binary/damaged';
const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** Options of `EncryptionCodec`. */
export interface EncryptionCodecOptions {
  /** Default: the file that `COUNTERSIGN_KEY_FILE` names, else the keys in `COUNTERSIGN_KEYS`. */
  keys?: KeySource;
}

/**
 * A payload codec that encrypts with AES-256-GCM: arguments, results, messages and memos reach Temporal's server only as
 * ciphertext. Workflow ids, types, task queues, search attributes and headers stay in clear text.
 *
 * Give it to workers and clients alike, as `dataConverter: { payloadCodecs: [codec] }`. What is not encrypted passes
 * unchanged, so a namespace can change over while runs are open. A payload that names an unknown key is an error: a
 * worker retries until it has the key. Throws `internal` for keys that cannot be used, and
 * for an unknown option.
 *
 * @example
 * ```ts
 * import { randomBytes } from 'node:crypto';
 * import { EncryptionCodec } from 'countersign/codec';
 *
 * const codec = new EncryptionCodec({ keys: [{ id: '2030-01', key: randomBytes(32) }] });
 * const [sealed] = await codec.encode([{ metadata: {}, data: Buffer.from('"pay ann"') }]);
 * console.log(String(sealed?.metadata?.['encoding'])); // binary/encrypted
 * const [opened] = await codec.decode([sealed!]);
 * console.log(String(opened?.data)); // "pay ann"
 * ```
 */
export class EncryptionCodec implements PayloadCodec {
  readonly #ring: KeyRing;

  constructor(options: EncryptionCodecOptions = {}) {
    checkCallOptions('EncryptionCodec', options, { keys: true }, 'internal');
    this.#ring = new KeyRing(options.keys ?? keysFromEnvironment());
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    const { id, key } = await this.#ring.first();
    return payloads.map((payload) => {
      const iv = randomBytes(ivBytes);
      // The key's id is authenticated, too: a ciphertext cannot pass for that of another key.
      const sealing = createCipheriv(cipher, key, iv).setAAD(Buffer.from(id));
      const sealed = [sealing.update(PayloadMessage.encode(payload).finish()), sealing.final()];
      const metadata = { encoding, [keyIdName]: id, 'encryption-key-fingerprint': fingerprintOf(key) };
      return {
        metadata: Object.fromEntries(Object.entries(metadata).map(([name, text]) => [name, Buffer.from(text)])),
        data: Buffer.concat([iv, ...sealed, sealing.getAuthTag()]),
      };
    });
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.all(payloads.map((payload) => this.#open(payload)));
  }

  /**
   * The decrypted payload; a payload of another encoding as it is. A mark in place of one that is damaged or that no
   * key can open. Throws for an unknown key id, so that the task is retried.
   */
  async #open(payload: Payload): Promise<Payload> {
    if (metadataText(payload, 'encoding') !== encoding) return payload;
    const id = metadataText(payload, keyIdName);
    if (!idShape.test(id)) return damaged();
    const found = await this.#ring.find(id);
    // Another worker may have the key, or this one later: only a payload known to be damaged is marked so (I5c).
    if (found === undefined) throw new Error(`a payload is encrypted with key '${id}', which is not known here`);
    if (found.key === null) return damaged();
    // No id belongs to two keys, so this one never opens it. A payload that only a worker can have written waits for
    // another worker.
    if (metadataText(payload, 'encryption-key-fingerprint') !== fingerprintOf(found.key))
      return unreadPayload('encoded');
    return unsealed(payload.data ?? new Uint8Array(), id, found.key) ?? damaged();
  }
}

/** Undefined for data that was not encrypted with this key. */
function unsealed(data: Uint8Array, id: string, key: Uint8Array): Payload | undefined {
  if (data.length < ivBytes + tagBytes) return undefined;
  const [iv, sealed, tag] = [data.slice(0, ivBytes), data.slice(ivBytes, -tagBytes), data.slice(-tagBytes)];
  try {
    const opening = createDecipheriv(cipher, key, iv).setAAD(Buffer.from(id)).setAuthTag(tag);
    const { metadata, data } = PayloadMessage.decode(Buffer.concat([opening.update(sealed), opening.final()]));
    return { metadata, data };
  } catch {
    return undefined;
  }
}

function damaged(): Payload {
  return { metadata: { encoding: Buffer.from(damagedEncoding) }, data: new Uint8Array() };
}

function metadataText({ metadata }: Payload, name: string): string {
  return Buffer.from(metadata?.[name] ?? []).toString();
}

/**
 * The data converter of an encrypted namespace: `EncryptionCodec`, and a failure converter that lets it encrypt the
 * messages of failures too. Give it to workers and clients alike. Throws as `EncryptionCodec` does.
 *
 * @example
 * ```ts
 * import { randomBytes } from 'node:crypto';
 * import { createClient } from 'countersign/client';
 * import { encrypted } from 'countersign/codec';
 *
 * const dataConverter = encrypted({ keys: [{ id: '2030-01', key: randomBytes(32) }] });
 * const client = await createClient({ dataConverter });
 * const [server] = await client.check();
 * console.log(server?.isOk); // true
 * await client.close();
 * ```
 */
export function encrypted(options: EncryptionCodecOptions = {}): DataConverter {
  return {
    payloadCodecs: [new EncryptionCodec(options)],
    failureConverterPath: modulePath('workflows/sandbox/failure-converter'),
  };
}
