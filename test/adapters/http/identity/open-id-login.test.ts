/** People sign in at a real identity provider, over HTTP: the authorization code flow as browsers take it. */
import { afterAll, beforeAll, describe, expect, vi, test } from 'vitest';
import { freePort } from '../../../../packages/cli/src/dev-server/free-port.ts';
import { createReviewerKey } from '../../../../src/client/send/sign-message.ts';
import { cardOf } from '../../../../src/card/card-of.ts';
import { renderTerminal } from '../../../../src/card/render-terminal.ts';
import type { ApprovalDetails } from '../../../../src/contract.ts';
import { findChromium, openSharedBrowser } from '../../../support/browser.ts';
import { type GatewayWorld, openGatewayWorld } from '../../../support/gateway-world.ts';
import { identityOf, makeToken } from '../../../support/identity.ts';
import {
  audience,
  clientId,
  clientSecret,
  type IdentityProvider,
  openIdentityProvider,
  SmallBrowser,
} from './identity-provider.ts';
import { once, pay } from '../../../support/team.ts';

const gatewayKey = createReviewerKey();
const policy = {
  rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['group:finance'], verified: true } }],
  directory: { people: { ann: { groups: ['finance'] }, '8f3c-17': { groups: ['finance'] } } },
  reviewer_keys: { gateway: { public_key: gatewayKey.publicKey, signs_for: ['group:finance'] } },
};
const env = { SECRET: clientSecret, SESSION_KEY: 'a session key of this test, long enough' };
const logged: string[] = [];

let provider: IdentityProvider;
let world: GatewayWorld;
let url: string;
/** A second gateway with the same key, which a load balancer may pick. */
let second: GatewayWorld;
/** People are called by their e-mail addresses. */
let mailed: GatewayWorld;
beforeAll(async () => {
  const [port, mailedPort] = [await freePort(), await freePort()];
  url = `http://127.0.0.1:${port}`;
  const mailedUrl = `http://127.0.0.1:${mailedPort}`;
  // The provider warns that it is not set up for production.
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  provider = await openIdentityProvider([`${url}/login/callback`, `${mailedUrl}/login/callback`]);
  const oidc = {
    issuer: provider.issuer,
    client_id: clientId,
    client_secret_env: 'SECRET',
    audience,
    roles: { viewer: ['*'], reviewer: ['approvers'], starter: ['services'] },
  };
  const sessions = { key_env: 'SESSION_KEY' };
  const tokens = [makeToken('other', ['viewer']).entry, makeToken('Capa', ['viewer']).entry];
  const identity = identityOf({ public_url: url, oidc, sessions, tokens }, env);
  const signer = { keyId: 'gateway', privateKey: gatewayKey.privateKey };
  const log = (line: string) => void logged.push(line);
  world = await openGatewayWorld({ policy }, { port, identity, signer, log });
  second = await openGatewayWorld({ worker: false }, { identity });
  const byMail = { ...oidc, id_claim: 'email' };
  const mailIdentity = identityOf({ public_url: mailedUrl, oidc: byMail, sessions }, env);
  mailed = await openGatewayWorld({ worker: false }, { port: mailedPort, identity: mailIdentity, log });
});
afterAll(async () => {
  await world.close();
  await second.close();
  await mailed.close();
  await provider.stop();
});

const sessionName = 'countersign-session';
const sessionOf = (browser: SmallBrowser): string | undefined => browser.cookies.get(url)?.get(sessionName);
const me = async (browser: SmallBrowser, at = url): Promise<unknown> => (await browser.send(`${at}/me`)).json();

async function signedIn(login: string): Promise<SmallBrowser> {
  const browser = new SmallBrowser();
  const back = await browser.signInAtProvider(`${url}/login?to=/inbox/%3Ftool=pay`, login);
  const response = await browser.send(back);
  expect([response.status, response.headers.get('location')]).toEqual([303, '/inbox/?tool=pay']);
  return browser;
}

