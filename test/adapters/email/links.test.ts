import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { emailChannel, type EmailOptions } from '../../../src/adapters/email/email-channel.ts';
import type { ApprovalDetails } from '../../../src/contract.ts';
import { approvalOf } from '../../e2e/inbox/approval-of.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { identityOf, makeToken } from '../../support/identity.ts';
import { type MailServerInTest, openMailServer } from './mail-server.ts';
import { once, pay } from '../../support/team.ts';
import type { RunInTest } from '../../support/world.ts';

const publicUrl = 'https://approvals.example.com';
const keys = {
  SESSION_KEY: 'a session key of this test, long enough',
  LINK_KEY: 'a link key of this test, which is long enough',
};
const document = {
  public_url: publicUrl,
  tokens: [makeToken('carl', ['viewer']).entry],
  sessions: { key_env: 'SESSION_KEY' },
  links: { key_env: 'LINK_KEY' },
};
const policy = {
  redact: { also: ['to'] },
  rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann', 'bob'] } }],
};

let world: GatewayWorld;
let server: MailServerInTest;
beforeAll(async () => {
  server = await openMailServer();
  world = await openGatewayWorld({ policy }, { identity: identityOf(document, keys) });
});
afterEach(() => {
  server.mails.length = 0;
});
afterAll(async () => {
  await world.close();
  await server.stop();
});

interface Asked {
  run: RunInTest;
  request: ApprovalDetails;
  /** The paths of the links, by reviewer. */
  links: Record<'ann' | 'bob', string>;
}

async function mailed(
  more: Partial<EmailOptions> = {},
  to = 'shop',
  change: Partial<ApprovalDetails> = {},
): Promise<Asked> {
  const run = await world.start(once(pay(to)));
  const [open] = await run.open();
  const request = await world.client.approvals.get(open!.requestId, { workflowId: run.workflowId });
  const channel = emailChannel({
    transport: { host: '127.0.0.1', port: server.port, tls: 'none' },
    from: 'approvals@example.com',
    gatewayUrl: publicUrl,
    namespace: 'default',
    linkKey: keys.LINK_KEY,
    people: { ann: 'ann@example.com', bob: 'bob@example.com' },
    ...more,
  });
  await channel.notify!(
    { ...request, ...change },
    { step: { kind: 'asked' }, key: 'k', attempt: 1, requests: [request], signal: new AbortController().signal },
  );
  const linkOf = (name: string): string => {
    const mail = server.mails.findLast((each) => each.to[0] === `${name}@example.com`)!;
    const [url] = /https:\S+\/links\/\S+/.exec(mail.parts.get('text/plain')!) ?? [];
    return new URL(url!).pathname;
  };
  return { run, request, links: { ann: linkOf('ann'), bob: linkOf('bob') } };
}

const html = { accept: 'text/html' };
const open = (path: string, method = 'GET'): Promise<Response> => world.call(method, path, undefined, html);
const send = (path: string, answer: string): Promise<Response> =>
  fetch(new URL(path, world.gateway.url), { method: 'POST', body: new URLSearchParams({ answer }), headers: html });
const details = ({ request: { requestId, workflowId } }: Asked): Promise<ApprovalDetails> =>
  approvalOf(world.client, requestId, { workflowId });

test('the link of a mail approves by the form of its page, as the reviewer whose mail it was', async () => {
  const asked = await mailed();
  // As scanners of mails do, more than once.
  for (const method of ['GET', 'HEAD', 'GET']) expect((await open(asked.links.ann, method)).status).toBe(200);
  expect((await details(asked)).settled).toBeUndefined();
  const answered = await send(asked.links.ann, 'approve');
  expect([answered.status, await answered.text()]).toEqual([200, expect.stringContaining('Your answer counts')]);
  expect((await details(asked)).settled).toMatchObject({
    outcome: 'approved',
    reviewerId: 'ann',
    identity: 'claimed',
    viewed: { channel: 'link' },
  });
  await expect(asked.run.result()).resolves.toMatchObject({ output: 'paid 1 to shop' });
});

test('a link that was used, and a link of somebody else afterwards, change nothing and say what happened', async () => {
  const asked = await mailed();
  await send(asked.links.bob, 'deny');
  const replayed = await send(asked.links.bob, 'approve');
  expect([replayed.status, await replayed.text()]).toEqual([200, expect.stringContaining('denied by bob')]);
  const other = await send(asked.links.ann, 'approve');
  expect([other.status, await other.text()]).toEqual([409, expect.stringContaining('denied by bob')]);
  expect((await details(asked)).settled).toMatchObject({ outcome: 'denied', reviewerId: 'bob' });
});

test('settled elsewhere first', async () => {
  const asked = await mailed();
  await world.client.decide(
    { requestId: asked.request.requestId, approved: false, reviewerId: 'bob' },
    { workflowId: asked.run.workflowId },
  );
  const late = await send(asked.links.ann, 'approve');
  expect([late.status, await late.text()]).toEqual([409, expect.stringContaining('denied by bob')]);
});

test.each<[string, Partial<EmailOptions>, Partial<ApprovalDetails>, number]>([
  ['for another digest', {}, { digest: '0'.repeat(64) }, 409],
  ['with another key', { linkKey: keys.SESSION_KEY }, {}, 403],
  ['of another gateway', { gatewayUrl: 'https://staging.example.com' }, {}, 403],
  ['of another namespace', { namespace: 'staging' }, {}, 403],
])('refused: a link %s', async (_, options, change, status) => {
  const asked = await mailed(options, 'shop', change);
  expect((await open(asked.links.ann)).status).toBe(status);
  expect((await send(asked.links.ann, 'approve')).status).toBe(status);
  expect((await details(asked)).settled).toBeUndefined();
  await asked.run.handle.terminate();
});

test('refused: a link of somebody whom the rule does not name', async () => {
  const people = { ann: 'ann@example.com', bob: 'bob@example.com', zoe: 'zoe@example.com' };
  const asked = await mailed({ people }, 'shop', { reviewers: [], approvers: undefined });
  const mail = server.mails.find(({ to }) => to[0] === 'zoe@example.com')!;
  const [url] = /https:\S+\/links\/\S+/.exec(mail.parts.get('text/plain')!)!;
  expect((await send(new URL(url).pathname, 'approve')).status).toBe(403);
  expect((await details(asked)).settled).toBeUndefined();
  await asked.run.handle.terminate();
});

test('what the policy redacts is in no mail', async () => {
  const asked = await mailed({}, 'eve@secret.example');
  for (const { parts } of server.mails) {
    expect([...parts.values()].join('')).not.toContain('eve@secret');
    expect(parts.get('text/plain')).toMatch(/\[[A-Z]+ …\w+ · [\da-f]{4}\]/);
  }
  await asked.run.handle.terminate();
});
