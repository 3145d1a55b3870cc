/** The channel against receivers that behave and that do not, over real HTTP. */
import { createServer } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { answerDigest } from '../../../src/channels/channel-answer.ts';
import type { ChannelAnswer } from '../../../src/channels/channel.ts';
import { sign, signingKeys } from '../../../src/adapters/webhook/signature.ts';
import { verifyWebhook } from '../../../src/adapters/webhook/verify-webhook.ts';
import { webhookChannel } from '../../../src/adapters/webhook/webhook-channel.ts';
import type { WebhookOptions } from '../../../src/adapters/webhook/webhook-settings.ts';
import { eventually } from '../../support/eventually.ts';
import { type Hit, type Receiver, type Reply, notifyContext, openReceiver, sampleRequest } from './webhook-receiver.ts';
import { listen } from '../../support/listen.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const request = sampleRequest();
const { requestId, digest } = request;
const never = new AbortController().signal;
const opened: Receiver[] = [];
afterAll(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

async function open(
  answer: (hit: Hit) => Promise<Reply | undefined> | Reply | undefined,
  options = {},
): Promise<Receiver> {
  const receiver = await openReceiver(answer, options);
  opened.push(receiver);
  return receiver;
}
const channelAt = ({ url }: { url: string }, more: Partial<WebhookOptions> = {}) =>
  webhookChannel({ url: `${url}/requests`, secret, allowAddresses: ['127.0.0.1'], pollIntervalMs: 500, ...more });
/** What a poll gets: one reply after another, the last one again and again. */
const replies =
  (...list: Reply[]) =>
  (): Reply =>
    list.length > 1 ? list.shift()! : list[0]!;
const answerOf = async (reply: () => Reply, more: Partial<WebhookOptions> = {}, context = {}) => {
  const receiver = await open(reply);
  const channel = await channelAt(receiver, more);
  return channel.resolve!(request, AbortSignal.timeout(60_000), { attempt: 1, ...context });
};

describe.concurrent('what is posted', () => {
  test('the request, signed, with its id in a header', async () => {
    const receiver = await open(() => undefined);
    const channel = await channelAt(receiver, { headers: { authorization: 'Bearer x' } });
    await channel.notify!(request, notifyContext());
    const [hit] = receiver.hits;
    expect(hit).toMatchObject({ method: 'POST', path: '/requests' });
    expect(hit!.headers).toMatchObject({
      'content-type': 'application/json',
      'countersign-request-id': requestId,
      authorization: 'Bearer x',
    });
    const { request: received } = verifyWebhook({ secret, ...hit! });
    expect(received).toEqual({ ...request, delivery: { event: 'asked' } });
  });

  test('with a legacy signature also the members that its receivers verify', async () => {
    const receiver = await open(() => undefined);
    const channel = await channelAt(receiver, { legacySignature: { header: 'x-signature', over: 'id_and_tool' } });
    await channel.notify!(request, notifyContext());
    expect(JSON.parse(receiver.hits[0]!.body)).toMatchObject({ request_id: requestId, tool_name: 'pay', requestId });
  });

  test('each attempt to send one message has its id, and no other message has', async () => {
    const receiver = await open(() => undefined);
    const channel = await channelAt(receiver);
    await channel.notify!(request, notifyContext());
    await channel.notify!(request, { ...notifyContext(), attempt: 2 });
    const step = { kind: 'escalated' as const, to: ['ann'] };
    await channel.notify!(request, { ...notifyContext(), key: 'run-1/1/escalated', step });
    const ids = receiver.hits.map(({ headers }) => headers['webhook-id']);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
    expect(JSON.parse(receiver.hits[2]!.body)).toMatchObject({ delivery: { event: 'escalated', to: ['ann'] } });
  });

  test('the settlement', async () => {
    const receiver = await open(() => undefined);
    const channel = await channelAt(receiver);
    const settlement = {
      outcome: 'approved' as const,
      runs: true,
      reviewerId: 'ann',
      settledAt: '2030-01-31T12:01:00.000Z',
    };
    const context = { key: 'run-1/1/settled', attempt: 1, requests: [], signal: never };
    await channel.settled!(request, settlement, context);
    const [hit] = receiver.hits;
    const { request: received } = verifyWebhook({ secret, ...hit! });
    expect(received).toEqual({ ...request, settled: settlement, delivery: { event: 'settled' } });
  });

  test('the URL for the answer, if a callback is configured, and then no answer is asked for', async () => {
    const receiver = await open(() => undefined);
    const callbackUrl = 'https://approvals.example.com/gate/';
    const channel = await channelAt(receiver, { callbackUrl, name: 'desk/1' });
    expect(channel).not.toHaveProperty('resolve');
    await channel.notify!(request, notifyContext());
    expect(JSON.parse(receiver.hits[0]!.body)).toMatchObject({
      delivery: {
        callbackUrl: `https://approvals.example.com/gate/channels/desk%2F1/answers/${requestId}?workflowId=run-1`,
      },
    });
    for (const both of [{ poll: true }, { pollUrl: `${receiver.url}/{requestId}` }]) {
      expect(await channelAt(receiver, { callbackUrl, ...both })).toMatchObject({
        resolve: expect.any(Function),
        receive: expect.any(Function),
      });
    }
  });

  test('a legacy signature beside the other one, with its own secret or the first', async () => {
    const receiver = await open(() => undefined);
    for (const own of [undefined, 'another secret of this test']) {
      const channel = await channelAt(receiver, {
        legacySignature: { header: 'X-Old-Signature', over: 'id_and_tool', secret: own },
      });
      await channel.notify!(request, notifyContext());
    }
    const [first, second] = receiver.hits.map(({ headers }) => headers['x-old-signature']);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(second).toMatch(/^[0-9a-f]{64}$/);
    expect(second).not.toBe(first);
  });
});

describe.concurrent('a receiver that fails', () => {
  test('it was down, and comes back', async () => {
    const gone = await openReceiver(() => undefined);
    await gone.close();
    const channel = await channelAt(gone);
    await expect(channel.notify!(request, notifyContext())).rejects.toThrow(/cannot be reached/);
    const receiver = await open(() => undefined, { port: gone.port });
    await channel.notify!(request, notifyContext());
    expect(receiver.got('POST')).toHaveLength(1);
  });

  test('it stays down: the error names it, without its path', async () => {
    // No server takes such a port, as another test's may take one that was closed.
    const gone = { url: 'http://127.0.0.1:2' };
    const channel = await channelAt(gone, { url: `${gone.url}/a-secret-path?token=x` });
    await expect(channel.notify!(request, notifyContext())).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringMatching(new RegExp(`^The service at ${gone.url} cannot be reached: [^/]*$`)),
    });
  });

  test('it answers 500 and 429, then takes the request, under the same id', async () => {
    const receiver = await open(
      replies({ status: 500 }, { status: 429, headers: { 'retry-after': '120' } }, { status: 200 }),
    );
    const channel = await channelAt(receiver);
    const attempt = (): Promise<unknown> => Promise.resolve(channel.notify!(request, notifyContext()));
    // An attempt is one request: it holds a slot of the worker, and the pauses between attempts do not.
    await expect(attempt()).rejects.toMatchObject({ code: 'internal', retryAfterMs: undefined });
    await expect(attempt()).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 120_000 });
    await attempt();
    const ids = receiver.hits.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
    expect(ids).toHaveLength(3);
  });

  test.each([400, 413, 422, 431])('it refuses the request as it is (%i), and takes its short form', async (status) => {
    const bodies: { arguments: object; argumentNames?: string[]; argumentBytes?: number; digest: string }[] = [];
    const receiver = await open(({ body }) => {
      bodies.push(JSON.parse(body));
      return { status: bodies.length === 1 ? status : 204 };
    });
    await (
      await channelAt(receiver)
    ).notify!(request, notifyContext());
    expect(bodies.map((each) => each.arguments)).toEqual([request.arguments, {}]);
    expect(bodies[1]).toMatchObject({
      argumentNames: Object.keys(request.arguments),
      argumentBytes: JSON.stringify(request.arguments).length,
      digest: request.digest,
      shown: 'part',
    });
  });

  test('it refuses the short form, too: no other attempt follows', async () => {
    const receiver = await open(() => ({ status: 413 }));
    const channel = await channelAt(receiver);
    await expect(channel.notify!(request, notifyContext())).rejects.toMatchObject({ isFinal: true });
    expect(receiver.hits).toHaveLength(2);
  });

  test('it refuses: nobody insists', async () => {
    const receiver = await open(() => ({ status: 401 }));
    const channel = await channelAt(receiver);
    await expect(channel.notify!(request, notifyContext())).rejects.toMatchObject({
      message: expect.stringContaining('401'),
    });
    expect(receiver.hits).toHaveLength(1);
  });

  test('it is slow to answer', async () => {
    const released = Promise.withResolvers<Reply>();
    const receiver = await open(() => released.promise);
    const channel = await channelAt(receiver, { requestTimeoutMs: 200 });
    await expect(channel.notify!(request, notifyContext())).rejects.toMatchObject({
      message: expect.stringContaining('did not answer within 0.2s'),
    });
    // A busy machine may read a request after its end.
    await eventually('one attempt', () => receiver.connections() === 1);
    released.resolve({ status: 204 });
  });

  test('it is slow to end its answer, or does not end it', async () => {
    for (const after of ['stalls', 'ends'] as const) {
      const server = createServer((_, response) => {
        response.writeHead(200, { 'content-length': '1000' }).write('{"approved":true}', () => {
          if (after === 'ends') response.destroy();
        });
      });
      const { url, close } = await listen(server);
      const channel = await channelAt({ url }, { requestTimeoutMs: 200 });
      const gaveUp = AbortSignal.timeout(700);
      await expect(channel.resolve!(request, gaveUp, { attempt: 1 })).rejects.toMatchObject({ name: 'TimeoutError' });
      await close();
    }
  });

  test('nothing is sent any more when the request is settled', async () => {
    const receiver = await open(() => ({ status: 202 }));
    const channel = await channelAt(receiver);
    const settled = new AbortController();
    const answer = channel.resolve!(request, settled.signal, { attempt: 1 });
    const reason = new Error('settled elsewhere');
    settled.abort(reason);
    await expect(answer).rejects.toBe(reason);
  });
});

