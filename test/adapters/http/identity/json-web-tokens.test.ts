/** Tokens of an identity provider that somebody forged: JWTs of services, and ID tokens of sign-ins. */
import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { base64url, type JWTPayload, SignJWT } from 'jose';
import { freePort } from '../../../../packages/cli/src/dev-server/free-port.ts';
import { type ForgingProvider, openForgingProvider, publicHalf } from './forging-provider.ts';
import { type GatewayWorld, openGatewayWorld } from '../../../support/gateway-world.ts';
import { identityOf, makeToken } from '../../../support/identity.ts';
import { privateKey, SmallBrowser } from './identity-provider.ts';

const shop = makeToken('shop', ['starter'], { acts_for_others: true });
const audience = 'https://approvals.example.com/api';
const clientId = 'countersign';
const secret = 'a client secret, long enough to be the key of an HMAC';
const now = Math.floor(Date.now() / 1_000);

let provider: ForgingProvider;
let world: GatewayWorld;
let url: string;
beforeAll(async () => {
  provider = await openForgingProvider();
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const oidc = {
    issuer: provider.issuer,
    client_id: clientId,
    client_secret_env: 'SECRET',
    audience,
    roles_claim: 'realm.roles',
    roles: { reviewer: ['approver'] },
  };
  const identity = identityOf({ public_url: url, oidc, tokens: [shop.entry] }, { SECRET: secret });
  world = await openGatewayWorld({ worker: false }, { port, identity });
});
afterAll(async () => {
  await world.close();
  await provider.stop();
});

const claims = (more: JWTPayload = {}): JWTPayload => ({
  iss: provider.issuer,
  aud: audience,
  sub: 'robot',
  iat: now,
  exp: now + 600,
  realm: { roles: ['approver'] },
  ...more,
});
const without = (name: string): JWTPayload => {
  const { [name]: _, ...rest } = claims();
  return rest;
};
const encoded = (value: object): string => base64url.encode(JSON.stringify(value));
const ask = (token: string): Promise<Response> =>
  world.call('GET', '/me', undefined, { authorization: `Bearer ${token}` });

describe('JWTs that hold', () => {
  test.each(['RS256', 'PS256', 'ES256', 'EdDSA'])('%s', async (alg) => {
    const response = await ask(await provider.sign(claims(), { alg, typ: 'at+jwt' }));
    expect(await response.json()).toMatchObject({ id: 'robot', roles: ['reviewer'], via: 'jwt' });
  });

  test('for several audiences, and with clocks that differ a little', async () => {
    const exp = Math.floor(Date.now() / 1_000) - 2;
    expect((await ask(await provider.sign(claims({ aud: ['x', audience], exp })))).status).toBe(200);
  });

  test('too many groups are refused, because a policy may deny calls to a group that is not read', async () => {
    const groups = (count: number) => ({ groups: Array.from({ length: count }, (_, index) => `g${index}`) });
    expect((await ask(await provider.sign(claims(groups(200))))).status).toBe(200);
    const refused = await ask(await provider.sign(claims(groups(201))));
    expect(refused.status).toBe(401);
    expect(await refused.text()).toContain("its claim 'groups' has more than 200 values");
  });

  test('the form of a claim does not make a role', async () => {
    for (const realm of [
      { roles: 'approvers' },
      { roles: { approver: true } },
      { roles: [['approver']] },
      'approver',
      null,
    ]) {
      expect(await (await ask(await provider.sign(claims({ realm })))).json()).toMatchObject({ roles: [] });
    }
  });
});

