import { createHash, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Payload, PayloadCodec, DataConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { checkCallOptions } from '../text/check-call-options.ts';
import { ProblemError } from '../core/base/problem.ts';
import { keyIdName } from '../core/base/undecodable.ts';
import { unreadPayload } from '../connection/server-error.ts';
import { modulePath } from '../connection/module-path.ts';
import { readFault } from '../text/read-fault.ts';

/** A key of AES-256, with an id that is stored in clear text beside the ciphertext. */
export interface EncryptionKey {
  /** The id: 1 to 64 characters of `A-Z a-z 0-9 . _ -`. Never reuse it for another key. */
  id: string;
  /** The 32 bytes of the key. `null` for a lost key: its payloads then count as damaged, and no worker waits for it. */
  key: Uint8Array | null;
}

/**
 * The keys, a file of keys, or a function that returns them. The first key encrypts, and all keys decrypt. When a
 * payload names an unknown key, the codec reads the file or calls the function again, so that a new key needs no
 * restart. It does so at most once in 5 seconds.
 */
export type KeySource = readonly EncryptionKey[] | { file: string } | (() => KeyList | Promise<KeyList>);
type KeyList = readonly EncryptionKey[];

const keyBytes = 32;
/** Matches every key id that this codec writes. A payload with another id counts as damaged. */
const idShape = /^[\w.-]{1,64}$/;
const rereadMs = 5_000;

/** Returns the file in `COUNTERSIGN_KEY_FILE`, else the keys in `COUNTERSIGN_KEYS`. Throws `internal` without both. */
function keysFromEnvironment(environment: NodeJS.ProcessEnv = process.env): KeySource {
  const { COUNTERSIGN_KEY_FILE: file = '', COUNTERSIGN_KEYS: text = '' } = environment;
  if (file !== '') return { file };
  if (text !== '') return parseKeys(text, 'COUNTERSIGN_KEYS');
  throw invalidKeys('There are no encryption keys: set COUNTERSIGN_KEY_FILE or COUNTERSIGN_KEYS, or pass keys.');
}

/**
 * Reads pairs `id:key`, one on each line or separated by commas. The key is 32 bytes in Base64, or `gone` for a lost
 * key. Skips empty entries and those that begin with `#`. Throws `internal` with the place, never with a key.
 */
export function parseKeys(text: string, place: string): KeyList {
  const entries = text.split(/[\n,]/).map((entry) => entry.trim());
  const keys = entries.flatMap((entry, index): EncryptionKey[] => {
    if (entry === '' || entry.startsWith('#')) return [];
    const [id = '', written = '', ...rest] = entry.split(':').map((part) => part.trim());
    if (rest.length === 0 && written === 'gone') return [{ id, key: null }];
    const key = /^[A-Za-z0-9+/]{43}=?$/.test(written) ? Buffer.from(written, 'base64') : undefined;
    if (rest.length === 0 && key !== undefined) return [{ id, key }];
    throw invalidKeys(`${place}, entry ${index + 1}: write 'id:key', with a key of 32 bytes in Base64, or 'id:gone'.`);
  });
  return checkKeys(keys, place);
}

/** Returns the keys. Throws a `ProblemError` with the place if an id or a key is invalid, or the first key is lost. */
function checkKeys(keys: KeyList, place: string): KeyList {
  const ids = new Set<string>();
  for (const [index, entry] of keys.entries()) {
    checkCallOptions(`${place}[${index}]`, entry, { id: true, key: true }, 'internal');
    const { id, key } = entry;
    if (!idShape.test(id)) throw invalidKeys(`${place}: a key id has 1 to 64 characters of A-Z a-z 0-9 . _ -`);
    if (key !== null && key.length !== keyBytes)
      throw invalidKeys(`${place}: key '${id}' has ${key.length} bytes, not 32.`);
    if (ids.has(id)) throw invalidKeys(`${place}: two keys have the id '${id}'.`);
    ids.add(id);
  }
  if ((keys[0]?.key ?? null) === null) throw invalidKeys(`${place}: the first key encrypts, so it must be there.`);
  return keys;
}

/** The keys of a source. A list or file is checked at once, so that its mistakes show before the first payload. */
class KeyRing {
  readonly #source: KeySource;
  #keys: KeyList | undefined;
  #readAtMs = 0;

  constructor(source: KeySource) {
    this.#source = source;
    if (Array.isArray(source)) this.#keys = checkKeys(source, 'keys');
    else if (typeof source !== 'function') {
      checkCallOptions('keys', source, { file: true }, 'internal');
      this.#keys = readKeyFile((source as { file: string }).file);
    }
  }

  async first(): Promise<{ id: string; key: Uint8Array }> {
    const [first] = await this.#all();
    return first as { id: string; key: Uint8Array };
  }

  /** Returns the key with this id; undefined if it is unknown even after the source was read again. */
  async find(id: string): Promise<EncryptionKey | undefined> {
    const known = (await this.#all()).find((key) => key.id === id);
    const wasJustRead = Date.now() - this.#readAtMs < rereadMs;
    if (known !== undefined || Array.isArray(this.#source) || wasJustRead) return known;
    this.#keys = undefined;
    return (await this.#all()).find((key) => key.id === id);
  }

  /** Returns all keys. Reads the source if there are none yet, or after `find` has dropped them. */
  async #all(): Promise<KeyList> {
    if (this.#keys !== undefined) return this.#keys;
    const source = this.#source;
    this.#readAtMs = Date.now();
    if (typeof source === 'function') this.#keys = checkKeys(await source(), 'the function that gives the keys');
    else this.#keys = 'file' in source ? readKeyFile(source.file) : checkKeys(source, 'keys');
    return this.#keys;
  }
}

function readKeyFile(file: string): KeyList {
  try {
    return parseKeys(readFileSync(file, 'utf8'), file);
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    throw invalidKeys(`The encryption keys in ${file} cannot be read: ${readFault(error)}.`);
  }
}

/** Returns a digest of the key. By it, a reader notices that its own key of the same id is another key. */
function fingerprintOf(key: Uint8Array): string {
  return createHash('sha256').update('countersign key').update(key).digest('hex').slice(0, 16);
}

function invalidKeys(message: string): ProblemError {
  return new ProblemError({ code: 'internal', message });
}

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

const encoding = 'binary/encrypted';
/** The encoding of the mark for a damaged payload. No converter knows this encoding, so the mark is undecodable. */
const damagedEncoding = 'binary/damaged';
const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** Options of `EncryptionCodec`. */
export interface EncryptionCodecOptions {
  /** The keys. Default: the file that `COUNTERSIGN_KEY_FILE` names, else the keys in `COUNTERSIGN_KEYS`. */
  keys?: KeySource;
}

/**
 * A payload codec that encrypts arguments, results, messages and memos with AES-256-GCM. Workflow ids, types, task
 * queues, search attributes and headers stay in clear text.
 *
 * Use the same codec on workers and clients, as `dataConverter: { payloadCodecs: [codec] }`. A payload that is not
 * encrypted passes unchanged, so a namespace can start to encrypt while runs are open. A payload of an unknown key is
 * an error: a worker retries until it has the key. Throws `internal` for invalid keys and for an unknown option.
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
      // The key's id is authenticated, too, so a ciphertext cannot claim the id of another key.
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

  /** Decrypts a payload, or returns a mark for a damaged one. Throws for an unknown key, so that Temporal retries. */
  async #open(payload: Payload): Promise<Payload> {
    if (metadataText(payload, 'encoding') !== encoding) return payload;
    const id = metadataText(payload, keyIdName);
    if (!idShape.test(id)) return damaged();
    const found = await this.#ring.find(id);
    // The payload may be sound: another worker may have the key, or this worker may get it. So it gets no mark.
    if (found === undefined) throw new Error(`a payload is encrypted with key '${id}', which is not known here`);
    if (found.key === null) return damaged();
    // Two keys have this id, and this process has the other one. A process with the right key can still read it.
    if (metadataText(payload, 'encryption-key-fingerprint') !== fingerprintOf(found.key))
      return unreadPayload('encoded', id);
    return unsealed(payload.data ?? new Uint8Array(), id, found.key) ?? damaged();
  }
}

/** Decrypts data, which is an IV, a ciphertext and an authentication tag; undefined if the key does not open it. */
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
 * Returns the data converter of an encrypted namespace: an `EncryptionCodec`, and a failure converter that passes also
 * the messages of failures through the codec. Use it on workers and clients. Throws as `EncryptionCodec` does.
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
