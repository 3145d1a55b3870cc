import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  httpTemplateChannel,
  type HttpTemplateOptions,
  httpTemplateKind,
} from '../../../src/adapters/on-call/http-template-channel.ts';
import { cutText } from '../../../src/adapters/on-call/template.ts';
import type { Channel } from '../../../src/channels/channel.ts';
import type { ChannelContext } from '../../../src/channels/channel-kind.ts';
import type { Severity } from '../../../src/core/base/tool-call.ts';
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

test('an attempt that failed may have arrived: with `always`, the service hears of each settlement', async () => {
  const settled = { url: `${service.url}/close/{{request.requestId}}`, always: true };
  await channelWith({ settled }).settled!(refund, settlement, settledContext());
  expect(service.requests).toMatchObject([{ path: `/close/${refund.requestId}` }]);
});

test.each([
  ['a URL', { url: 'https://a.example/{{sent.id}}' }],
  ['a body', { url: 'https://a.example', body: { id: '{{sent.id}}' } }],
])('with `always`, there may be no id of the service: refused in %s', (_, settled) => {
  expect(() => channelWith({ settled: { ...settled, always: true } })).toThrow(/must not have {{sent\.id}}/);
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
  ['another protocol', { notify: { url: 'file:///etc/passwd' } }, /'url' must be/],
  ['a list of addresses that are none', { allowAddresses: ['localhost'] }, /neither an IP address/],
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

describe('a filter', () => {
  const notifying = (body: unknown, more = {}): Channel =>
    channelWith({ notify: { url: `${service.url}/alerts`, body: body as never }, ...more });

  test.each<[string, string, number, string]>([
    ['fits', 'Refund', 6, 'Refund'],
    ['is cut', 'Refund', 5, 'Refu…'],
    ['one', 'Refund', 1, '…'],
    ['no surrogate alone', 'ab😀cd', 4, 'ab…'],
    ['no letter without its mark', 'abe\u0301cd', 4, 'ab…'],
    ['no part of a family', 'a👩‍👩‍👧‍👦bcd', 6, 'a…'],
    ['no flag in two', 'a🇩🇪🇫🇷', 4, 'a…'],
    ['no escape in two', String.raw`ab\u{202E}cd`, 9, 'ab…'],
    ['an escape as a whole', String.raw`ab\u{202E}cd`, 11, String.raw`ab\u{202E}…`],
  ])('length of a text: %s', async (_case, text, most, shown) => {
    const request = { ...refund, contextSummary: text };
    await notifying({ text: `{{request.contextSummary:${most}}}` }).notify!(request, notifyContext());
    expect(bodies()).toEqual([{ text: shown }]);
    expect(shown.length).toBeLessThanOrEqual(most);
  });

  test('length within a text, of a value that is no text, and of one that is missing', async () => {
    const body = {
      text: 'It: {{ request.arguments : 12 }}',
      whole: '{{request.arguments.amountCents:3}}',
      absent: '{{request.votes:9}}',
    };
    await notifying(body).notify!(refund, notifyContext());
    expect(bodies()).toEqual([
      { text: `It: ${JSON.stringify(refund.arguments).slice(0, 11)}…`, whole: '12…', absent: null },
    ]);
  });

  test('length is never exceeded, and no escape is cut, whatever the text', () => {
    const text = String.raw`a\u{202E}\u{1F600}b👩‍👩‍👧‍👦c\u{200B}`.repeat(3);
    for (let most = 1; most <= text.length + 1; most += 1) {
      const shown = cutText(text, most);
      expect(shown.length).toBeLessThanOrEqual(most);
      expect(shown.replaceAll(/\\u\{[0-9A-F]{4,6}\}/g, '')).not.toMatch(/[\\{}]/);
    }
  });

  test.each([
    ['{{sentence|upper}}', /the unknown filter '\|upper'/],
    ['{{sentence:upper}}', /the unknown filter 'upper'/],
    ['{{sentence:0}}', /the unknown filter '0'/],
    ['{{sentence:130:5}}', /the unknown filter '130:5'/],
    ['{{sentence:1000000}}', /the unknown filter '1000000'/],
    ['{{request.riskLevel:read_only=}}', /the unknown filter 'read_only='/],
    ['{{request.riskLevel:=P1}}', /the unknown filter '=P1'/],
    ['{{request.riskLevel:a=P1,}}', /the unknown filter 'a=P1,'/],
    ['{{request.riskLevel:a=P1,5}}', /the unknown filter 'a=P1,5'/],
    ['{{request.riskLevel|a=P1}}', /the unknown filter '\|a=P1'/],
    ['{{nothing:5}}', /stands for nothing/],
  ])('refused when the file is read: %s', (text, message) => {
    expect(() => notifying({ text })).toThrow(message);
  });

  test.each<[string, Severity, unknown]>([
    ['{{request.assessment.severity:low=P4,high=P2}}', 'high', 'P2'],
    ['{{ request.assessment.severity : low=P4, high=P2 }}', 'low', 'P4'],
    ['Priority {{request.assessment.severity:high=2}}.', 'high', 'Priority 2.'],
    ['{{request.assessment.severity:low=P4}}', 'high', 'high'],
    ['{{request.arguments.amountCents:124950=much}}', 'high', 'much'],
    ['{{request.votes:a=b}}', 'high', null],
  ])('other names of values: %s of %s', async (text, severity, shown) => {
    const assessment = { ...refund.assessment, severity };
    await notifying({ text }).notify!({ ...refund, assessment }, notifyContext());
    expect(bodies()).toEqual([{ text: shown }]);
  });

  test('refused in a URL and in a header, which take whole ids', () => {
    const url = `${service.url}/{{request.requestId:5}}`;
    expect(() => channelWith({ notify: { url } })).toThrow(/filters are for bodies only/);
  });
});

describe('a body', () => {
  test('as a form, such as Twilio takes', async () => {
    const form = { To: '+491234', Body: '{{sentence:40}} & {{inboxUrl}}', Amount: '{{request.arguments.amountCents}}' };
    await channelWith({ notify: { url: `${service.url}/sms`, form } }).notify!(refund, notifyContext());
    const [{ headers, body }] = service.requests as [(typeof service.requests)[number]];
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
    const fields = Object.fromEntries(new URLSearchParams(body));
    expect(fields).toMatchObject({ To: '+491234', Amount: '124950' });
    expect(fields['Body']).toContain('… & https://approvals.example.com/inbox/');
  });

  test('as text, such as ntfy takes', async () => {
    const text = '{{sentence}}\n{{inboxUrl}}';
    await channelWith({ notify: { url: `${service.url}/topic`, text } }).notify!(refund, notifyContext());
    const [{ headers, body }] = service.requests as [(typeof service.requests)[number]];
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(body).toMatch(/^Refund 1,249.50 EUR .*\nhttps:/);
  });

  test.each<[string, object]>([
    ['body and form', { body: {}, form: {} }],
    ['form and text', { form: {}, text: '' }],
  ])('not as %s at once', (_case, more) => {
    expect(() => channelWith({ notify: { url: service.url, ...more } })).toThrow(/at most one of/);
  });

  test.each(['form', 'text'])('placeholders of a %s are checked when the file is read', (member) => {
    const content = member === 'form' ? { form: { x: '{{nothing}}' } } : { text: '{{nothing}}' };
    expect(() => channelWith({ notify: { url: service.url, ...content } })).toThrow(`The '${member}' of 'notify'`);
  });
});

describe('a service that refuses a message for its size', () => {
  const long = { ...refund, arguments: { one: 'a'.repeat(60), two: 'b'.repeat(60), three: 'c'.repeat(60) } };
  const body = { message: '{{sentence}}', call: '{{request.arguments}}', link: '{{inboxUrl}}' };

  test.each([400, 413, 422, 431])('gets its short form at once: %i', async (status) => {
    const channel = channelWith({ notify: { url: `${service.url}/alerts`, body } });
    // It takes what is short enough.
    service.answerTo = (sent) => ({ status: sent.includes('aaaa') ? status : 202, body: '{}' });
    await channel.notify!(long, notifyContext());
    service.answerTo = undefined;
    expect(bodies()).toHaveLength(2);
    const digest = long.digest.slice(0, 12);
    expect(bodies()[1]).toEqual({
      message: `${long.agentName} asks to call ${long.toolName}(one, two, three): 210 bytes of arguments, digest ${digest}.`,
      call: {},
      link: expect.stringContaining('/inbox/requests/'),
    });
  });

  test('and refuses that, too: no other attempt follows', async () => {
    service.answer = { status: 422, body: '{}' };
    const sending = channelWith({ notify: { url: `${service.url}/alerts`, body } }).notify!(long, notifyContext());
    await expect(sending).rejects.toMatchObject({ isFinal: true, message: expect.stringContaining('short form') });
    expect(bodies()).toHaveLength(2);
  });

  test.each([401, 403, 404])(
    'for another reason (%i): it is not changed, because an operator can mend that',
    async (status) => {
      service.answer = { status, body: '{}' };
      const sending = channelWith({ notify: { url: `${service.url}/alerts`, body } }).notify!(long, notifyContext());
      await expect(sending).rejects.toMatchObject({ isFinal: false });
      expect(bodies()).toHaveLength(1);
    },
  );
});

test.each<[string, number | undefined]>([
  ['120', 120_000],
  ['0', 0],
  ['99999999', 3_600_000],
  ['Wed, 21 Oct 2015 07:28:00 GMT', undefined],
  ['soon', undefined],
])('Retry-After: %s', async (header, retryAfterMs) => {
  service.answer = { status: 429, headers: { 'retry-after': header }, body: '{}' };
  await expect(channelWith().notify!(refund, notifyContext())).rejects.toMatchObject({ retryAfterMs });
});