describe('JWTs that do not', () => {
  const refused = async (token: string, sentence = /./): Promise<void> => {
    const response = await ask(token);
    const { detail, code } = (await response.json()) as { detail: string; code: string };
    expect([response.status, code]).toEqual([401, 'unauthenticated']);
    expect(detail).toMatch(sentence);
    expect(detail).not.toContain(token.slice(-20));
  };

  test.each<[string, () => Promise<string>, RegExp?]>([
    ['expired', () => provider.sign(claims({ exp: now - 30 })), /has expired/],
    ['that never expires', () => provider.sign(without('exp'))],
    ['not valid yet', () => provider.sign(claims({ nbf: now + 600 }))],
    ['for another audience', () => provider.sign(claims({ aud: 'https://other.example.com' })), /'aud'/],
    ['for the gateway as a client: an ID token', () => provider.sign(claims({ aud: clientId })), /'aud'/],
    ['for nobody', () => provider.sign(without('aud'))],
    ['of another issuer', () => provider.sign(claims({ iss: 'https://evil.example.com' })), /'iss'/],
    ['of an issuer that is called alike', () => provider.sign(claims({ iss: `${provider.issuer}/` })), /'iss'/],
    ['of no issuer', () => provider.sign(without('iss'))],
    ['of nobody', () => provider.sign(without('sub')), /'sub'/],
    ['of a group', () => provider.sign(claims({ sub: 'group:finance' })), /'sub'/],
    ['of a channel', () => provider.sign(claims({ sub: 'channel:ops' })), /'sub' must not begin with channel:/],
    ['of a service with a token', () => provider.sign(claims({ sub: 'shop' })), /'shop' is the id of a bearer token/],
    ['of a name that is not seen', () => provider.sign(claims({ sub: 'ann\u200b' })), /'sub'/],
    ['with a nonce: an ID token', () => provider.sign(claims({ nonce: 'x' })), /ID token/],
    ['of another type', () => provider.sign(claims(), { typ: 'logout+jwt' }), /no access token/],
    ['bound to a key', () => provider.sign(claims({ cnf: { jkt: 'x' } })), /bound to a key/],
    ['of an algorithm that is not allowed', () => provider.sign(claims(), { alg: 'ES384' }), /not signed/],
    ['of an unknown key', async () => provider.sign(claims(), { kid: 'zz' }, await privateKey('RS256')), /not signed/],
    [
      'of another key by the same name',
      async () => provider.sign(claims(), { kid: 'key-RS256' }, await privateKey('RS256')),
      /not signed/,
    ],
    [
      'of a key of another kind by the same name',
      () => provider.sign(claims(), { alg: 'RS256', kid: 'key-ES256' }),
      /not signed/,
    ],
    ['without a signature', async () => `${encoded({ alg: 'none' })}.${encoded(claims())}.`],
    [
      'without a signature, in other letters',
      async () => `${encoded({ alg: 'nOnE', kid: 'key-RS256' })}.${encoded(claims())}.AA`,
    ],
    [
      'with the signature of another',
      async () => {
        const [header, , signature] = (await provider.sign(claims())).split('.');
        return `${header}.${encoded(claims({ sub: 'ann' }))}.${signature}`;
      },
    ],
    [
      'with its own key',
      async () => {
        const own = await privateKey('RS256');
        const signed = await provider.sign(claims(), { kid: 'own' }, own);
        const [, payload] = signed.split('.');
        return `${encoded({ alg: 'RS256', jwk: publicHalf(own) })}.${payload}.${signed.split('.')[2]}`;
      },
    ],
    [
      'with the address of its keys',
      () => provider.sign(claims(), { jku: `${provider.issuer}/keys`, kid: 'x' } as object),
    ],
    ['that is no JWT', async () => 'a.b.c'],
  ])('%s', async (...[, make, sentence]) => refused(await make(), sentence));

  test('HS256 with the public key as the secret', async () => {
    const key = createPublicKey({ key: publicHalf(provider.keys['RS256']!), format: 'jwk' });
    const texts = [
      key.export({ type: 'spki', format: 'pem' }).toString(),
      JSON.stringify(publicHalf(provider.keys['RS256']!)),
      secret,
    ];
    for (const text of texts) {
      const header = { alg: 'HS256', kid: 'key-RS256' };
      await refused(await new SignJWT(claims()).setProtectedHeader(header).sign(Buffer.from(text)), /not signed/);
    }
  });

  test('unknown keys do not make the gateway ask the provider each time', async () => {
    const other = await privateKey('RS256');
    const before = provider.keyFetches;
    for (let index = 0; index < 20; index += 1)
      await refused(await provider.sign(claims(), { kid: `k${index}` }, other));
    expect(provider.keyFetches - before).toBeLessThanOrEqual(1);
  });
});

