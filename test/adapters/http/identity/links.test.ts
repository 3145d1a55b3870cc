import { createSecretKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Link, sealLink } from '../../../../src/channels/answer-link.ts';
import { createSeals } from '../../../../src/channels/sealed-text.ts';
import type { ApprovalDetails } from '../../../../src/contract.ts';
import { type GatewayWorld, openGatewayWorld } from '../../../support/gateway-world.ts';
import { cookieOf, identityOf, makeToken } from '../../../support/identity.ts';
import { once, pay } from '../../../support/team.ts';
import type { RunInTest } from '../../../support/world.ts';

const secret = 'a session key of this test, long enough';
const publicUrl = 'https://approvals.example.com';
const mailer = makeToken('mailer', ['operator']);
const ann = makeToken('ann', ['reviewer']);
const bot = makeToken('bot', ['operator', 'starter'], { acts_for_others: true });
const document = {
  public_url: publicUrl,
  tokens: [mailer.entry, ann.entry, bot.entry],
  sessions: { key_env: 'SESSION_KEY' },
};
const policy = {
  // The last rule that matches rules.
  rules: [
    { pattern: 'pay', action: 'ask', ask: { reviewers: ['ann', 'bob'] } },
    { pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'], verified: true }, when: 'args.amount > 50' },
    { pattern: 'pay', action: 'ask', ask: { reviewers: ['ann', 'bob', 'carl'], quorum: 2 }, when: 'args.amount > 100' },
  ],
};

const logged: string[] = [];
let world: GatewayWorld;
beforeAll(async () => {
  const identity = identityOf(document, { SESSION_KEY: secret });
  world = await openGatewayWorld({ policy }, { identity, log: (line) => logged.push(line) });
});
afterAll(() => world.close());

const html = { accept: 'text/html' };

interface Asked {
  run: RunInTest;
  requestId: string;
  digest: string;
}
async function ask(amount = 1, caller?: string): Promise<Asked> {
  const run = await world.start(once(pay('bob', amount)), caller === undefined ? {} : { caller: { userId: caller } });
  const [request] = await run.open();
  return { run, requestId: request!.requestId, digest: request!.digest };
}

/** The path of a link that the gateway makes. */
async function linkFor(reviewer: string, { run, requestId }: Asked, more: object = {}): Promise<string> {
  const path = `/approvals/${requestId}/links?workflowId=${run.workflowId}`;
  const response = await world.call('POST', path, { reviewer, ...more }, mailer.bearer);
  expect(response.status).toBe(201);
  const { url } = (await response.json()) as { url: string };
  expect(url.startsWith(`${publicUrl}/links/`)).toBe(true);
  return new URL(url).pathname;
}

/** The path of a link that somebody with the gateway's key makes. */
async function sealed(link: Link, expiresMs = Date.now() + 60_000, of = { secret, url: publicUrl }): Promise<string> {
  const seals = createSeals({
    secret: createSecretKey(Buffer.from(of.secret)),
    publicUrl: of.url,
    namespace: 'default',
  });
  return `/links/${await sealLink(seals, link, expiresMs)}`;
}

const send = (path: string, answer: string, more: Record<string, string> = {}): Promise<Response> =>
  fetch(new URL(path, world.gateway.url), {
    method: 'POST',
    body: new URLSearchParams({ answer, ...more }),
    headers: html,
  });
const details = ({ run, requestId }: Asked): Promise<ApprovalDetails> =>
  run.handle.query<ApprovalDetails, [object]>('approvals', { requestId });

test('a link shows the request and decides nothing; its form decides', async () => {
  const asked = await ask();
  const path = await linkFor('ann', asked);
  for (const method of ['GET', 'HEAD', 'GET']) {
    const shown = await world.call(method, path, undefined, html);
    expect(shown.status).toBe(200);
    expect(shown.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+';.*form-action 'self'; frame-ancestors 'none'$/,
    );
    expect(shown.headers.get('cache-control')).toBe('no-store');
    if (method === 'HEAD') continue;
    const text = await shown.text();
    expect(text).toContain('You answer as <bdi>ann</bdi>');
    expect(text).not.toMatch(/<script|onclick|href=/i);
  }
  expect((await details(asked)).settled).toBeUndefined();

  const answered = await send(path, 'approve', { reason: 'fine' });
  expect(answered.status).toBe(200);
  expect(await answered.text()).toContain('Your answer counts');
  expect((await details(asked)).settled).toMatchObject({
    outcome: 'approved',
    reviewerId: 'ann',
    identity: 'claimed',
    reason: 'fine',
    viewed: { channel: 'link' },
  });
  await expect(asked.run.result()).resolves.toMatchObject({
    output: 'A reviewer approved this call and wrote: "fine".\npaid 1 to bob',
  });
});

test('the page offers no approval to whoever started the run', async () => {
  const asked = await ask(1, 'bob');
  const textFor = async (reviewer: string): Promise<string> =>
    (await world.call('GET', await linkFor(reviewer, asked), undefined, html)).text();
  expect(await textFor('ann')).toContain('value="approve"');
  const own = await textFor('bob');
  expect(own).toContain('You started this run, so another reviewer has to approve.');
  expect(own).toContain('value="deny"');
  expect(own).not.toContain('value="approve"');
  await asked.run.handle.terminate();
});

test('nobody makes a link with which they could approve what they started', async () => {
  const [own, other] = [await ask(1, 'mailer'), await ask(1, 'carl')];
  const make = ({ run, requestId }: Asked, { bearer }: typeof bot) =>
    world.call('POST', `/approvals/${requestId}/links?workflowId=${run.workflowId}`, { reviewer: 'ann' }, bearer);
  const refused = await make(own, mailer);
  expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'self_approval' }]);
  expect((await make(other, mailer)).status).toBe(201);
  expect((await make(other, bot)).status).toBe(403);
});

