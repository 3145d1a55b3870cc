import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, vi, test } from 'vitest';
import { type Payload, defaultPayloadConverter } from '@temporalio/common';
import { EncryptionCodec, type EncryptionKey } from '../../src/codec.ts';
import { parseKeys } from '../../src/codec/encryption-codec.ts';
import { commandsOf } from '../support/page-commands.ts';
import { growth, squareGrowth } from '../support/processor-time.ts';
import { keyIdName, unreadEncoding } from '../../src/core/base/undecodable.ts';

const key = (id: string): { id: string; key: Uint8Array } => ({ id, key: randomBytes(32) });
const [k1, k2] = [key('k1'), key('k2')];
const codecWith = (...keys: EncryptionKey[]): EncryptionCodec => new EncryptionCodec({ keys });
const plain = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const seal = async (codec: EncryptionCodec, value: unknown): Promise<Payload> =>
  (await codec.encode([plain(value)]))[0]!;
const open = async (codec: EncryptionCodec, payload: Payload): Promise<unknown> =>
  defaultPayloadConverter.fromPayload((await codec.decode([payload]))[0]!);
const metadataOf = ({ metadata }: Payload): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString()]));
const withMetadata = (payload: Payload, name: string, text: string): Payload => ({
  ...payload,
  metadata: { ...payload.metadata, [name]: Buffer.from(text) },
});