describe.concurrent('what is asked for', () => {
  test('pending, then a decision', async () => {
    const receiver = await open(
      replies({ status: 202 }, { status: 202 }, { status: 200, body: { approved: true, reason: 'fine' } }),
    );
    const channel = await channelAt(receiver);
    expect(await channel.resolve!(request, never, { attempt: 1 })).toEqual({ approved: true, reason: 'fine', digest });
    expect(receiver.hits).toHaveLength(3);
    expect(receiver.hits[0]).toMatchObject({
      method: 'GET',
      path: `/requests/${requestId}`,
      headers: { 'countersign-request-id': requestId },
    });
  });

  test.each<[string, (url: string) => Partial<WebhookOptions>, string, object?]>([
    ['under the URL, before its query', (url) => ({ url: `${url}/in/?a=1` }), `/in/${requestId}?a=1`],
    ['with the id in its place', (url) => ({ pollUrl: `${url}/d?id={requestId}` }), `/d?id=${requestId}`],
    ['with the id in the header', (url) => ({ pollUrl: `${url}/d` }), '/d', { requestId }],
  ])('%s', async (_, options, path, more = {}) => {
    const receiver = await open(() => ({ status: 200, body: { approved: false, ...more } }));
    const channel = await channelAt(receiver, options(receiver.url));
    expect(await channel.resolve!(request, never, { attempt: 1 })).toEqual({ approved: false, digest });
    expect(receiver.hits[0]!.path).toBe(path);
  });

  test('an answer that the run refused is not given again', async () => {
    const first = { approved: true, modifiedArguments: { to: 'eve' } };
    const second = { approved: false, reason: 'not even so' };
    const refused = { code: 'arguments_invalid', message: '', digest: answerDigest({ ...first, digest }) };
    const list = replies({ status: 200, body: first }, { status: 200, body: first }, { status: 200, body: second });
    expect(await answerOf(list, {}, { refused })).toEqual({ ...second, digest });
  });

  test('errors that pass: 500, 404 before the request has come', async () => {
    const list = replies({ status: 404 }, { status: 500 }, { status: 200, body: { approved: true } });
    expect(await answerOf(list)).toMatchObject({ approved: true });
  });
});