test('more groups than a browser’s cookie holds: the page says so, and so does the log', async () => {
  const browser = new SmallBrowser();
  const back = await browser.signInAtProvider(`${url}/login?to=/inbox/`, 'max');
  const response = await browser.send(back);
  expect(response.status).toBe(401);
  expect(await response.text()).toContain('names 120 groups of yours, more than a session holds');
  expect(sessionOf(browser)).toBeUndefined();
  expect(logged).toContainEqual('A sign-in of max failed: a session does not hold their 120 groups.');
});

test('a person signs in, decides what only verified reviewers may decide, and signs out', async () => {
  const browser = await signedIn('ann');
  const who = {
    id: 'ann',
    roles: ['viewer', 'reviewer'],
    groups: ['finance', 'approvers'],
    via: 'session',
    signs: true,
  };
  expect(await me(browser)).toMatchObject(who);
  expect([...browser.cookies.get(url)!.keys()]).toEqual([sessionName]);
  // Any gateway with the same key knows the session.
  const cookie = `${sessionName}=${sessionOf(browser)}`;
  expect(await (await second.call('GET', '/me', undefined, { cookie })).json()).toMatchObject({ id: 'ann' });

  const run = await world.start(once(pay('bob')));
  const [request] = await run.open();
  const { requestId } = request!;
  const decide = (headers: Record<string, string>) =>
    world.call('POST', `/approve/${requestId}?workflowId=${run.workflowId}`, { approved: true }, headers);
  // The provider knows somebody else as a reviewer, whom the policy does not.
  const eve = await signedIn('eve');
  expect((await decide({ cookie: `${sessionName}=${sessionOf(eve)}`, origin: url })).status).toBe(403);
  expect((await decide({ cookie, origin: url })).status).toBe(200);
  const details = await run.handle.query<ApprovalDetails, [object]>('approvals', { requestId });
  expect(details.settled).toMatchObject({ outcome: 'approved', reviewerId: 'ann', identity: 'verified' });

  await browser.send(`${url}/logout`, {});
  expect(await me(browser)).toMatchObject({ code: 'unauthenticated', loginUrl: '/login' });
});

test('a person is shown by the name that the provider gives, and decides by the id', async () => {
  const browser = await signedIn('8f3c-17');
  expect(await me(browser)).toMatchObject({ id: '8f3c-17', name: 'Ann Lee' });
  const run = await world.start(once(pay('bob')));
  const [request] = await run.open();
  const { requestId } = request!;
  const headers = { cookie: `${sessionName}=${sessionOf(browser)}`, origin: url };
  const path = `/approve/${requestId}?workflowId=${run.workflowId}`;
  expect((await world.call('POST', path, { approved: true }, headers)).status).toBe(200);
  const details = await run.handle.query<ApprovalDetails, [object]>('approvals', { requestId });
  const who = { reviewerId: '8f3c-17', reviewerName: 'Ann Lee', identity: 'verified' };
  expect(details.settled).toMatchObject({ outcome: 'approved', ...who });
  const card = renderTerminal(cardOf(details, { nowMs: Date.now() }));
  expect(card).toContain('Ann Lee (8f3c-17) (verified)');

  // Another person of this name is not the one whom the policy knows.
  const other = await signedIn('8f3c-18');
  expect(await me(other)).toMatchObject({ id: '8f3c-18', name: 'Ann Lee' });
  const second = await world.start(once(pay('bob')));
  const [open] = await second.open();
  const otherHeaders = { cookie: `${sessionName}=${sessionOf(other)}`, origin: url };
  const refused = await world.call('POST', `/approve/${open!.requestId}`, { approved: true }, otherHeaders);
  expect(refused.status).toBe(403);
  await second.handle.terminate();
});

