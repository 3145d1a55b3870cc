import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { httpTemplateChannel, type HttpTemplateOptions } from '../../../src/adapters/on-call/http-template-channel.ts';
import { httpTemplateKind } from '../../../src/adapters/on-call/on-call-kinds.ts';
import type { Channel } from '../../../src/channels/channel.ts';
import type { ChannelContext } from '../../../src/channels/channel-kind.ts';
import { type HttpServiceInTest, openHttpService } from '../../support/http-service.ts';
import { notifyContext, refund, settledContext, settlement } from './support.ts';

let service: HttpServiceInTest;
beforeAll(async () => {
  service = await openHttpService();
});
beforeEach(() => {
  service.requests.length = 0;
  service.answer = { status: 200, body: '{"data":{"id":"alert/7"}}' };
});
afterAll(() => service.stop());

const secret = 'a-secret-key-of-this-test';
const channelWith = (more: Partial<HttpTemplateOptions> = {}): Channel =>
  httpTemplateChannel({
    notify: { url: `${service.url}/alerts`, body: {} },
    allowAddresses: ['127.0.0.1'],
    gatewayUrl: 'https://approvals.example.com',
    secrets: { key: secret },
    ...more,
  });
const bodies = (): unknown[] => service.requests.map(({ body }) => JSON.parse(body) as unknown);

test('values stand for placeholders as JSON, and as text within a text', async () => {
  const body = {
    whole: '{{request.arguments}}',
    number: '{{ request.arguments.amountCents }}',
    bare: '{{request.arguments.amountCents}}',
    absent: '{{request.votes}}',
    list: ['{{request.reviewers.1}}', 7, null, true],
    text: 'Asks: {{sentence}} ({{step.kind}}, {{request.arguments.amountCents}}, {{request.reviewers}})',
    link: '{{inboxUrl}}',
    alias: 'countersign-{{request.requestId}}',
    secret: '{{secrets.key}}',
  };
  await channelWith({ notify: { url: `${service.url}/alerts`, body } }).notify!(refund, notifyContext());
  expect(bodies()).toEqual([
    {
      whole: refund.arguments,
      number: 124_950,
      bare: 124_950,
      absent: null,
      list: ['group:finance', 7, null, true],
      text: 'Asks: Refund 1,249.50 EUR of order o-17 to the card that paid it (asked, 124950, ["ann","group:finance"])',
      link: `https://approvals.example.com/inbox/requests/ticket-8/${refund.requestId}`,
      alias: `countersign-${refund.requestId}`,
      secret,
    },
  ]);
});

test.each([
  ['", "priority": "P5", "x": "'],
  ['\\", \\"priority\\": 1'],
  ['{{secrets.key}}'],
  ['{{request.requestId}}'],
  ['\u2028\u0000\ud800'],
  ['}}{{'],
])('a value never breaks out of its place: %j', async (hostile) => {
  const request = { ...refund, reason: hostile, arguments: { [hostile]: hostile } };
  const body = {
    priority: 'P1',
    reason: '{{request.reason}}',
    text: 'because {{request.reason}}',
    all: '{{request.arguments}}',
  };
  await channelWith({ notify: { url: `${service.url}/alerts`, body } }).notify!(request, notifyContext());
  expect(bodies()).toEqual([{ priority: 'P1', reason: hostile, text: `because ${hostile}`, all: request.arguments }]);
  expect(service.requests[0]!.body).not.toContain(secret);
});

test('headers and URLs take secrets and ids, and encode them', async () => {
  const notify = {
    method: 'PUT' as const,
    url: `${service.url}/alerts/{{secrets.path}}/{{key}}?alias={{request.requestId}}`,
    headers: { Authorization: 'GenieKey {{secrets.key}}', 'Idempotency-Key': '{{key}}' },
  };
  const channel = channelWith({ notify, secrets: { key: secret, path: 'a/b?c#d' } });
  await channel.notify!(refund, notifyContext({ key: 'a key&x=1' }));
  expect(service.requests).toMatchObject([
    {
      method: 'PUT',
      path: `/alerts/a%2Fb%3Fc%23d/a%20key%26x%3D1?alias=${refund.requestId}`,
      headers: { authorization: `GenieKey ${secret}`, 'idempotency-key': 'a key&x=1' },
      body: '',
    },
  ]);
});

