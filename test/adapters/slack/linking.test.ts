import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { getRecord, putRecord, removeRecord } from '../../../src/client/server/records.ts';
import type { ApprovalDetails } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { startGateway } from '../../../packages/gateway/src/index.ts';
import { slackApp } from '../../../src/adapters/slack/slack-channel.ts';
import { eventually } from '../../support/eventually.ts';
import { identityOf, makeToken } from '../../support/identity.ts';
import type { SlackMessageInTest, SlackUser } from './slack-server.ts';
import { openSlackWorld, publicUrl, sealsOf, type SlackWorld, type Transport, transports } from './slack-world.ts';
import { once, pay, rule } from '../../support/team.ts';
import type { RunInTest } from '../../support/world.ts';

let world: SlackWorld;
async function open(transport: Transport): Promise<void> {
  const policy = rule('pay', 'ask', { ask: { reviewers: ['ann', 'bob', 'ava'] } });
  waiting = undefined;
  world = await openSlackWorld({ ann: ['reviewer'], bob: ['reviewer'], vic: ['viewer'] }, { policy, transport });
}
beforeEach(() => {
  for (const list of [world.slack.ephemerals, world.slack.messages]) list.splice(0);
});

const html = { accept: 'text/html' };
const ofPage = { 'sec-fetch-site': 'same-origin', origin: publicUrl };
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(new URL(path, world.gateway.url), { headers: { ...html, ...headers }, redirect: 'manual' });
const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(new URL(path, world.gateway.url), {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: { ...ofPage, ...headers },
    redirect: 'manual',
  });
const recordOf = ({ id }: SlackUser) => ({ kind: 'slack-user', owner: `T0001:${id}` });
const stateOf = async (user: SlackUser): Promise<string> => (await world.invitation(user)).searchParams.get('state')!;
/** A request of ann's that waits, and its message. */
let waiting: { run: RunInTest; requestId: string; message: SlackMessageInTest } | undefined;
async function ask(): Promise<NonNullable<typeof waiting>> {
  const run = await world.start(once(pay('carl')));
  const [{ requestId }] = (await run.open()) as [ApprovalDetails];
  world.slack.messages.splice(0);
  await world.notify([await world.details(run, requestId)]);
  return { run, requestId, message: world.slack.posts[0]! };
}
/** What a click of this user comes to. Until a click settles it, all clicks are on one request. */
async function clickOf(user: SlackUser): Promise<{ told: string; settled: ApprovalDetails['settled'] }> {
  const { run, requestId, message } = (waiting ??= await ask());
  world.slack.ephemerals.splice(0);
  await world.deliver(world.slack.click(user, message, 'approve'));
  const [told] = await world.toldTo(user);
  const { settled } = await world.details(run, requestId);
  if (settled !== undefined) waiting = undefined;
  return { told: told!, settled };
}

