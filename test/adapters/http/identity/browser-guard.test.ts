import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentSecurityPolicy } from '../../../../packages/gateway/src/http/server/browser-guard.ts';
import type { GatewayOptions } from '../../../../packages/gateway/src/index.ts';
import { startGateway } from '../../../../packages/gateway/src/index.ts';
import { createReviewerKey } from '../../../../src/client/send/sign-message.ts';
import { freePort } from '../../../../packages/cli/src/dev-server/free-port.ts';
import { type GatewayWorld, openGatewayWorld } from '../../../support/gateway-world.ts';
import { cookieOf, identityOf, makeToken } from '../../../support/identity.ts';
import { rawRequest, type RawAnswer } from '../raw-request.ts';

const evil = 'https://evil.example.com';
const friend = 'https://app.example.com';
const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const ann = makeToken('ann', ['viewer', 'reviewer']);
const publicUrl = 'https://approvals.example.com';
const env = { SESSION_KEY: 'a session key of this test, long enough' };

let local: GatewayWorld;
let known: GatewayWorld;
let open: GatewayWorld;
let cookie: string;
beforeAll(async () => {
  const identity = identityOf(
    { public_url: publicUrl, tokens: [ann.entry], sessions: { key_env: 'SESSION_KEY' } },
    env,
  );
  local = await openGatewayWorld({ worker: false });
  known = await openGatewayWorld({ worker: false }, { identity });
  open = await openGatewayWorld({ worker: false }, { identity, cors: [friend] });
  cookie = cookieOf(await known.call('POST', '/login/token', { token: ann.token }), '__Host-countersign-session')!;
});
afterAll(async () => {
  await local.close();
  await known.close();
  await open.close();
});

const portOf = (world: GatewayWorld): string => new URL(world.gateway.url).port;
const at = (world: GatewayWorld, path: string): string => new URL(path, world.gateway.url).href;
/** A decision about a request that does not exist: 404 says that it got through. */
const decide = (world: GatewayWorld, headers: Record<string, string>): Promise<RawAnswer> =>
  rawRequest(at(world, `/approve/${'0'.repeat(32)}?workflowId=no-such-run`), {
    method: 'POST',
    headers,
    body: '{"approved":true}',
  });
const read = (world: GatewayWorld, headers: Record<string, string>, path = '/me'): Promise<RawAnswer> =>
  rawRequest(at(world, path), { headers });

describe('a gateway without authentication', () => {
  test('answers programs of this machine, and its own page', async () => {
    const own = local.gateway.url;
    expect((await read(local, {})).status).toBe(200);
    expect((await decide(local, json)).status).toBe(404);
    for (const host of [`127.0.0.1:${portOf(local)}`, `localhost:${portOf(local)}`, `LOCALHOST:${portOf(local)}`]) {
      expect((await read(local, { host })).status).toBe(200);
    }
    expect((await decide(local, { ...json, origin: own, 'sec-fetch-site': 'same-origin' })).status).toBe(404);
    expect((await decide(local, { ...json, origin: own })).status).toBe(404);
  });

  test.each<[string, (port: string) => Record<string, string>]>([
    ['a name that now leads here', () => ({ host: 'evil.example.com' })],
    ['the same, with the port', (port) => ({ host: `evil.example.com:${port}` })],
    ['another port', () => ({ host: '127.0.0.1:1' })],
    ['no port', () => ({ host: 'localhost' })],
    ['a name that ends alike', (port) => ({ host: `localhost.evil.example.com:${port}` })],
    ['a proxy', () => ({ 'x-forwarded-for': '203.0.113.7' })],
    ['a proxy, with the host', () => ({ 'X-Forwarded-Host': 'approvals.example.com' })],
    ['a proxy, as the standard says', () => ({ forwarded: 'for=203.0.113.7' })],
    ['a proxy that names itself', () => ({ via: '1.1 proxy' })],
    ['a page of another site that reads', () => ({ 'sec-fetch-site': 'cross-site', origin: evil })],
    ['a page of another port', () => ({ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' })],
    ['a picture of another site', () => ({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })],
    [
      'a frame in another site',
      () => ({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }),
    ],
  ])('refuses %s', async (_, headers) => {
    const answer = await read(local, headers(portOf(local)), '/approvals');
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([403, { code: 'forbidden' }]);
  });

  test('a link in another site opens its pages, and sends nothing', async () => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await read(local, link)).status).toBe(200);
    expect((await decide(local, { ...json, ...link, origin: evil })).status).toBe(403);
  });

  test.each<[string, Record<string, string>]>([
    ['of another origin', { ...json, origin: evil }],
    ['of another origin with a header that a page cannot add', { ...json, origin: evil, authorization: 'Bearer x' }],
    ['of a page without an origin', { ...json, origin: 'null' }],
    ['of another site', { ...json, 'sec-fetch-site': 'cross-site' }],
    ['of another port', { ...json, 'sec-fetch-site': 'same-site' }],
    ['that lies about one of both', { ...json, origin: evil, 'sec-fetch-site': 'same-origin' }],
    ['of a form', form],
    ['of a form of another origin', { ...form, origin: evil }],
    ['as a text', { 'content-type': 'text/plain' }],
    ['as a text that is called JSON', { 'content-type': 'text/plain; application/json' }],
  ])('refuses a decision %s', async (_, headers) => {
    expect((await decide(local, headers)).status).toBe(403);
  });
});