test('a body cannot name another reviewer', async () => {
  const cookie = `${sessionName}=${sessionOf(await signedIn('ann'))}`;
  const run = await world.start(once(pay('bob')));
  const [request] = await run.open();
  for (const more of [
    { reviewerId: 'bob' },
    { by: 'bob' },
    { reviewerName: 'Bob' },
    { signature: { keyId: 'gateway', signedAt: 'x', value: 'x' } },
  ]) {
    const body = { approved: true, ...more };
    const response = await world.call('POST', `/approve/${request!.requestId}`, body, { cookie, origin: url });
    expect(response.status).toBe(422);
  }
  await run.handle.terminate();
});

test.each([
  ['Other', `'Other' is the id of a bearer token`],
  ['Сара', `looks like 'Capa', the id of a bearer token`],
])('%s does not sign in beside the tokens of other and Capa', async (login, message) => {
  const browser = new SmallBrowser();
  const response = await browser.send(await browser.signInAtProvider(`${url}/login`, login));
  expect([response.status, sessionOf(browser)]).toEqual([401, undefined]);
  expect(await response.text()).toContain(message.replaceAll("'", '&#39;'));
});

test('roles come from claims; a claim that is one text is one value', async () => {
  expect(await me(await signedIn('zoe'))).toMatchObject({ id: 'zoe', roles: ['viewer'], groups: ['staff'] });
});

test('a service calls with a JWT of the provider', async () => {
  const token = await provider.serviceToken();
  const response = await world.call('GET', '/me', undefined, { authorization: `Bearer ${token}` });
  expect(await response.json()).toMatchObject({ id: 'robot', roles: ['viewer', 'starter'], via: 'jwt' });
  const other = await provider.serviceToken('https://other.example.com/api');
  expect((await world.call('GET', '/me', undefined, { authorization: `Bearer ${other}` })).status).toBe(401);
});

test('an e-mail address names a person only if the provider has verified it', async () => {
  const at = mailed.gateway.url;
  const signIn = async (login: string) => {
    const browser = new SmallBrowser();
    const response = await browser.send(await browser.signInAtProvider(`${at}/login`, login));
    return { browser, status: response.status };
  };
  const ann = await signIn('ann');
  expect(await me(ann.browser, at)).toMatchObject({ id: 'ann@example.com' });
  const eve = await signIn('eve');
  expect(eve.status).toBe(401);
  expect(await me(eve.browser, at)).toMatchObject({ code: 'unauthenticated' });
  expect((await signIn('zoe')).status).toBe(401);
});

describe('a callback that is not the answer to this browser’s sign-in', () => {
  /** Nobody is signed in by it. */
  async function refused(browser: SmallBrowser, back: string): Promise<string> {
    const response = await browser.send(back);
    expect([response.status, response.headers.get('location'), sessionOf(browser)]).toEqual([401, null, undefined]);
    expect(browser.cookies.get(url)?.size ?? 0).toBe(0);
    return response.text();
  }
  const begin = async (): Promise<{ browser: SmallBrowser; back: URL }> => {
    const browser = new SmallBrowser();
    return { browser, back: new URL(await browser.signInAtProvider(`${url}/login`, 'ann')) };
  };

  test.each<[string, (back: URL) => void]>([
    ['another state', (back) => back.searchParams.set('state', 'x'.repeat(43))],
    ['no state', (back) => back.searchParams.delete('state')],
    ['another issuer: a mix-up', (back) => back.searchParams.set('iss', 'https://evil.example.com')],
    ['no issuer', (back) => back.searchParams.delete('iss')],
    ['another code', (back) => back.searchParams.set('code', 'x'.repeat(43))],
    ['no code', (back) => back.searchParams.delete('code')],
    [
      'an error of the provider',
      (back) => {
        back.searchParams.delete('code');
        back.searchParams.set('error', 'access_denied');
      },
    ],
    ['two codes', (back) => back.searchParams.append('code', 'x'.repeat(43))],
  ])('%s', async (_, change) => {
    const { browser, back } = await begin();
    change(back);
    expect(await refused(browser, back.href)).toContain('Sign in again');
  });

  test('in another browser, as in a forged sign-in', async () => {
    const { back } = await begin();
    await refused(new SmallBrowser(), back.href);
    // The other browser is signing in itself.
    const victim = await begin();
    await refused(victim.browser, back.href);
  });

  test('a second time: the browser has forgotten it, and the provider takes a code once', async () => {
    const { browser, back } = await begin();
    const jar = new Map(browser.cookies.get(url));
    expect((await browser.send(back.href)).status).toBe(303);
    const again = new SmallBrowser();
    await refused(again, back.href);
    again.cookies.set(url, jar);
    await refused(again, back.href);
  });

  test('with the cookie of a sign-in changed: nonce and PKCE verifier of another', async () => {
    const [one, other] = [await begin(), await begin()];
    const [jar, otherJar] = [one.browser.cookies.get(url)!, other.browser.cookies.get(url)!];
    jar.set('countersign-login', otherJar.get('countersign-login')!);
    // The state of the other, too: only its code is not its own.
    one.back.searchParams.set('state', other.back.searchParams.get('state')!);
    await refused(one.browser, one.back.href);
    const third = await begin();
    const cookie = third.browser.cookies.get(url)!;
    cookie.set('countersign-login', `${cookie.get('countersign-login')!.slice(0, -4)}AAAA`);
    await refused(third.browser, third.back.href);
  });
});