describe('people who are called by their e-mail addresses', () => {
  const email = 'ann@example.com';
  const saysNo = /says that it has not verified its e-mail address/;
  const saysNothing = /does not say whether .*'oid' or 'preferred_username', or 'trust_email: true'/;
  let trusting: GatewayWorld;
  let asking: GatewayWorld;
  beforeAll(async () => {
    const open = async (more: object): Promise<GatewayWorld> => {
      const port = await freePort();
      const public_url = `http://127.0.0.1:${port}`;
      const oidc = { issuer: provider.issuer, client_id: clientId, id_claim: 'email', audience, roles: {}, ...more };
      return openGatewayWorld({ worker: false }, { port, identity: identityOf({ public_url, oidc }) });
    };
    [trusting, asking] = [await open({ trust_email: true }), await open({})];
  });
  afterAll(async () => {
    await trusting.close();
    await asking.close();
  });

  /** `trusted`: what happens with `trust_email: true`. */
  test.each<[string, object, object, { trusted?: RegExp; asked?: RegExp }]>([
    ['true in the ID token', { email, email_verified: true }, {}, {}],
    ['true as a text', { email, email_verified: 'true' }, {}, {}],
    ['true in UserInfo, the address in the ID token', { email }, { email_verified: true }, {}],
    ['both in UserInfo', {}, { email, email_verified: true }, {}],
    ['true in UserInfo of the same address', { email }, { email, email_verified: 'true' }, {}],
    [
      'false in UserInfo of the same address in another spelling',
      { email, email_verified: true },
      { email: 'Ann@Example.com', email_verified: false },
      { trusted: saysNo, asked: saysNo },
    ],
    ['absent', { email }, {}, { asked: saysNothing }],
    [
      'true in UserInfo of another address',
      { email },
      { email: 'x@y.z', email_verified: true },
      { asked: saysNothing },
    ],
    ['false', { email, email_verified: false }, {}, { trusted: saysNo, asked: saysNo }],
    ['false in UserInfo', { email }, { email_verified: false }, { trusted: saysNo, asked: saysNo }],
    [
      'false in one of two',
      { email, email_verified: true },
      { email_verified: false },
      { trusted: saysNo, asked: saysNo },
    ],
    ...['false', 'True', 'yes', '', 0, 1, null, [true], { value: true }].map(
      (email_verified): [string, object, object, { trusted: RegExp; asked: RegExp }] => [
        JSON.stringify(email_verified),
        { email, email_verified },
        {},
        { trusted: saysNo, asked: saysNo },
      ],
    ),
  ])('%s', async (_, idToken, userInfo, { trusted, asked }) => {
    provider.userInfo = { sub: 'ann', ...userInfo };
    provider.idToken = (nonce) =>
      provider.sign({ iss: provider.issuer, aud: clientId, sub: 'ann', iat: now, exp: now + 600, nonce, ...idToken });
    for (const [at, refusal] of [
      [trusting, trusted],
      [asking, asked],
    ] as const) {
      const browser = new SmallBrowser();
      const response = await browser.send(await browser.signInAtProvider(`${at.gateway.url}/login`, 'ann'));
      const who = await (await browser.send(`${at.gateway.url}/me`)).json();
      if (refusal === undefined) expect([response.status, who]).toMatchObject([303, { id: email }]);
      else {
        expect([response.status, who]).toMatchObject([401, { code: 'unauthenticated' }]);
        expect((await response.text()).replaceAll('&#39;', "'")).toMatch(refusal);
      }
    }
  });

  test.each<[object, number, number]>([
    [{ email, email_verified: 'true' }, 200, 200],
    [{ email }, 200, 401],
    [{ email, email_verified: 'false' }, 401, 401],
  ])('of a service: %j', async (more, trusted, asked) => {
    const token = await provider.sign(claims(more as JWTPayload));
    const send = async (at: GatewayWorld): Promise<number> =>
      (await at.call('GET', '/me', undefined, { authorization: `Bearer ${token}` })).status;
    expect([await send(trusting), await send(asking)]).toEqual([trusted, asked]);
  });
});