describe('a gateway that knows people', () => {
  test('the session of a browser decides from the page of the gateway only', async () => {
    expect((await decide(known, { ...json, cookie, origin: publicUrl })).status).toBe(404);
    expect((await decide(known, { ...json, cookie, 'sec-fetch-site': 'same-origin' })).status).toBe(404);
    const foreign: Record<string, string>[] = [
      {},
      { origin: evil },
      { origin: 'null' },
      { origin: `${publicUrl}.evil.example.com` },
      { origin: 'http://approvals.example.com' },
      { origin: known.gateway.url },
      { origin: publicUrl, 'sec-fetch-site': 'cross-site' },
      { origin: evil, 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of foreign) {
      const { status } = await decide(known, { ...json, cookie, ...headers });
      expect({ headers, status }).toEqual({ headers, status: 403 });
    }
    for (const method of ['PUT', 'DELETE', 'POST']) {
      const answer = await rawRequest(at(known, '/logout'), { method, headers: { cookie, origin: evil } });
      expect(answer.status).toBe(403);
    }
  });

  test('nobody is signed in by the page of another origin', async () => {
    const body = JSON.stringify({ token: ann.token });
    const from = (headers: Record<string, string>, text = body) =>
      rawRequest(at(known, '/login/token'), { method: 'POST', headers, body: text });
    expect((await from({ ...json, origin: evil })).status).toBe(403);
    expect((await from({ ...form, origin: evil }, `token=${ann.token}`)).status).toBe(403);
    expect((await from({ ...form }, `token=${ann.token}`)).status).toBe(403);
    const own = await from(
      { ...form, origin: 'null', 'sec-fetch-site': 'same-origin' },
      `token=${ann.token}&to=/inbox/x`,
    );
    expect([own.status, own.headers.location]).toEqual([303, '/inbox/x']);
  });

  test('a bearer token needs no origin: no page makes a browser send it', async () => {
    expect((await decide(known, { ...json, ...ann.bearer })).status).toBe(404);
    expect((await decide(known, { ...json, ...ann.bearer, origin: friend })).status).toBe(404);
  });

  test('no page of another origin reads an answer, unless it is configured; a cookie never helps', async () => {
    const preflight = (world: GatewayWorld, origin: string) =>
      rawRequest(at(world, '/approvals'), {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
      });
    for (const [world, origin] of [
      [known, evil],
      [known, friend],
      [open, evil],
      [open, 'null'],
    ] as const) {
      for (const answer of [await preflight(world, origin), await read(world, { ...ann.bearer, origin })]) {
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
      }
    }
    const allowed = await preflight(open, friend);
    expect([allowed.status, allowed.headers['access-control-allow-origin']]).toEqual([204, friend]);
    expect(allowed.headers['access-control-allow-headers']).toContain('authorization');
    const answer = await read(open, { ...ann.bearer, origin: friend });
    expect([answer.status, answer.headers['access-control-allow-origin'], answer.headers.vary]).toEqual([
      200,
      friend,
      'origin',
    ]);
    expect(allowed.headers['access-control-allow-credentials']).toBeUndefined();
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    expect((await decide(open, { ...json, cookie, origin: friend })).status).toBe(403);
  });
});

describe('security headers', () => {
  const paths = ['/me', '/login', '/nothing', '/openapi.json', '/healthz'];

  test.each(paths)('%s', async (path) => {
    const { headers } = await read(known, {}, path);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
      'strict-transport-security': 'max-age=31536000',
    });
    expect(headers['content-security-policy']).toContain(`default-src 'none'`);
    expect(headers['content-security-policy']).toContain(`frame-ancestors 'none'`);
    expect(headers['content-security-policy']).toContain(`base-uri 'none'`);
    expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/);
    expect((await read(local, {}, path)).headers['strict-transport-security']).toBeUndefined();
  });

  test('a refusal has them too', async () => {
    const answer = await read(local, { host: 'evil.example.com' });
    expect(answer.headers).toMatchObject({
      'content-security-policy': contentSecurityPolicy,
      'cache-control': 'no-store',
    });
  });
});

