import { createSecretKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createSeals } from '../../../../src/channels/sealed-text.ts';
import { forAllTests } from '../../../support/for-all-tests.ts';
import { openGatewayWorld } from '../../../support/gateway-world.ts';
import { cookieOf, identityOf, makeToken } from '../../../support/identity.ts';

const ann = makeToken('ann', ['viewer', 'reviewer'], { groups: ['finance'] });
const old = makeToken('old', ['operator'], { expires: '2020-01-31T12:00:00Z' });
const ci = makeToken('ci', ['starter'], { acts_for_others: true });
const fromEnvironment = makeToken('env', ['viewer']);
const secret = 'a session key of this test, long enough';
const tokens = [ann.entry, old.entry, ci.entry, { id: 'env', env: 'ENV_TOKEN', roles: ['viewer'] }];
const env = { ENV_TOKEN: fromEnvironment.token, SESSION_KEY: secret };
const document = { tokens, sessions: { key_env: 'SESSION_KEY' } };

const world = forAllTests(() => openGatewayWorld({ worker: false }, { identity: identityOf(document, env) }));

const problemOf = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;

test('a token says who sends a request, with their roles and groups', async () => {
  const response = await world.call('GET', '/me', undefined, ann.bearer);
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    id: 'ann',
    roles: ['viewer', 'reviewer'],
    groups: ['finance'],
    via: 'token',
  });
  expect(await problemOf(await world.call('GET', '/me', undefined, fromEnvironment.bearer))).toMatchObject({
    id: 'env',
  });
});

describe('refused with 401, also on a route for everybody', () => {
  test.each<[string, string]>([
    ['an unknown token', `Bearer ${'0'.repeat(64)}`],
    ['an expired token', old.bearer.authorization],
    ['the hash of a token', `Bearer ${String(ann.entry.sha256)}`],
    ['a part of a token', `Bearer ${ann.token.slice(0, -1)}`],
    ['a longer token', `Bearer ${ann.token}0`],
    ['another scheme', `Basic ${Buffer.from(`ann:${ann.token}`).toString('base64')}`],
    ['no token', 'Bearer '],
    ['two tokens', `Bearer ${ann.token}, Bearer ${ann.token}`],
  ])('%s', async (_, authorization) => {
    for (const path of ['/me', '/login']) {
      const response = await world.call('GET', path, undefined, { authorization });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
      expect(await problemOf(response)).toMatchObject({ code: 'unauthenticated', loginUrl: '/login' });
    }
  });
});

test('nobody: 401 says how to authenticate, and where a browser signs in', async () => {
  const response = await world.call('GET', '/me');
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  expect(await problemOf(response)).toMatchObject({ code: 'unauthenticated', status: 401, loginUrl: '/login' });
});

test('a token in the address counts for nothing', async () => {
  expect((await world.call('GET', `/me?token=${ann.token}&access_token=${ann.token}`)).status).toBe(401);
});

test('a person with a token signs in with a browser; the credential of a header wins over the session', async () => {
  const signIn = await world.call('POST', '/login/token', { token: ann.token });
  expect(signIn.status).toBe(204);
  const [line] = signIn.headers.getSetCookie();
  expect(line).toMatch(/^countersign-session=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=28(800|799)$/);
  expect(line).not.toContain(ann.token);
  const cookie = cookieOf(signIn, 'countersign-session')!;
  expect(await problemOf(await world.call('GET', '/me', undefined, { cookie }))).toMatchObject({
    id: 'ann',
    via: 'session',
  });
  const both = await world.call('GET', '/me', undefined, { cookie, ...ci.bearer });
  expect(await problemOf(both)).toMatchObject({ id: 'ci', via: 'token' });
  const bad = await world.call('GET', '/me', undefined, { cookie, authorization: `Bearer ${'0'.repeat(64)}` });
  expect(bad.status).toBe(401);

  const origin = new URL(world.gateway.url).origin;
  const out = await world.call('POST', '/logout', undefined, { cookie, origin });
  expect([out.status, cookieOf(out, 'countersign-session')]).toEqual([204, 'countersign-session=']);
});

test('the session of a person whose id a token has taken since is none', async () => {
  const seals = createSeals({
    secret: createSecretKey(Buffer.from(secret)),
    publicUrl: undefined,
    namespace: 'default',
  });
  const me = async (id: string): Promise<number> => {
    const value = await seals.seal('session', { person: { id, roles: ['reviewer'], groups: [] } }, Date.now() + 60_000);
    const cookie = `countersign-session=${value}`;
    return (await world.call('GET', '/me', undefined, { cookie })).status;
  };
  expect([await me('bob'), await me('ann')]).toEqual([200, 401]);
});

test('a wrong token signs nobody in', async () => {
  const response = await world.call('POST', '/login/token', { token: 'x'.repeat(64) });
  expect([response.status, response.headers.getSetCookie()]).toEqual([401, []]);
});