describe('ID tokens of a sign-in', () => {
  beforeEach(() => {
    provider.userInfo = { sub: 'ann' };
  });
  const idClaims = (nonce: string, more: JWTPayload = {}): JWTPayload => ({
    ...claims(),
    aud: clientId,
    sub: 'ann',
    nonce,
    ...more,
  });
  async function signIn(make: (nonce: string) => Promise<string>): Promise<{ status: number; who: unknown }> {
    provider.idToken = make;
    const browser = new SmallBrowser();
    const response = await browser.send(await browser.signInAtProvider(`${url}/login`, 'ann'));
    return { status: response.status, who: await (await browser.send(`${url}/me`)).json() };
  }

  test('one that holds', async () => {
    const { status, who } = await signIn((nonce) => provider.sign(idClaims(nonce)));
    expect([status, who]).toMatchObject([303, { id: 'ann', roles: ['reviewer'], via: 'session' }]);
  });

  test.each<[string, JWTPayload, object, string | undefined]>([
    ['name', { name: 'Ann Lee', preferred_username: 'alee' }, {}, 'Ann Lee'],
    ['name of UserInfo', { preferred_username: 'alee' }, { name: 'Ann Lee' }, 'Ann Lee'],
    ['preferred_username', { preferred_username: 'alee', email: 'a@b.c' }, {}, 'alee'],
    ['email', { email: 'a@b.c' }, {}, 'a@b.c'],
    ['none', {}, {}, undefined],
    ['no text', { name: ['Ann'], preferred_username: '  ' }, {}, undefined],
    ['the id', { name: 'ann' }, {}, undefined],
    ['one that is long', { name: 'n'.repeat(5_000) }, {}, `${'n'.repeat(99)}…`],
  ])('what people call somebody: %s', async (_, more, userInfo, name) => {
    provider.userInfo = { sub: 'ann', ...userInfo };
    const { who } = await signIn((nonce) => provider.sign(idClaims(nonce, more)));
    expect(who).toMatchObject({ id: 'ann', via: 'session' });
    expect((who as { name?: string }).name).toBe(name);
  });

  test.each<[string, (nonce: string) => Promise<string>]>([
    ['with another nonce', () => provider.sign(idClaims('x'))],
    ['without a nonce', () => provider.sign({ ...claims(), aud: clientId, sub: 'ann' })],
    ['for another client', (nonce) => provider.sign(idClaims(nonce, { aud: 'other' }))],
    [
      'for several clients, made for another',
      (nonce) => provider.sign(idClaims(nonce, { aud: [clientId, 'other'], azp: 'other' })),
    ],
    ['of another issuer', (nonce) => provider.sign(idClaims(nonce, { iss: 'https://evil.example.com' }))],
    ['expired', (nonce) => provider.sign(idClaims(nonce, { exp: now - 30 }))],
    [
      'of another key',
      async (nonce) => provider.sign(idClaims(nonce), { kid: 'key-RS256' }, await privateKey('RS256')),
    ],
    ['without a signature', async (nonce) => `${encoded({ alg: 'none' })}.${encoded(idClaims(nonce))}.`],
    [
      'signed with the client secret',
      (nonce) => new SignJWT(idClaims(nonce)).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret)),
    ],
    ['of a group', (nonce) => provider.sign(idClaims(nonce, { sub: 'group:finance' }))],
    ['of a service with a token', (nonce) => provider.sign(idClaims(nonce, { sub: 'shop' }))],
    ['that is none', async () => 'x'],
  ])('refused: %s', async (_, make) => {
    const { status, who } = await signIn(make);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(who).toMatchObject({ code: 'unauthenticated' });
  });

  test('UserInfo of another person is not believed', async () => {
    provider.userInfo = { sub: 'bob', realm: { roles: ['approver'] } };
    const { status, who } = await signIn((nonce) => provider.sign(idClaims(nonce, { realm: {} })));
    expect(status).toBeGreaterThanOrEqual(400);
    expect(who).toMatchObject({ code: 'unauthenticated' });
  });
});

test('while the provider is away nobody is believed, and it is not their fault', async () => {
  const away = await openForgingProvider();
  away.isDown = true;
  const port = await freePort();
  const oidc = { issuer: away.issuer, client_id: clientId, audience, roles: {} };
  const lines: string[] = [];
  const other = await openGatewayWorld(
    { worker: false },
    {
      port,
      identity: identityOf({ public_url: `http://127.0.0.1:${port}`, oidc }),
      log: (line) => void lines.push(line),
    },
  );
  const token = await away.sign(claims({ iss: away.issuer }));
  const headers = { authorization: `Bearer ${token}` };
  expect((await other.call('GET', '/me', undefined, headers)).status).toBe(503);
  expect((await other.call('GET', '/login')).status).toBe(503);
  expect(lines.join('\n')).toContain(away.issuer);
  expect(lines.join('\n')).not.toContain(token);
  away.isDown = false;
  expect((await other.call('GET', '/me', undefined, headers)).status).toBe(200);
  await other.close();
  await away.stop();
});
