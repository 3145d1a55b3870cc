import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Payload, defaultPayloadConverter } from '@temporalio/common';
import { EncryptionCodec, RemoteCodec } from '../../src/codec.ts';
import { type CodecServer, startCodecServer } from './test-codec-server.ts';

const codec = new EncryptionCodec({ keys: [{ id: 'k1', key: randomBytes(32) }] });
const payloads: Payload[] = ['pay', null].map((value) => defaultPayloadConverter.toPayload(value));

let server: CodecServer;
beforeAll(async () => {
  server = await startCodecServer(codec, 'Bearer one');
});
afterAll(() => server.close());

test('a codec server encodes and decodes, and is told the namespace', async () => {
  const remote = new RemoteCodec({ endpoint: `${server.endpoint}/`, namespace: 'prod', authorization: 'Bearer one' });
  const encoded = await remote.encode(payloads);
  expect((await codec.decode(encoded)).map((each) => defaultPayloadConverter.fromPayload(each))).toEqual(['pay', null]);
  const decoded = await remote.decode(encoded);
  expect(decoded.map((each) => defaultPayloadConverter.fromPayload(each))).toEqual(['pay', null]);
  expect(server.calls).toEqual([
    { path: '/encode', namespace: 'prod', authorization: 'Bearer one' },
    { path: '/decode', namespace: 'prod', authorization: 'Bearer one' },
  ]);
});

test.each<[string, () => RemoteCodec, RegExp]>([
  [
    'the wrong authorization',
    () => new RemoteCodec({ endpoint: server.endpoint, namespace: 'prod', authorization: 'no' }),
    /\/decode answers with status 401$/,
  ],
  [
    'nobody listens',
    () => new RemoteCodec({ endpoint: 'http://127.0.0.1:1', namespace: 'prod' }),
    /^the codec server http:\/\/127\.0\.0\.1:1\/decode does not answer$/,
  ],
])('%s: an error of the call', async (_name, make, message) => {
  await expect(make().decode(payloads)).rejects.toThrow(message);
});

test.each(['nonsense', 'file:///etc/passwd'])("'%s' is no endpoint", (endpoint) => {
  expect(() => new RemoteCodec({ endpoint, namespace: 'prod' })).toThrow(
    `'${endpoint}' is not the address of a codec server: write an http or https URL.`,
  );
});