test('another spelling of a used link answers nothing', async () => {
  const asked = await ask(150);
  const path = await linkFor('ann', asked);
  await send(path, 'approve');
  // The last letter of the tag has four bits that mean nothing.
  const spelled = ['A', 'Q', 'g', 'w'].map((letter) => path.slice(0, -1) + letter).filter((each) => each !== path);
  for (const each of [...spelled, `${path}=`, `${path}%20`]) expect((await send(each, 'deny')).status).toBe(403);
  expect((await details(asked)).votes).toMatchObject([{ reviewerId: 'ann', approved: true }]);
  await asked.run.handle.terminate();
});

test('a link works once: afterwards it says what was decided', async () => {
  const asked = await ask();
  const path = await linkFor('ann', asked);
  await send(path, 'deny', { reason: 'no' });
  for (const again of ['approve', 'deny']) {
    const response = await send(path, again);
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toContain('You have answered');
    expect(text).toContain('denied by ann');
  }
  const shown = await (await world.call('GET', path, undefined, html)).text();
  expect(shown).not.toContain('<form');
  expect((await details(asked)).settled).toMatchObject({ outcome: 'denied', reviewerId: 'ann' });
});

test('in a quorum a link gives one vote, which it cannot give or change again', async () => {
  const asked = await ask(500);
  const path = await linkFor('ann', asked);
  await send(path, 'approve');
  const again = await send(path, 'deny');
  expect(await again.text()).toContain('ann has approved this by this link; others have yet to answer.');
  await send(path, 'approve');
  const { votes, settled } = await details(asked);
  expect(settled).toBeUndefined();
  expect(votes).toMatchObject([{ reviewerId: 'ann', approved: true }]);
  // A second link for the same person gives no second vote.
  const second = await send(await linkFor('ann', asked), 'approve');
  expect(second.status).toBe(409);
  await send(await linkFor('bob', asked), 'approve');
  expect((await details(asked)).settled).toMatchObject({ outcome: 'approved' });
});

test('what others decided first', async () => {
  const asked = await ask();
  const path = await linkFor('bob', asked);
  await world.client.decide(
    { requestId: asked.requestId, approved: false, reviewerId: 'ann' },
    { workflowId: asked.run.workflowId },
  );
  for (const response of [await send(path, 'approve'), await world.call('GET', path, undefined, html)]) {
    expect(response.status).toBe(409);
    expect(await response.text()).toContain('denied by ann');
  }
});

test('an answer after the run has ended leaves a line in the log', async () => {
  const asked = await ask();
  const path = await linkFor('bob', asked);
  await world.client.cancel(asked.run.workflowId);
  await asked.run.result();
  expect((await send(path, 'approve')).status).toBe(409);
  expect(logged).toContain(`bob approved request ${asked.requestId} after its run had ended: no run records it.`);
});