describe('where a sign-in leads to', () => {
  test.each([
    'https://evil.example.com/',
    '//evil.example.com/',
    '/\\evil.example.com/',
    '/\t/evil.example.com/',
    '/..//evil.example.com',
    'javascript:alert(1)',
    'inbox',
    '/login?to=/x',
    '',
  ])('%j becomes the inbox', async (to) => {
    const browser = new SmallBrowser();
    const back = await browser.signInAtProvider(`${url}/login?to=${encodeURIComponent(to)}`, 'zoe');
    expect((await browser.send(back)).headers.get('location')).toBe('/inbox/');
  });
});

test('the request to the provider has state, nonce and PKCE, each time others', async () => {
  const locations = await Promise.all(
    [1, 2].map(async () => (await new SmallBrowser().send(`${url}/login`)).headers.get('location')!),
  );
  const [one, other] = locations.map((location) => new URL(location).searchParams);
  expect(one!.get('code_challenge_method')).toBe('S256');
  expect([one!.get('response_type'), one!.get('redirect_uri')]).toEqual(['code', `${url}/login/callback`]);
  for (const name of ['state', 'nonce', 'code_challenge']) {
    expect(one!.get(name)!.length).toBeGreaterThanOrEqual(43);
    expect(one!.get(name)).not.toBe(other!.get(name));
  }
});

test('neither codes nor tokens nor secrets are logged', async () => {
  expect(logged.length).toBeGreaterThan(0);
  const text = logged.join('\n');
  for (const secret of [clientSecret, gatewayKey.privateKey, env.SESSION_KEY]) expect(text).not.toContain(secret);
  expect(text).not.toMatch(/[\w-]{40,}/);
});

const chromium = findChromium();
const withChromium = chromium === undefined ? describe.skip : describe;
withChromium('a browser (needs Chromium)', () => {
  test('a person signs in, and no script sees the session', async () => {
    const browser = await openSharedBrowser(chromium!);
    try {
      const page = await browser.context.newPage();
      await page.goto(`${url}/login?to=/me`);
      await page.fill('[name=login]', 'ann');
      await page.fill('[name=password]', 'x');
      await page.click('[type=submit]');
      await page.click('[type=submit]');
      await page.waitForURL(`${url}/me`);
      expect(JSON.parse(await page.innerText('body'))).toMatchObject({ id: 'ann', via: 'session' });
      // No script of the page sees a cookie.
      expect(await page.evaluate('document.cookie')).toBe('');
    } finally {
      await browser.close();
    }
  });
});
