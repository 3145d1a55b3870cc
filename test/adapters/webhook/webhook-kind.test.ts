import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { webhookKind } from '../../../src/adapters/webhook/webhook-channel.ts';
import { readChannels } from '../../../src/adapters/read-channels.ts';
import { verifyWebhook } from '../../../src/adapters/webhook/verify-webhook.ts';
import { notifyContext, openReceiver, sampleRequest } from './webhook-receiver.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-webhook-'));
const secret = 'a secret of this test, long enough';
const authorization = 'Bearer of this test';
writeFileSync(join(folder, 'secret'), `${secret}\n`);
process.env['WEBHOOK_TEST_AUTHORIZATION'] = authorization;
process.env['WEBHOOK_TEST_OLD'] = 'the secret before it';
afterAll(() => rmSync(folder, { recursive: true }));

const context = { name: 'desk', channel: () => Promise.reject(new Error('no other channel')) };
const make = (yaml: string) => webhookKind.make(webhookKind.shape.parse(parse(yaml)), context);

test('an entry with every member becomes a channel', async () => {
  const receiver = await openReceiver(() => undefined);
  const channel = await make(`
    url: ${receiver.url}/requests
    secret: [{ file: ${folder}/secret }, { env: WEBHOOK_TEST_OLD }]
    poll: true
    poll_url: ${receiver.url}/answers/{requestId}
    poll_interval: 500ms
    callback_url: https://approvals.example.com
    signed_answers: true
    legacy_signature: { header: X-Signature, over: body, secret: { env: WEBHOOK_TEST_OLD } }
    headers: { Authorization: { env: WEBHOOK_TEST_AUTHORIZATION }, X-Team: payments }
    request_timeout: 5s
    allow_addresses: [127.0.0.0/8]
  `);
  expect(Object.keys(channel).toSorted()).toEqual([
    'notify',
    'reach',
    'receive',
    'resolve',
    'retries',
    'settled',
    'test',
  ]);
  await channel.notify!(sampleRequest(), notifyContext());
  const [hit] = receiver.hits;
  expect(hit!.headers).toMatchObject({ authorization, 'x-team': 'payments', 'x-signature': expect.any(String) });
  expect(verifyWebhook({ secret, ...hit! }).request.delivery.callbackUrl).toContain('/channels/desk/answers/');
  await receiver.close();
});

test.each<[string, string]>([
  ['no secret', 'url: https://1.1.1.1/'],
  ['a secret in the file', 'url: https://1.1.1.1/\nsecret: in-the-file-itself'],
  ['an empty list of secrets', 'url: https://1.1.1.1/\nsecret: []'],
  ['a credential in the file', 'url: https://1.1.1.1/\nsecret: { env: A }\nheaders: { Authorization: Bearer x }'],
  ['an API key in the file', 'url: https://1.1.1.1/\nsecret: { env: A }\nheaders: { x-api-key: abc }'],
  ['a password of a proxy in the file', 'url: https://1.1.1.1/\nsecret: { env: A }\nproxy: http://a:b@proxy:3128'],
  ['an unknown member', 'url: https://1.1.1.1/\nsecret: { env: A }\npoll_intervall: 2s'],
  ['an interval under half a second', 'url: https://1.1.1.1/\nsecret: { env: A }\npoll_interval: 499ms'],
  ['an interval without a unit', 'url: https://1.1.1.1/\nsecret: { env: A }\npoll_interval: 2'],
  ['no URL', 'secret: { env: A }'],
])('%s is refused', (_, yaml) => {
  expect(webhookKind.shape.safeParse(parse(yaml)).success).toBe(false);
});

test.each([
  ['in the file itself', 'secret: hunter2', `'secret' must say where the secret is, { env: NAME } or { file: PATH }: `],
  [
    'in two places',
    'secret: { env: A, file: b }',
    `'secret' must say where the secret is, { env: NAME } or { file: PATH }: `,
  ],
  ['nowhere', 'poll: true', `'secret' is missing: it must say where the secret is, { env: NAME } or { file: PATH }: `],
])('a secret %s is refused with the remedy', async (_, member, sentence) => {
  const text = `channels: { desk: { kind: webhook, url: https://1.1.1.1/, ${member} } }`;
  await expect(readChannels(text)).rejects.toThrow(sentence);
});

test('a secret that is not there refuses the start, without a word of it', async () => {
  const made = async () => make('url: https://1.1.1.1/\nsecret: { env: WEBHOOK_TEST_MISSING }');
  await expect(made()).rejects.toMatchObject({
    code: 'policy_invalid',
    message: expect.stringContaining('WEBHOOK_TEST_MISSING'),
  });
});