describe.concurrent('an answer as a receiver in Python writes it', () => {
  test('snake case, null for what is absent, and a time', async () => {
    const body = {
      approved: true,
      modified_arguments: { to: 'ann' },
      reviewer_id: 'rita',
      request_id: requestId,
      reason: null,
      timestamp: 1_767_225_660.5,
    };
    const answer = await answerOf(() => ({ status: 200, body }));
    expect(answer).toEqual({ approved: true, modifiedArguments: { to: 'ann' }, reviewerId: 'rita', digest });
  });

  test.each([
    [
      'both spellings of a member',
      { approved: true, reviewer_id: 'ann', reviewerId: 'bob' },
      /both 'reviewerId' and 'reviewer_id'/,
    ],
    ['null in place of the answer', { approved: null }, /approved/],
    ['a member of the prototype', { approved: true, constructor: 1 }, /unknown member 'constructor'/],
    ['another request', { approved: true, request_id: 'b'.repeat(32) }, /about another request/],
  ])('refused: %s', async (_name, body, sentence) => {
    await expect(answerOf(() => ({ status: 200, body }))).rejects.toThrow(sentence);
  });
});

test('a receiver is told why its answer does not count, and may answer again at once', async () => {
  const told: unknown[] = [];
  const receiver = await open(({ headers }) => {
    const problem = headers['countersign-answer-problem'];
    told.push(problem);
    return { status: 200, body: problem === undefined ? { approved: true, notés: 1 } : { approved: false } };
  });
  const channel = await channelAt(receiver);
  expect(await channel.resolve!(request, never, { attempt: 1 })).toMatchObject({ approved: false });
  const sentence = "The answer of the webhook's receiver does not count: unknown member 'not?s'.";
  expect(told).toEqual([undefined, sentence]);
});

