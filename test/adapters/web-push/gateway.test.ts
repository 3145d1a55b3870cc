/** Who may subscribe at the gateway, and what it takes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../packages/gateway/src/index.ts';
import { identityOf, makeToken } from '../../support/identity.ts';
import { openPushWorld, publicUrl, type PushWorld } from './push-world.ts';

let world: PushWorld;
let gateway: Gateway;
const cookies: Record<string, string> = {};
const [ann, vic] = [makeToken('ann', ['reviewer'], { groups: ['finance'] }), makeToken('vic', ['viewer', 'operator'])];
const identity = identityOf({ public_url: publicUrl, tokens: [ann.entry, vic.entry] });
const log = (): void => undefined;

beforeAll(async () => {
  world = await openPushWorld();
  gateway = await startGateway({ client: world.client, port: 0, log, identity, push: world.app });
  for (const [name, { token }] of Object.entries({ ann, vic })) {
    const response = await call('POST', '/login/token', { body: { token } });
    cookies[name] = response.headers.getSetCookie()[0]!.split(';')[0]!;
  }
});
afterAll(async () => {
  await gateway.stop();
  await world.close();
});

const ofPage = { 'sec-fetch-site': 'same-origin', origin: publicUrl };
interface Sent {
  body?: unknown;
  headers?: Record<string, string>;
  at?: string;
}
function call(method: string, path: string, { body, headers = {}, at = gateway.url }: Sent = {}): Promise<Response> {
  return fetch(new URL(path, at), {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}
const asAnn = () => ({ cookie: cookies['ann']!, ...ofPage });

test('a reviewer who is signed in gets the key, subscribes with their groups, and ends it', async () => {
  const me = (await (await call('GET', '/me', { headers: asAnn() })).json()) as object;
  expect(me).toMatchObject({ id: 'ann', pushKey: world.keys.publicKey });
  const subscription = world.service.subscribe('ann');
  expect((await call('POST', '/push/subscribe', { body: subscription, headers: asAnn() })).status).toBe(204);
  expect(await world.subscriptions.of('ann')).toEqual([{ person: 'ann', groups: ['finance'], ...subscription }]);
  const { endpoint } = subscription;
  expect((await call('POST', '/push/unsubscribe', { body: { endpoint }, headers: asAnn() })).status).toBe(204);
  expect(await world.subscriptions.of('ann')).toEqual([]);
  expect((await call('POST', '/push/unsubscribe', { body: { endpoint }, headers: asAnn() })).status).toBe(204);
});

describe('nobody else', () => {
  test.each<[string, () => Record<string, string>, number]>([
    [
      'a page of another origin',
      () => ({ ...asAnn(), 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }),
      403,
    ],
    ['a page of a sibling', () => ({ ...asAnn(), 'sec-fetch-site': 'same-site' }), 403],
    ['nobody who is known', () => ofPage, 401],
    ['a bearer token', () => ann.bearer, 403],
    ['a session without the role', () => ({ cookie: cookies['vic']!, ...ofPage }), 403],
  ])('%s', async (_, headers, status) => {
    const body = world.service.subscribe('evil');
    expect((await call('POST', '/push/subscribe', { body, headers: headers() })).status).toBe(status);
    expect(await world.subscriptions.of('ann')).toEqual([]);
  });

  test.each([
    ['a session without the role', () => ({ cookie: cookies['vic']! })],
    ['a bearer token', () => ann.bearer],
  ])('%s is not offered the key', async (_, headers) => {
    expect(await (await call('GET', '/me', { headers: headers() })).json()).not.toHaveProperty('pushKey');
  });

  test("nor is somebody else's subscription ended", async () => {
    const subscription = world.service.subscribe('ann');
    await call('POST', '/push/subscribe', { body: subscription, headers: asAnn() });
    const body = { endpoint: subscription.endpoint };
    const headers = { cookie: cookies['vic']!, ...ofPage };
    expect((await call('POST', '/push/unsubscribe', { body, headers })).status).toBe(204);
    expect(await world.subscriptions.of('ann')).toHaveLength(1);
    await call('POST', '/push/unsubscribe', { body, headers: asAnn() });
  });
});

describe('what is not taken', () => {
  const valid = () => world.service.subscribe('x');
  const keys = () => valid().keys;
  test.each<[string, () => unknown]>([
    ['no endpoint', () => ({ keys: keys() })],
    ['http', () => ({ ...valid(), endpoint: 'http://127.0.0.1/x' })],
    ['a private address', () => ({ ...valid(), endpoint: 'https://10.0.0.7/x' })],
    ['a text', () => ({ ...valid(), endpoint: 'push' })],
    ['a long endpoint', () => ({ ...valid(), endpoint: `https://push.example.com/${'x'.repeat(1_000)}` })],
    ['a short key', () => ({ ...valid(), keys: { ...keys(), p256dh: keys().p256dh.slice(1) } })],
    ['a key with padding', () => ({ ...valid(), keys: { ...keys(), auth: `${keys().auth.slice(0, -1)}=` } })],
    ['a key that is none', () => ({ ...valid(), keys: { ...keys(), p256dh: 'A'.repeat(87) } })],
    ['a short secret', () => ({ ...valid(), keys: { ...keys(), auth: keys().auth.slice(2) } })],
    ['an unknown member', () => ({ ...valid(), person: 'bob' })],
    ['another person', () => ({ ...valid(), keys: { ...keys(), id: 'bob' } })],
  ])('%s', async (_, body) => {
    const response = await call('POST', '/push/subscribe', { body: body(), headers: asAnn() });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([422, 'arguments_invalid']);
    expect(await world.subscriptions.of('ann')).toEqual([]);
  });
});

test('a gateway without web push offers no key and takes no subscription', async () => {
  const without = await startGateway({ client: world.client, port: 0, log, identity });
  try {
    const at = without.url;
    const { token } = ann;
    const [cookie] = (await call('POST', '/login/token', { body: { token }, at })).headers.getSetCookie();
    const headers = { cookie: cookie!.split(';')[0]!, ...ofPage };
    expect(await (await call('GET', '/me', { headers, at })).json()).not.toHaveProperty('pushKey');
    const refused = await call('POST', '/push/subscribe', { body: world.service.subscribe('ann'), headers, at });
    expect([refused.status, ((await refused.json()) as { detail: string }).detail]).toEqual([
      403,
      'This gateway has no web push: see docs/web-push.md.',
    ]);
  } finally {
    await without.stop();
  }
});

test.each<[string, object | undefined, RegExp]>([
  ['without an identity file', undefined, /^Web push needs an identity file/],
  ['under another address', { public_url: 'https://other.example.com', tokens: [ann.entry] }, /both must be the same/],
])('a gateway %s does not start with web push', async (_, document, why) => {
  const identity = document && identityOf(document);
  const options = { client: world.client, port: 0, push: world.app, ...(identity !== undefined && { identity }) };
  await expect(startGateway(options)).rejects.toThrow(why);
});