describe('refused', () => {
  const refusal = async (response: Response): Promise<string> => `${response.status} ${await response.text()}`;

  test.each<[string, (link: string) => string]>([
    ['a changed link', (link) => link.slice(0, -2) + (link.endsWith('A') ? 'BB' : 'AA')],
    ['a cut link', (link) => link.slice(0, -10)],
    ['no link', () => '/links/x'],
  ])('%s', async (_, change) => {
    const asked = await ask();
    const path = change(await linkFor('ann', asked));
    for (const response of [await send(path, 'approve'), await world.call('GET', path, undefined, html)]) {
      expect(await refusal(response)).toMatch(/^403 [^]*This link is not valid here/);
    }
    expect((await details(asked)).settled).toBeUndefined();
    await asked.run.handle.terminate();
  });

  test('expired, of another key, of another gateway, made for a session; a link is no session either', async () => {
    const asked = await ask();
    const link = { ...asked, workflowId: asked.run.workflowId, reviewer: 'ann', run: undefined };
    const seals = createSeals({ secret: createSecretKey(Buffer.from(secret)), publicUrl, namespace: 'default' });
    const person = { id: 'ava', roles: ['reviewer'], groups: [] };
    for (const path of [
      await sealed(link, Date.now() - 5_000),
      await sealed(link, undefined, { secret: secret.replace('key', 'kez'), url: publicUrl }),
      await sealed(link, undefined, { secret, url: 'https://staging.example.com' }),
      `/links/${await seals.seal('session', { ...link }, Date.now() + 60_000)}`,
      `/links/${await seals.seal('login', { ...link }, Date.now() + 60_000)}`,
    ]) {
      expect(await refusal(await send(path, 'approve'))).toMatch(/^403 /);
    }
    const asLink = await seals.seal('link', { person }, Date.now() + 60_000);
    const asSession = await seals.seal('session', { person }, Date.now() + 60_000);
    const me = (value: string) =>
      world.call('GET', '/me', undefined, { cookie: `__Host-countersign-session=${value}` });
    expect([(await me(asLink)).status, (await me(asSession)).status]).toEqual([401, 200]);
    expect((await details(asked)).settled).toBeUndefined();
    await asked.run.handle.terminate();
  });

  test('a link to what the request was not', async () => {
    const asked = await ask();
    const { requestId, run } = asked;
    const link = { requestId, workflowId: run.workflowId, reviewer: 'ann', digest: '0'.repeat(64) };
    const path = await sealed(link);
    for (const response of [await send(path, 'approve'), await world.call('GET', path, undefined, html)]) {
      expect(await refusal(response)).toMatch(/^409 [^]*not the one that was shown/);
    }
    const made = await world.call(
      'POST',
      `/approvals/${requestId}/links`,
      { reviewer: 'ann', digest: '0'.repeat(64) },
      mailer.bearer,
    );
    expect([made.status, await made.json()]).toMatchObject([409, { code: 'digest_mismatch' }]);
    expect((await details(asked)).settled).toBeUndefined();
    await run.handle.terminate();
  });

  test('the link of somebody who may not decide, or who started the run', async () => {
    const asked = await ask(1, 'ann');
    expect(await refusal(await send(await linkFor('zoe', asked), 'approve'))).toMatch(
      /^403 [^]*not among the reviewers/,
    );
    expect(await refusal(await send(await linkFor('ann', asked), 'approve'))).toMatch(/^403 [^]*cannot approve/);
    expect((await details(asked)).settled).toBeUndefined();
    await asked.run.handle.terminate();
  });

  test('a rule that demands verified reviewers takes no link', async () => {
    const asked = await ask(70);
    expect(await refusal(await send(await linkFor('ann', asked), 'approve'))).toMatch(
      /^403 [^]*only verified reviewers/,
    );
    expect((await details(asked)).settled).toBeUndefined();
    await asked.run.handle.terminate();
  });

  test('an answer that is none', async () => {
    const asked = await ask();
    const path = await linkFor('ann', asked);
    for (const answer of ['', 'yes', 'APPROVE']) expect((await send(path, answer)).status).toBe(422);
    expect((await send(path, 'approve', { reviewer: 'bob' })).status).toBe(422);
    expect((await details(asked)).settled).toBeUndefined();
    await asked.run.handle.terminate();
  });
});

test('only operators make links, for people, for open requests, until the deadline', async () => {
  const asked = await ask();
  const path = `/approvals/${asked.requestId}/links`;
  expect((await world.call('POST', path, { reviewer: 'ann' }, ann.bearer)).status).toBe(403);
  expect((await world.call('POST', path, { reviewer: 'ann' })).status).toBe(401);
  for (const reviewer of ['', 'group:finance', 'a\u202eb', ' ann']) {
    expect((await world.call('POST', path, { reviewer }, mailer.bearer)).status).toBe(422);
  }
  const past = { reviewer: 'ann', expiresAt: '2020-01-31T12:00:00Z' };
  expect((await world.call('POST', path, past, mailer.bearer)).status).toBe(422);
  const late = new Date(Date.now() + 20 * 86_400_000).toISOString();
  const made = await world.call('POST', path, { reviewer: 'ann', expiresAt: late }, mailer.bearer);
  const { deadline } = await details(asked);
  const { expiresAt } = (await made.json()) as { expiresAt: string };
  expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.parse(deadline!));
  await asked.run.handle.terminate();
});

test('a page of another origin cannot answer with the cookie of a reviewer, nor without a link', async () => {
  const asked = await ask();
  const signIn = await world.call('POST', '/login/token', { token: ann.token });
  const cookie = cookieOf(signIn, '__Host-countersign-session')!;
  const headers = { cookie, origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site' };
  const response = await world.call('POST', `/approve/${asked.requestId}`, { approved: true }, headers);
  expect(response.status).toBe(403);
  expect((await details(asked)).settled).toBeUndefined();
  await asked.run.handle.terminate();
});

test('without a key of sessions there are no links', async () => {
  const asked = await ask();
  const other = await openGatewayWorld({ worker: false }, { identity: identityOf({ tokens: [mailer.entry] }) });
  const response = await other.call('POST', `/approvals/${asked.requestId}/links`, { reviewer: 'ann' }, mailer.bearer);
  expect([response.status, await response.json()]).toMatchObject([403, { code: 'forbidden' }]);
  await other.close();
  await asked.run.handle.terminate();
});