const other = { requestId: 'b'.repeat(32), digest: 'e'.repeat(64) };

describe.concurrent('an answer that is no decision is an error', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['no JSON', 'approved'],
    ['true alone', true],
    ['a text', '"approve"'],
    ['a list', [{ approved: true }]],
    ['no approved', {}],
    ['approved as a text', { approved: 'true' }],
    ['approved as a number', { approved: 1 }],
    ['approved twice', '{"approved":false,"approved":true}'],
    ['approved twice, one escaped', '{"approved":false,"\\u0061pproved":true}'],
    ['an unknown member', { approved: true, approvd: false }],
    [
      'a signature, which covers nothing here',
      { approved: true, signature: { keyId: 'a', signedAt: 'b', value: 'c' } },
    ],
    ['a decision id', { approved: true, decisionId: 'x' }],
    ['arguments as a list', { approved: true, modifiedArguments: [] }],
    ['arguments with a key of the prototype', '{"approved":true,"modifiedArguments":{"__proto__":{"a":1}}}'],
    ['arguments with a denial', { approved: false, modifiedArguments: {} }],
    ['a reviewer who is no text', { approved: true, reviewerId: 7 }],
    ['an old decision: another request', { approved: true, requestId: other.requestId }],
    ['an old decision: another call', { approved: true, digest: other.digest }],
    ['more than 64 kB', { approved: true, reason: 'x'.repeat(70_000) }],
    ['more than 64 kB of white space', `{"approved":true}${' '.repeat(70_000)}`],
  ])('%s', async (_, body) => {
    const error = await answerOf(() => ({ status: 200, body })).catch((each: unknown) => each);
    expect(error).toMatchObject({ name: 'ProblemError', message: expect.stringContaining('does not count') });
  });

  test('bytes that are not UTF-8', async () => {
    const body = Buffer.from('{"approved":true,"reason":"\u00fc"}', 'latin1');
    const { url, close } = await listen(createServer((_, response) => response.end(body)));
    const channel = await channelAt({ url });
    await expect(channel.resolve!(request, never, { attempt: 1 })).rejects.toMatchObject({ code: 'invalid_decision' });
    await close();
  });

  test('a decision in a body of another status', async () => {
    const seen: unknown[] = [];
    for (const status of [201, 203, 204, 206, 400, 401, 403]) {
      const body = status === 204 ? undefined : { approved: true };
      seen.push(await answerOf(() => ({ status, body })).catch((each: unknown) => each));
    }
    for (const each of seen) expect(each).toMatchObject({ name: 'ProblemError' });
  });

  test('an answer under a shared URL that does not say to what', async () => {
    const receiver = await open(() => ({ status: 200, body: { approved: true } }));
    const channel = await channelAt(receiver, { pollUrl: `${receiver.url}/newest` });
    await expect(channel.resolve!(request, never, { attempt: 1 })).rejects.toMatchObject({
      message: expect.stringContaining(`'requestId'`),
    });
  });
});