describe('does not start', () => {
  const start = (options: Partial<GatewayOptions>): Promise<unknown> =>
    startGateway({ client: local.client, port: 0, log: () => undefined, ...options }).then(
      (gateway) => gateway.stop(),
      (error: unknown) => (error as Error).message,
    );

  test.each(['0.0.0.0', '::', '192.0.2.1', 'example.com', '128.0.0.1'])(
    'on %s without authentication',
    async (host) => {
      expect(await start({ host })).toBe(
        `The gateway would obey everyone who reaches ${host}: give it an identity file, or listen on 127.0.0.1.`,
      );
    },
  );

  test('with a key and nobody to sign for, or with a wrong origin', async () => {
    const signer = { keyId: 'gateway', privateKey: createReviewerKey().privateKey };
    expect(await start({ signer })).toMatch(/without authentication cannot sign for its users/);
    for (const origin of ['*', 'https://app.example.com/', 'null', 'app.example.com', 'file://x']) {
      expect(await start({ cors: [origin] })).toMatch(/is not an origin/);
    }
  });

  test('it starts on all addresses with authentication', async () => {
    expect(await start({ host: '0.0.0.0', identity: identityOf({ tokens: [ann.entry] }) })).toBeUndefined();
  });
});

test('a gateway that others reach takes no session without a public URL', async () => {
  const world = await openGatewayWorld(
    { worker: false },
    { host: '0.0.0.0', identity: identityOf({ tokens: [ann.entry] }) },
  );
  const url = `http://127.0.0.1:${portOf(world)}`;
  const signIn = await rawRequest(`${url}/login/token`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ token: ann.token }),
  });
  expect([signIn.status, signIn.headers['set-cookie']]).toEqual([403, undefined]);
  expect(JSON.parse((await rawRequest(`${url}/me`)).text)).not.toHaveProperty('loginUrl');
  expect((await rawRequest(`${url}/me`, { headers: ann.bearer })).status).toBe(200);
  await world.close();
});

test('a password that browsers repeat for every page is no proof that a page of the gateway sent something', async () => {
  const basic = { authorization: `Basic ${Buffer.from('ann:secret').toString('base64')}` };
  const authenticator = {
    authenticate: async () => ({ id: 'ann', roles: ['starter'], groups: [], via: 'token', key: 'ann' }) as const,
  };
  const gateway = await startGateway({ client: known.client, port: 0, authenticator, log: () => undefined });
  try {
    const cancel = (headers: Record<string, string>): Promise<RawAnswer> =>
      rawRequest(`${gateway.url}/runs/no-such-run/cancel`, { method: 'POST', headers: { ...basic, ...headers } });
    expect((await cancel({ origin: evil, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await cancel({ origin: evil })).status).toBe(403);
    expect((await cancel({})).status).toBe(404);
  } finally {
    await gateway.stop();
  }
});

test('a gateway on another address of loopback answers under it', async () => {
  const other = await openGatewayWorld({ worker: false }, { host: '127.0.0.2' });
  try {
    expect((await fetch(new URL('/me', other.gateway.url))).status).toBe(200);
    const refused = await rawRequest(at(other, '/me'), { headers: { host: 'evil.example.com' } });
    expect(refused.text).toContain(new URL(other.gateway.url).host);
  } finally {
    await other.close();
  }
});

test('who signs in under another name of this machine is led to public_url', async () => {
  const port = await freePort();
  const identity = identityOf({ public_url: `http://127.0.0.1:${port}`, tokens: [ann.entry] });
  const named = await openGatewayWorld({ worker: false }, { port, identity });
  try {
    const answer = await read(named, { host: `localhost:${port}` }, '/login?to=/inbox/');
    expect([answer.status, answer.headers['location']]).toEqual([303, `http://127.0.0.1:${port}/login?to=%2Finbox%2F`]);
    expect((await read(named, {}, '/login')).status).toBe(200);
    // A proxy that keeps no Host: leading there would never end.
    expect((await read(named, { host: 'gateway:7280' }, '/login')).status).toBe(200);
  } finally {
    await named.close();
  }
});

test('a token is read as strictly as any JSON', async () => {
  const body = `{"token":"x","token":"${ann.token}"}`;
  const answer = await rawRequest(at(known, '/login/token'), { method: 'POST', headers: json, body });
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([422, { code: 'undecodable' }]);
});