describe('an id that the service chose', () => {
  const templates: Partial<HttpTemplateOptions> = {
    get notify() {
      return { url: `${service.url}/alerts`, body: { again: '{{sent.id}}' }, keep: 'data.id' };
    },
    get settled() {
      return {
        url: `${service.url}/alerts/{{sent.id}}/close`,
        body: { by: '{{settlement.reviewerId}}', what: '{{settlement.outcome}}', of: '{{request.toolName}}' },
      };
    },
  };

  test('is kept, and closes the alert', async () => {
    const channel = channelWith(templates);
    const sent = await channel.notify!(refund, notifyContext());
    expect(sent).toEqual({ id: 'alert/7' });
    const again = await channel.notify!(refund, notifyContext({ sent: sent!, step: { kind: 'reminded' } }));
    await channel.settled!(refund, settlement, settledContext({ sent: again! }));
    expect(service.requests.map(({ path }) => path)).toEqual(['/alerts', '/alerts', '/alerts/alert%2F7/close']);
    expect(bodies()).toEqual([{ again: null }, { again: 'alert/7' }, { by: 'ann', what: 'approved', of: 'refund' }]);
  });

  test.each(['{}', '{"data":{"id":""}}', '{"data":{"id":{}}}', 'no JSON', '{"data":{"id":12345678901234567890}}'])(
    'is missed in %s',
    async (body) => {
      service.answer = { status: 200, body };
      await expect(channelWith(templates).notify!(refund, notifyContext())).rejects.toThrow(`no id at 'data.id'`);
    },
  );

  test.each(['.', '..'])('is no way out of the path: %s', async (id) => {
    const sent = { id };
    await expect(channelWith(templates).settled!(refund, settlement, settledContext({ sent }))).rejects.toThrow(
      'no value that can be part of a path',
    );
    expect(service.requests).toEqual([]);
  });
});

test('nothing is closed that was never opened, and nothing is sent for a settled request or another step', async () => {
  const channel = channelWith({ settled: { url: `${service.url}/close` }, steps: ['escalated'] });
  expect(await channel.notify!(refund, notifyContext())).toBeUndefined();
  await channel.notify!({ ...refund, settled: settlement }, notifyContext({ step: { kind: 'escalated' } }));
  await channel.settled!(refund, settlement, settledContext());
  expect(service.requests).toEqual([]);
});

test.each<[string, Partial<HttpTemplateOptions>, RegExp]>([
  ['an unknown member', { notify: { url: 'https://a.example', body: '{{request.tolName}}' } }, /stands for nothing/],
  ['an unknown secret', { notify: { url: 'https://a.example', body: '{{secrets.other}}' } }, /stands for nothing/],
  ['all secrets', { notify: { url: 'https://a.example', body: '{{secrets}}' } }, /stands for nothing/],
  [
    'a settlement before there is one',
    { notify: { url: 'https://a.example', body: '{{settlement.outcome}}' } },
    /stands/,
  ],
  ['a placeholder without an end', { notify: { url: 'https://a.example', body: { a: '{{sentence' } } }, /does not end/],
  ['a placeholder in a name', { notify: { url: 'https://a.example', body: { '{{x}}': 1 } } }, /stands for nothing/],
  ['a host from a request', { notify: { url: 'https://{{request.requestId}}.example' } }, /host of the 'url'/],
  [
    'a port from a secret',
    { notify: { url: 'https://a.example:{{secrets.key}}/' } },
    /host of the 'url'|'url' must be/,
  ],
  [
    'a text of the model in the URL',
    { notify: { url: 'https://a.example/{{request.toolName}}' } },
    /stands for nothing/,
  ],
  [
    'a text of the model in a header',
    { notify: { url: 'https://a.example', headers: { X: '{{sentence}}' } } },
    /stands/,
  ],
  [
    'a header that frames the body',
    { notify: { url: 'https://a.example', headers: { 'Content-Length': '1' } } },
    /header/,
  ],
  ['a password in the URL', { notify: { url: 'https://a:b@a.example' } }, /without a user/],
])('refused at the start: %s', (_, options, message) => {
  expect(() => channelWith(options)).toThrow(message);
});

test('the entry of a channel file', async () => {
  process.env['ALERT_KEY_IN_TEST'] = secret;
  const entry = {
    notify: {
      url: `${service.url}/v2/alerts`,
      headers: { Authorization: 'GenieKey {{secrets.api}}' },
      body: { message: '{{sentence}}', alias: '{{request.requestId}}', details: { tool: '{{request.toolName}}' } },
    },
    settled: { url: `${service.url}/v2/alerts/{{request.requestId}}/close?identifierType=alias`, body: {} },
    secrets: { api: { env: 'ALERT_KEY_IN_TEST' } },
    allow_addresses: ['127.0.0.1'],
  };
  const channel = await httpTemplateKind.make(httpTemplateKind.shape.parse(entry), {} as ChannelContext);
  const sent = await channel.notify!(refund, notifyContext());
  await channel.settled!(refund, settlement, settledContext({ sent: sent! }));
  expect(service.requests.map(({ path }) => path)).toEqual([
    '/v2/alerts',
    `/v2/alerts/${refund.requestId}/close?identifierType=alias`,
  ]);
  expect(service.requests[0]!.headers.authorization).toBe(`GenieKey ${secret}`);
  expect(httpTemplateKind.shape.safeParse({ ...entry, secrets: { api: secret } }).success).toBe(false);
  expect(() => httpTemplateKind.shape.parse({ ...entry, notify: { ...entry.notify, Body: 1 } })).toThrow();
});