describe('encode and decode', () => {
  test('give the value and the metadata back, in order', async () => {
    const codec = codecWith(k1);
    const values = [{ to: 'ann', amount: 5 }, null, 'x'.repeat(100_000), [1, 2]];
    const marked = values.map((value) => withMetadata(plain(value), 'mark', 'ours'));
    const read = await codec.decode(await codec.encode(marked));
    expect(read.map((payload) => defaultPayloadConverter.fromPayload(payload))).toEqual(values);
    expect(read.map(metadataOf)).toEqual(marked.map(metadataOf));
  });

  test('nothing of the value or its metadata is in clear text, and equal values differ', async () => {
    const codec = codecWith(k1);
    const [one, other] = [await seal(codec, 'pay ann'), await seal(codec, 'pay ann')];
    expect(Buffer.from(one.data!).includes('pay ann')).toBe(false);
    expect(one.data).not.toEqual(other.data);
    expect(metadataOf(one)).toEqual({
      encoding: 'binary/encrypted',
      'encryption-key-id': 'k1',
      'encryption-key-fingerprint': expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });

  test('what is not encrypted passes unchanged', async () => {
    expect(await open(codecWith(k1), plain('clear'))).toBe('clear');
  });

  test('rotation: the first key encrypts, the others still decrypt', async () => {
    const old = await seal(codecWith(k1), 'old');
    const rotated = codecWith(k2, k1);
    expect(await open(rotated, old)).toBe('old');
    expect(metadataOf(await seal(rotated, 'new'))['encryption-key-id']).toBe('k2');
  });
});

describe('a payload that cannot be decrypted', () => {
  const flipped = (payload: Payload, at: number): Payload => {
    const data = Buffer.from(payload.data!);
    data[at < 0 ? data.length + at : at]! ^= 1;
    return { ...payload, data };
  };
  const damaged = 'binary/damaged';

  test.each<[string, (payload: Payload) => Payload]>([
    ['its initialisation vector was changed', (payload) => flipped(payload, 0)],
    ['its ciphertext was changed', (payload) => flipped(payload, 20)],
    ['its tag was changed', (payload) => flipped(payload, -1)],
    ['it is too short', (payload) => ({ ...payload, data: payload.data!.slice(0, 27) })],
    ['it names no key', (payload) => withMetadata(payload, 'encryption-key-id', '')],
    ['it names what cannot be a key', (payload) => withMetadata(payload, 'encryption-key-id', 'k 1')],
    ['it is empty', ({ metadata }) => ({ metadata })],
  ])('%s: damaged for ever, so it is read as undecodable', async (_name, change) => {
    const codec = codecWith(k1);
    const [read] = await codec.decode([change(await seal(codec, 'pay'))]);
    expect(metadataOf(read!)).toEqual({ encoding: damaged });
  });

  test('it names another key of the ring: damaged, because the id is authenticated', async () => {
    const twin = { id: 'k2', key: k1.key };
    const [read] = await codecWith(k1, twin).decode([
      withMetadata(await seal(codecWith(k1), 'pay'), 'encryption-key-id', 'k2'),
    ]);
    expect(metadataOf(read!)).toEqual({ encoding: damaged });
  });

  test('its key is gone: damaged', async () => {
    const [read] = await codecWith(k2, { id: 'k1', key: null }).decode([await seal(codecWith(k1), 'pay')]);
    expect(metadataOf(read!)).toEqual({ encoding: damaged });
  });

  test('its key is unknown: an error that names it, so that a worker retries', async () => {
    await expect(codecWith(k2).decode([await seal(codecWith(k1), 'pay')])).rejects.toThrow(
      "a payload is encrypted with key 'k1', which is not known here",
    );
  });

  test('its key is another one under the same id: not read here, and perhaps by another worker', async () => {
    const [read] = await codecWith(key('k1')).decode([await seal(codecWith(k1), 'pay')]);
    expect(metadataOf(read!)).toEqual({ encoding: unreadEncoding, [keyIdName]: 'k1' });
  });
});

describe('where keys come from', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-keys-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const lineOf = ({ id, key }: EncryptionKey): string => `${id}:${key && Buffer.from(key).toString('base64')}`;

  test('a file, read again for an unknown key', async () => {
    const file = join(folder, 'keys');
    writeFileSync(file, `# the present key\n${lineOf(k1)}\n\nk0:gone\n`);
    const codec = new EncryptionCodec({ keys: { file } });
    expect(await open(codec, await seal(codecWith(k1), 1))).toBe(1);
    writeFileSync(file, `${lineOf(k2)}\n${lineOf(k1)}\n`);
    const now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now + 6_000);
    expect(await open(codec, await seal(codecWith(k2), 2))).toBe(2);
    clock.mockRestore();
  });

  test('the command of docs/encryption.md makes such a file', async () => {
    const [command] = commandsOf('docs/encryption.md').filter(({ line }) => line.startsWith('node '));
    execFileSync('bash', ['-c', command!.line], { cwd: folder });
    const codec = new EncryptionCodec({ keys: { file: join(folder, 'keys') } });
    expect(metadataOf(await seal(codec, 1))['encryption-key-id']).toBe('2030-01');
  });

  test('a function', async () => {
    const codec = new EncryptionCodec({ keys: () => Promise.resolve([k2, k1]) });
    expect(await open(codec, await seal(codecWith(k1), 1))).toBe(1);
  });

  test('the environment', async () => {
    process.env['COUNTERSIGN_KEYS'] = `${lineOf(k2)},${lineOf(k1)}`;
    try {
      expect(metadataOf(await seal(new EncryptionCodec(), 1))['encryption-key-id']).toBe('k2');
    } finally {
      delete process.env['COUNTERSIGN_KEYS'];
    }
  });

  test.each<[string, () => EncryptionCodec, RegExp]>([
    ['none', () => new EncryptionCodec(), /^There are no encryption keys: set COUNTERSIGN_KEY_FILE or/],
    ['an empty list', () => codecWith(), /^keys: the first key encrypts, so it must be there\.$/],
    ['a first key that is gone', () => codecWith({ id: 'k', key: null }), /first key encrypts/],
    ['a short key', () => codecWith({ id: 'k', key: randomBytes(16) }), /^keys: key 'k' has 16 bytes, not 32\.$/],
    ['an id twice', () => codecWith(k1, k1), /^keys: two keys have the id 'k1'\.$/],
    ['an id with a space', () => codecWith(key('k 1')), /^keys: a key id has 1 to 64 characters/],
    [
      'no file',
      () => new EncryptionCodec({ keys: { file: '/nowhere' } }),
      /^The encryption keys in \/nowhere cannot be read: there is no such file\.$/,
    ],
  ])('%s: one sentence', (_name, make, sentence) => {
    expect(make).toThrow(expect.objectContaining({ code: 'internal', message: expect.stringMatching(sentence) }));
  });

  test.each([
    ['is no key', 'k2:c2VjcmV0'],
    ['has more than a key', `${lineOf(k2)}:2030`],
    ['has more than a lost key', 'k2:gone:2030'],
  ])('a line that %s: its place, and nothing of its content', (_what, line) => {
    const file = join(folder, 'broken');
    writeFileSync(file, `${lineOf(k1)}\n${line}\n`);
    expect(() => new EncryptionCodec({ keys: { file } })).toThrow(
      `${file}, entry 2: write 'id:key', with a key of 32 bytes in Base64, or 'id:gone'.`,
    );
  });
});

test('a file of many keys takes as much longer as it is longer', () => {
  const keys = (size: number) =>
    Array.from({ length: size }, (_, index) => `k${index}:${index === 0 ? 'A'.repeat(43) : 'gone'}`);
  expect(growth((size) => () => parseKeys(keys(size).join('\n'), 'a'), 1_000)).toBeLessThan(squareGrowth);
});