describe.each(transports)('over %s', (transport) => {
  beforeAll(() => open(transport));
  afterAll(() => world.close());

  test('whoever clicks without a link is shown the way, signs in, and confirms on a page', async () => {
    const user = { id: `U${randomUUID().slice(0, 8).toUpperCase()}`, name: 'ann <script>' };
    const { told, settled } = await clickOf(user);
    expect(told).toBe('Nothing was changed: your Slack account is not linked. Link it to yourself, then press again.');
    expect(settled).toBeUndefined();
    const url = await world.invitation(user);
    expect(url.origin + url.pathname).toBe(`${publicUrl}/slack/link`);
    const path = url.pathname + url.search;
    const away = await get(path);
    expect([away.status, away.headers.get('location')]).toEqual([303, `/login?to=${encodeURIComponent(path)}`]);
    const login = await get(away.headers.get('location')!);
    expect(await login.text()).toContain(path.replaceAll('&', '&amp;'));

    const cookie = await world.cookieOf('ann');
    const page = await get(path, { cookie });
    const text = await page.text();
    expect(page.status).toBe(200);
    expect(text).toContain('@ann &lt;script&gt;');
    expect(text).toContain(`<bdi>${user.id}</bdi>`);
    expect(text).toContain('You are signed in as <bdi>ann</bdi>');
    // Looking at it links nothing.
    expect(await getRecord(world.client.session, recordOf(user))).toBeUndefined();

    const done = await post('/slack/link', { state: url.searchParams.get('state')! }, { cookie, ...html });
    expect([done.status, await done.text()]).toEqual([200, expect.stringContaining('The account is linked')]);
    expect((await clickOf(user)).settled).toMatchObject({
      outcome: 'approved',
      reviewerId: 'ann',
      identity: 'claimed',
    });
    expect(JSON.stringify(await getRecord(world.client.session, recordOf(user)))).not.toContain('ann');
  });

  // What a link is, and who has one, is the same over both.
  if (transport === 'socket') return;

  describe('nothing is linked', () => {
    const user = { id: 'UVICTIM' };
    test('by a page of another origin, without a session, with a bearer token, or without the role', async () => {
      const state = await stateOf(user);
      const cookie = await world.cookieOf('ann');
      const cases: [Record<string, string>, number][] = [
        [{ cookie, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, 403],
        [{ cookie, 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }, 403],
        [{ cookie, 'sec-fetch-site': 'same-site' }, 403],
        [{}, 401],
        [{ cookie: await world.cookieOf('vic') }, 403],
        [world.bearerOf('bob'), 403],
        // A header wins over a cookie: the sender is bob.
        [{ cookie, ...world.bearerOf('bob') }, 403],
      ];
      for (const [headers, status] of cases)
        expect((await post('/slack/link', { state }, headers)).status).toBe(status);
      expect(await getRecord(world.client.session, recordOf(user))).toBeUndefined();
    });

    test('by a state that the gateway did not make, or made for something else, or too long ago', async () => {
      const account = { team: 'T0001', user: user.id, name: 'x' };
      const content = { service: 'slack', account };
      const later = Date.now() + 60_000;
      const states = [
        'x',
        (await stateOf(user)).slice(0, -4),
        await sealsOf({ secret: 'the key of some other gateway, long enough' }).seal('account-link', content, later),
        await sealsOf({ url: 'https://other.example.com' }).seal('account-link', content, later),
        await sealsOf().seal('account-link', content, Date.now() - 1_000),
        await sealsOf().seal('account-link', { ...content, service: 'teams' }, later),
        await sealsOf().seal('account', content, later),
        await sealsOf().seal('session', content, later),
      ];
      const cookie = await world.cookieOf('ann');
      for (const state of states) {
        expect((await post('/slack/link', { state }, { cookie })).status).toBe(403);
        expect((await get(`/slack/link?state=${state}`, { cookie })).status).toBe(403);
      }
      expect(await getRecord(world.client.session, recordOf(user))).toBeUndefined();
    });
  });

  describe('a record that somebody else has written is not believed', () => {
    const forger = { id: 'UFORGER' };
    const account = { team: 'T0001', user: forger.id, name: 'forger' };
    const ava = { id: 'ava', roles: ['reviewer'], groups: [] };
    const later = () => Date.now() + 60_000;
    const content = { service: 'slack', account, person: ava };

    test.each<[string, () => Promise<JsonObject>]>([
      ['in the clear', async () => ({ ...content })],
      ['sealed by nobody', async () => ({ sealed: Buffer.from(JSON.stringify(content)).toString('base64url') })],
      [
        'of another key',
        async () => ({
          sealed: await sealsOf({ secret: 'another key of thirty-two characters' }).seal('account', content, later()),
        }),
      ],
      [
        'of another gateway',
        async () => ({ sealed: await sealsOf({ url: 'https://other.example.com' }).seal('account', content, later()) }),
      ],
      ['expired', async () => ({ sealed: await sealsOf().seal('account', content, Date.now() - 1_000) })],
      ['a session of hers', async () => ({ sealed: (await world.cookieOf('ann')).split('=')[1]! })],
      ['an invitation', async () => ({ sealed: await sealsOf().seal('account-link', content, later()) })],
      [
        'of another service',
        async () => ({ sealed: await sealsOf().seal('account', { ...content, service: 'teams' }, later()) }),
      ],
      [
        'of a token that is gone',
        async () => ({
          sealed: await sealsOf().seal('account', { service: 'slack', account, token: 'A'.repeat(43) }, later()),
        }),
      ],
      [
        'of a person whose id a token has',
        async () => ({
          sealed: await sealsOf().seal('account', { ...content, person: { ...ava, id: 'ann' } }, later()),
        }),
      ],
      ['a copy of her own', async () => (await getRecord(world.client.session, recordOf(await world.linked('ann'))))!],
      [
        'a copy from another workspace',
        async () => ({
          sealed: await sealsOf().seal('account', { ...content, account: { ...account, team: 'T9999' } }, later()),
        }),
      ],
    ])('%s', async (_, value) => {
      await putRecord(world.client.session, recordOf(forger), await value());
      const { told, settled } = await clickOf(forger);
      expect(told).toMatch(/^Nothing was changed: your Slack account is not linked\./);
      expect(settled).toBeUndefined();
      await removeRecord(world.client.session, recordOf(forger));
    });

    test('the same, sealed by the gateway itself, counts', async () => {
      await putRecord(world.client.session, recordOf(forger), {
        sealed: await sealsOf().seal('account', content, later()),
      });
      expect((await clickOf(forger)).settled).toMatchObject({ reviewerId: 'ava' });
      await removeRecord(world.client.session, recordOf(forger));
    });
  });

  test('an account of the same id in another workspace is another account', async () => {
    const user = await world.linked('ann');
    expect((await clickOf({ ...user, team: 'T0002' })).settled).toBeUndefined();
    expect((await clickOf(user)).settled).toMatchObject({ reviewerId: 'ann' });
  });

  test('people see their accounts and unlink them, and nobody else does', async () => {
    const user = await world.linked('ann');
    const [ann, bob] = [await world.cookieOf('ann'), await world.cookieOf('bob')];
    await eventually('the account in the list', async () =>
      (await (await get('/slack/link', { cookie: ann })).text()).includes(user.id),
    );
    expect(await (await get('/slack/link', { cookie: bob })).text()).not.toContain(user.id);
    const form = { team: 'T0001', user: user.id };
    expect((await post('/slack/unlink', form, { cookie: bob })).status).toBe(404);
    expect((await post('/slack/unlink', form, { cookie: ann, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await clickOf(user)).settled).toMatchObject({ reviewerId: 'ann' });
    expect((await post('/slack/unlink', form, { cookie: ann })).status).toBe(200);
    expect((await clickOf(user)).settled).toBeUndefined();
    expect((await post('/slack/unlink', form, { cookie: ann })).status).toBe(404);
  });

  test('whoever links an account later takes it over, and it leaves the list of the other', async () => {
    const user = { id: `UMOVED${transport.toUpperCase()}` };
    const state = await stateOf(user);
    const [ann, bob] = [await world.cookieOf('ann'), await world.cookieOf('bob')];
    await post('/slack/link', { state }, { cookie: ann });
    const listed = async (cookie: string) => (await (await get('/slack/link', { cookie })).text()).includes(user.id);
    await eventually('the account in the list', () => listed(ann));
    expect(await (await get(`/slack/link?state=${state}`, { cookie: bob })).text()).toContain(
      'So far it answers as <bdi>ann</bdi>',
    );
    await post('/slack/link', { state }, { cookie: bob });
    expect((await clickOf(user)).settled).toMatchObject({ reviewerId: 'bob' });
    await eventually('the account in the list', () => listed(bob));
    expect(await listed(ann)).toBe(false);
  });

  test('a gateway without a key of its own, or an address, does not start with Slack', async () => {
    const slack = slackApp([world.settings]);
    const { entry } = makeToken('ann', ['reviewer']);
    const documents = [undefined, { tokens: [entry] }, { public_url: publicUrl, tokens: [entry] }];
    for (const document of documents) {
      const identity = document && identityOf(document);
      const options = { client: world.client, port: 0, slack, ...(identity !== undefined && { identity }) };
      await expect(startGateway(options)).rejects.toThrow(/^Slack needs an identity file with 'public_url'/);
    }
  });
});
