import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codecServer, EncryptionCodec } from '../../src/codec.ts';
import { payloadFromJson, payloadToJson } from '../../src/codec/codec-server.ts';
import { startCodecServer, type CodecServer } from './test-codec-server.ts';
import { listen } from '../support/listen.ts';

const codec = new EncryptionCodec({ keys: [{ id: 'k1', key: randomBytes(32) }] });
const others = new EncryptionCodec({ keys: [{ id: 'k2', key: randomBytes(32) }] });
const uiOrigin = 'https://temporal.example';
const plain = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);

let server: CodecServer;
beforeAll(async () => {
  server = await startCodecServer(codec, 'Bearer one', uiOrigin);
});
afterAll(() => server.close());

const ask = (path: string, payloads: Payload[], init: RequestInit = {}): Promise<Response> =>
  fetch(`${server.endpoint}${path}`, {
    method: 'POST',
    body: JSON.stringify({ payloads: payloads.map(payloadToJson) }),
    ...init,
    headers: {
      Authorization: 'Bearer one',
      'Content-Type': 'application/json',
      ...(init.headers as Record<string, string>),
    },
  });
async function valuesOf(response: Response): Promise<unknown[]> {
  const { payloads } = (await response.json()) as { payloads: unknown[] };
  return payloads.map((each) => defaultPayloadConverter.fromPayload(payloadFromJson(each)!));
}

test('what the codec reads and writes comes back', async () => {
  const sealed = await codec.encode([plain('pay ann'), plain({ to: 'bob' })]);
  expect(await valuesOf(await ask('/decode', sealed))).toEqual(['pay ann', { to: 'bob' }]);
  const written = (await (await ask('/encode', [plain('a')])).json()) as { payloads: unknown[] };
  const [opened] = await codec.decode([payloadFromJson(written.payloads[0])!]);
  expect(defaultPayloadConverter.fromPayload(opened!)).toBe('a');
});

test('what it cannot read stays as it is, and hides nothing beside it', async () => {
  const [own] = await codec.encode([plain('own')]);
  const [foreign] = await others.encode([plain('foreign')]);
  const response = await ask('/decode', [foreign!, own!, plain('clear')]);
  const { payloads } = (await response.json()) as { payloads: unknown[] };
  expect(payloads[0]).toEqual(payloadToJson(foreign!));
  expect(payloads.slice(1).map((each) => defaultPayloadConverter.fromPayload(payloadFromJson(each)!))).toEqual([
    'own',
    'clear',
  ]);
});

test('the page of Temporal’s UI may read the answer, with its credentials', async () => {
  const asked = await ask('/decode', [], { method: 'OPTIONS', body: null, headers: { Origin: uiOrigin } });
  expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, uiOrigin]);
  expect(asked.headers.get('access-control-allow-headers')).toBe('Authorization, Content-Type, X-Namespace');
  const answered = await ask('/decode', [], { headers: { Origin: uiOrigin } });
  expect([answered.status, answered.headers.get('access-control-allow-credentials')]).toEqual([200, 'true']);
});

test('an empty list may be left out', async () => {
  const answered = await ask('/decode', [], { body: '{}' });
  expect([answered.status, await answered.json()]).toEqual([200, { payloads: [] }]);
});

describe('is refused', () => {
  test.each<[string, string, RequestInit, number]>([
    ['a page of another origin', '/decode', { headers: { Origin: 'https://evil.example' } }, 403],
    ['the question of such a page', '/decode', { method: 'OPTIONS', body: null, headers: { Origin: 'null' } }, 403],
    ['a caller without authorization', '/decode', { headers: { Authorization: '' } }, 401],
    ['a caller with another one', '/encode', { headers: { Authorization: 'Bearer two' } }, 401],
    ['another path', '/constructor', {}, 404],
    ['another method', '/decode', { method: 'GET', body: null }, 405],
    ['a body that is no JSON', '/decode', { body: '{' }, 400],
    ['a body without payloads', '/decode', { body: '[]' }, 400],
    ['a payload that is none', '/decode', { body: '{"payloads":[1]}' }, 400],
    [
      'too many payloads',
      '/decode',
      { body: JSON.stringify({ payloads: Array.from({ length: 10_001 }, () => ({})) }) },
      400,
    ],
    ['a body that is too large', '/decode', { body: ' '.repeat(16_000_001) }, 413],
  ])('%s', async (_, path, init, status) => {
    const response = await ask(path, [], init);
    expect([response.status, await response.text()]).toEqual([status, '']);
  });

  test.each<[string, () => boolean | Promise<boolean>]>([
    ['says no', () => false],
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['says nothing', () => undefined as never],
  ])('a caller of whom `authorize` %s', async (_, authorize) => {
    const own = await listen(createServer(codecServer({ codec, uiOrigin, authorize })));
    const response = await fetch(`${own.url}/decode`, { method: 'POST', body: '{"payloads":[]}' });
    await own.close();
    expect(response.status).toBe(401);
  });
});

test.each<[string, object, string]>([
  ['an origin with a path', { uiOrigin: 'https://a.example/x' }, `uiOrigin 'https://a.example/x' is not an origin`],
  ['an origin that is none', { uiOrigin: '*' }, `uiOrigin '*' is not an origin`],
  ['no authorization at all', { authorize: '' }, 'authorize is empty'],
  ['an unknown option', { origin: 'x' }, `unknown option 'origin'`],
])('%s is refused at the start', (_, more, message) => {
  expect(() => codecServer({ codec, uiOrigin, authorize: 'a', ...more })).toThrow(message);
});