describe.concurrent('signed answers', () => {
  const reply = (answer: object, { secrets = [secret], text = JSON.stringify(answer) } = {}) => {
    const headers = { ...sign(signingKeys(secrets), { id: 'ans_1', body: text }) };
    return (): Reply => ({ status: 200, headers, body: text });
  };
  const full: ChannelAnswer & { requestId: string } = { approved: true, requestId, digest };

  test('count, with any of the secrets', async () => {
    const old = 'an older secret of this test';
    for (const secrets of [[secret], [old]]) {
      const answer = await answerOf(reply(full, { secrets }), { secret: [secret, old], signedAnswers: true });
      expect(answer).toEqual({ approved: true, digest });
    }
  });

  test.each<[string, () => Reply, boolean]>([
    ['signed wrongly', reply(full, { secrets: ['another secret of this test'] }), true],
    ['signed wrongly, where none is needed', reply(full, { secrets: ['another secret of this test'] }), false],
    ['not signed', () => ({ status: 200, body: full }), true],
    [
      'signed over another text',
      () => ({ ...reply({ ...full, approved: false })(), body: JSON.stringify(full) }),
      true,
    ],
    ['signed for another request', reply({ ...full, requestId: other.requestId }), true],
    ['signed for another call', reply({ ...full, digest: other.digest }), true],
    ['signed for no request', reply({ approved: true, digest }), true],
    ['signed for no call', reply({ approved: true, requestId }), true],
  ])('%s: refused', async (_, list, signedAnswers) => {
    await expect(answerOf(list, { signedAnswers })).rejects.toMatchObject({ name: 'ProblemError' });
  });

  test('must be signed over http, except to this machine', async () => {
    const lookup = ((_host, options, callback) =>
      options.all === true
        ? callback(null, [{ address: '127.0.0.1', family: 4 }])
        : callback(null, '127.0.0.1', 4)) as WebhookOptions['lookup'];
    const receiver = await open(() => ({ status: 200, body: { approved: true } }));
    const channel = await channelAt(receiver, { url: `http://receiver.example:${receiver.port}/requests`, lookup });
    await expect(channel.resolve!(request, never, { attempt: 1 })).rejects.toMatchObject({ code: 'forbidden' });
    const unsigned = await channelAt(receiver, {
      url: `http://receiver.example:${receiver.port}/requests`,
      lookup,
      signedAnswers: false,
    });
    expect(await unsigned.resolve!(request, never, { attempt: 1 })).toMatchObject({ approved: true });
  });
});

describe.concurrent('it does not start', () => {
  test.each<[string, Partial<WebhookOptions>]>([
    ['without a secret', { secret: undefined }],
    ['with an empty secret', { secret: '' }],
    ['with no secret in its list', { secret: [] }],
    ['with a short secret', { secret: 'short' }],
    ['with an interval under half a second', { pollIntervalMs: 499 }],
    ['with a URL to poll and no polling', { poll: false, pollUrl: 'https://1.1.1.1/' }],
    ['with a header of its own', { headers: { 'Webhook-Signature': 'v1,x' } }],
    ['with a header that changes the request', { headers: { 'transfer-encoding': 'chunked' } }],
    ['with a line break in a header', { headers: { 'x-a': 'b\r\nhost: evil' } }],
    ['with a legacy signature in the place of another', { legacySignature: { header: 'webhook-id', over: 'body' } }],
    ['with a certificate alone', { tls: { cert: 'a.pem' } }],
    ['with files that are not there', { tls: { ca: '/nowhere/ca.pem' } }],
    ['with a proxy that is none', { proxy: 'socks5://127.0.0.1' }],
  ])('%s', async (_, options) => {
    await expect(webhookChannel({ url: 'https://1.1.1.1/', secret, ...options })).rejects.toMatchObject({
      code: 'policy_invalid',
    });
  });
});
