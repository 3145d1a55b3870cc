/** Answers that a receiver posts to the gateway, for runs on a real server. */
import { randomUUID } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Channel, ChannelAnswer } from '../../../src/channels/channel.ts';
import type { ApprovalDetails } from '../../../src/contract.ts';
import { sign, signingKeys } from '../../../src/adapters/webhook/signature.ts';
import { webhookChannel } from '../../../src/adapters/webhook/webhook-channel.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { httpProblem } from '../../support/http-problem.ts';
import { identityOf, makeToken } from '../../support/identity.ts';
import { inTime, secondsInTime } from '../../support/in-time.ts';
import { once, pay } from '../../support/team.ts';
import { type Receiver, notifyContext, openReceiver, sampleRequest } from './webhook-receiver.ts';
import type { RunInTest } from '../../support/world.ts';

const secret = 'the secret of the desk in this test';
const old = 'the secret before it';
const deskOptions = { allowAddresses: ['127.0.0.1'], callbackUrl: 'https://approvals.example.com' };
const policy = {
  // The last rule that matches rules.
  rules: [
    { pattern: 'pay', action: 'ask' },
    { pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'] }, when: 'args.to == "ann"' },
    { pattern: 'pay', action: 'ask', ask: { verified: true }, when: 'args.to == "vera"' },
    ...secondsInTime(8).map((seconds) => {
      const when = `args.to == "soon-${seconds}"`;
      return { pattern: 'pay', action: 'ask', ask: { timeout: `${seconds}s` }, when };
    }),
  ],
};

const logged: string[] = [];
let world: GatewayWorld;
let local: GatewayWorld;
let receiver: Receiver;
let desk: Channel;
/** Its deadline passes while the other tests run. */
let expiring: Asked;
/** A request that nothing settles. */
let waiting: Asked;
beforeAll(async () => {
  receiver = await openReceiver(() => undefined);
  const options = { ...deskOptions, url: receiver.url };
  desk = await webhookChannel({ ...options, name: 'desk', secret: [secret, old] });
  const other = await webhookChannel({ ...options, name: 'other', secret: 'the secret of another channel' });
  const silent = await webhookChannel({ ...options, callbackUrl: undefined, secret });
  const channels = { desk, other, silent };
  const identity = identityOf({ tokens: [makeToken('ann', ['reviewer']).entry] });
  world = await openGatewayWorld({ policy }, { channels, identity, log: (line) => logged.push(line) });
  local = await openGatewayWorld({ worker: false }, { channels });
  const soon = inTime(8, (seconds) => ask(`soon-${seconds}`));
  [{ played: expiring }, waiting] = await Promise.all([soon, ask()]);
});
afterAll(async () => {
  await world.close();
  await local.close();
  await receiver.close();
});

interface Asked {
  run: RunInTest;
  requestId: string;
  digest: string;
}
async function ask(to = 'bob'): Promise<Asked> {
  const run = await world.start(once(pay(to, 5)));
  const [request] = await run.open();
  return { run, requestId: request!.requestId, digest: request!.digest };
}
const details = ({ run, requestId }: Asked): Promise<ApprovalDetails> =>
  run.handle.query<ApprovalDetails, [object]>('approvals', { requestId });
const answerTo = ({ requestId, digest }: Asked, more: object = {}) => ({ requestId, digest, approved: true, ...more });

interface Sent {
  channel?: string;
  path?: string;
  secrets?: string[];
  id?: string;
  headers?: Record<string, string>;
  text?: string;
}
/** Posts an answer as a receiver does; `change` makes it another one than that. */
async function send(asked: Asked, answer: object, change: Sent = {}, at = world): Promise<Response> {
  const { channel = 'desk' } = change;
  const path = `/channels/${channel}/answers/${asked.requestId}?workflowId=${asked.run.workflowId}`;
  return post(answer, { path, ...change }, at);
}
async function post(answer: object, change: Sent & { path: string }, at = world): Promise<Response> {
  const { path, secrets = [secret], id = `ans_${randomUUID()}`, headers = {}, text = JSON.stringify(answer) } = change;
  const signature = sign(signingKeys(secrets), { id, body: JSON.stringify(answer) });
  return fetch(new URL(path, at.gateway.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signature, ...headers },
    body: text,
  });
}
const codeOf = async (response: Response) => [response.status, ((await response.json()) as { code?: string }).code];

test('an answer after the run has ended leaves a line in the log', async () => {
  const asked = await ask();
  await world.client.cancel(asked.run.workflowId);
  await asked.run.result();
  expect(await codeOf(await send(asked, answerTo(asked)))).toEqual([410, 'run_closed']);
  expect(logged).toContain(
    `The channel 'desk' approved request ${asked.requestId} after its run had ended: no run records it.`,
  );
});

test('a signed answer counts, as a claim of the channel', async () => {
  const asked = await ask();
  const response = await send(asked, answerTo(asked, { reason: 'fine' }), { id: 'ans_1' });
  expect([response.status, await response.json()]).toMatchObject([200, { accepted: true, outcome: 'approved' }]);
  expect((await details(asked)).settled).toMatchObject({
    outcome: 'approved',
    reviewerId: 'channel:desk',
    identity: 'claimed',
    decisionId: 'channel:desk:ans_1',
    viewed: { channel: 'webhook' },
    reason: 'fine',
  });
  await expect(asked.run.result()).resolves.toMatchObject({
    output: 'Channel "desk" approved this call and wrote: "fine".\npaid 5 to bob',
  });
});

test('it counts under the address that the POST names, with the old secret too, also at a gateway without authentication', async () => {
  for (const [at, secrets] of [
    [world, [old]],
    [local, [secret]],
  ] as const) {
    const asked = await ask();
    await desk.notify!(await details(asked), notifyContext());
    const { delivery } = JSON.parse(receiver.hits.at(-1)!.body) as { delivery: { callbackUrl: string } };
    const { origin, pathname, search } = new URL(delivery.callbackUrl);
    expect(origin).toBe('https://approvals.example.com');
    const change = { path: pathname + search, secrets: [...secrets] };
    expect((await send(asked, answerTo(asked, { approved: false }), change, at)).status).toBe(200);
    expect((await details(asked)).settled).toMatchObject({ outcome: 'denied' });
  }
});

test('an edit, and a reviewer by name', async () => {
  const asked = await ask('ann');
  const more = { reviewerId: 'ann', modifiedArguments: { to: 'ann', amount: 3 } };
  expect((await send(asked, answerTo(asked, more))).status).toBe(200);
  await expect(asked.run.result()).resolves.toMatchObject({ output: expect.stringMatching(/paid 3 to ann$/) });
});

test('an answer as a receiver in Python writes it', async () => {
  const { run, requestId, digest } = await ask('ann');
  const answer = {
    request_id: requestId,
    digest,
    approved: true,
    modified_arguments: { to: 'ann', amount: 3 },
    reviewer_id: 'ann',
    reason: null,
    always: { kind: 'call', match: null, expiresIn: null, uses: 1 },
    user_messages: null,
    timestamp: 1_767_225_660.5,
  };
  expect((await send({ run, requestId, digest }, answer)).status).toBe(200);
  await expect(run.result()).resolves.toMatchObject({ output: expect.stringMatching(/paid 3 to ann$/) });
});

describe('an answer is read alike whether it is posted or polled, and as the document says', () => {
  const sample = sampleRequest();
  const { requestId, digest } = sample;
  const refused = "The answer of the webhook's receiver does not count:";
  const cases: [answer: object, refusal?: string][] = [
    [{ approved: true }],
    [{ approved: true, requestId: undefined, request_id: requestId }],
    [{ approved: true, reviewerId: 'ann', modifiedArguments: { to: 'ann' }, userMessages: 2 }],
    [{ approved: true, reviewer_id: 'ann', modified_arguments: { to: 'ann' }, user_messages: 2, timestamp: 5.5 }],
    [{ approved: false, reason: null, response: null, always: null, reviewerId: null, modifiedArguments: null }],
    [{ approved: false, reviewer_id: null, modified_arguments: null, user_messages: null, timestamp: null }],
    [{ approved: false, response: { text: 'later' }, reason: 'not today' }],
    [{ approved: true, always: { kind: 'call', uses: 2 } }],
    [{ approved: null }, `${refused} 'approved' is missing: true or false.`],
    [{ approved: true, aproved: true }, `${refused} unknown member 'aproved'.`],
    [{ approved: true, decisionId: 'mine' }, `${refused} unknown member 'decisionId'.`],
    [{ approved: true, reason: 5 }, `${refused} 'reason' must be text, not a number.`],
    [{ approved: true, digest: null }, `${refused} it must name the 'digest' of the request.`],
  ];

  test.each(cases)('%j', async (members, refusal) => {
    const answer = { requestId, digest, ...members };
    const body = JSON.stringify(answer);
    const headers = { ...sign(signingKeys([secret]), { id: 'ans_1', body }) };
    const answering = await openReceiver(() => ({ status: 200, headers, body }));
    const polling = await webhookChannel({ ...deskOptions, url: answering.url, poll: true, secret });
    const polled = async () => polling.resolve!(sample, AbortSignal.timeout(60_000), { attempt: 1 });
    const received = async () => desk.receive!({ channel: 'desk', requestId, headers, body });
    const posted = await post(answer, {
      path: `/channels/desk/answers/${requestId}?workflowId=${waiting.run.workflowId}`,
    });
    const document = await (await world.call('GET', '/openapi.json')).json();
    const isDocumented = new Ajv2020({ strict: false, formats: { 'date-time': true } })
      .addSchema(document as object, 'api')
      .compile({ $ref: 'api#/components/schemas/ChannelAnswer' });
    expect(isDocumented(JSON.parse(body))).toBe(refusal === undefined);
    if (refusal === undefined) {
      const { userMessages, ...decided } = (await polled()) as ChannelAnswer;
      expect(await received()).toMatchObject({ ...decided, ...(userMessages && { viewed: { userMessages } }) });
      expect(await codeOf(posted)).toEqual([404, 'unknown_request']);
    } else {
      await expect(polled()).rejects.toThrow(refusal);
      await expect(received()).rejects.toThrow(refusal);
      expect(await httpProblem(posted)).toMatchObject({ status: 422, detail: refusal });
    }
    await answering.close();
  });
});

test('the same answer posted again gives the same receipt, and another under its id is refused', async () => {
  const asked = await ask();
  const change = { id: 'ans_again' };
  const [first, second] = [await send(asked, answerTo(asked), change), await send(asked, answerTo(asked), change)];
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(await second.json()).toEqual(await first.json());
  expect((await send(asked, answerTo(asked, { approved: false }), change)).status).not.toBe(200);
  expect((await details(asked)).settled).toMatchObject({ outcome: 'approved' });
});

test('an answer after somebody else has answered is refused', async () => {
  const asked = await ask();
  await world.client.decide({ requestId: asked.requestId, approved: false }, { workflowId: asked.run.workflowId });
  expect((await codeOf(await send(asked, answerTo(asked))))[0]).toBeGreaterThanOrEqual(409);
  expect((await details(asked)).settled).toMatchObject({ outcome: 'denied' });
});

test('the policy rules on it as on any decision', async () => {
  const asked = await ask('ann');
  expect(await codeOf(await send(asked, answerTo(asked)))).toEqual([403, 'not_entitled']);
  expect(await codeOf(await send(asked, answerTo(asked, { reviewerId: 'eve' })))).toEqual([403, 'not_entitled']);
  const verified = await ask('vera');
  expect(await codeOf(await send(verified, answerTo(verified, { reviewerId: 'vera' })))).toEqual([
    403,
    'unverified_reviewer',
  ]);
  for (const each of [asked, verified]) {
    expect((await details(each)).settled).toBeUndefined();
    await each.run.handle.terminate();
  }
});

describe('what nobody with the secret has sent', () => {
  const seconds = (offset: number) => String(Math.floor(Date.now() / 1_000) + offset);
  const stale = (answer: object, offset: number) => {
    const at = new Date(Date.now() + offset * 1_000);
    return {
      'webhook-id': 'ans_old',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': signingKeys([secret])[0]!.sign('ans_old', at, JSON.stringify(answer)),
    };
  };
  const cases: [string, (asked: Asked) => [answer: object, change: Sent]][] = [
    ['no signature', (asked) => [answerTo(asked), { headers: { 'webhook-signature': '' } }]],
    ['another secret', (asked) => [answerTo(asked), { secrets: ['a secret that nobody here has'] }]],
    ['the secret of another channel', (asked) => [answerTo(asked), { secrets: ['the secret of another channel'] }]],
    [
      'the signature of a denial',
      (asked) => [answerTo(asked, { approved: false }), { text: JSON.stringify(answerTo(asked)) }],
    ],
    ['another id than was signed', (asked) => [answerTo(asked), { headers: { 'webhook-id': 'ans_2' } }]],
    ['another time than was signed', (asked) => [answerTo(asked), { headers: { 'webhook-timestamp': seconds(-100) } }]],
    ['six minutes old', (asked) => [answerTo(asked), { headers: stale(answerTo(asked), -360) }]],
    ['six minutes ahead', (asked) => [answerTo(asked), { headers: stale(answerTo(asked), 360) }]],
    ['a channel that does not exist', (asked) => [answerTo(asked), { channel: 'none' }]],
    ['a channel of every object', (asked) => [answerTo(asked), { channel: 'constructor' }]],
    ['a channel that takes no answers', (asked) => [answerTo(asked), { channel: 'silent' }]],
  ];
  test.each(cases)('%s', async (_, make) => {
    const [answer, change] = make(waiting);
    expect(await codeOf(await send(waiting, answer, change))).toEqual([403, 'forbidden']);
    expect((await details(waiting)).settled).toBeUndefined();
  });

  test('the answer to another request, which was genuine', async () => {
    const [old, asked] = [await ask(), waiting];
    expect((await send(old, answerTo(old), { id: 'ans_old' })).status).toBe(200);
    const path = `/channels/desk/answers/${asked.requestId}?workflowId=${asked.run.workflowId}`;
    expect((await codeOf(await send(old, answerTo(old), { id: 'ans_old', path })))[0]).toBe(422);
    expect((await details(asked)).settled).toBeUndefined();
  });

  test('the answer to another call', async () => {
    const asked = waiting;
    const answer = answerTo(asked, { digest: '0'.repeat(64) });
    expect(await codeOf(await send(asked, answer))).toEqual([409, 'digest_mismatch']);
    expect((await details(asked)).settled).toBeUndefined();
  });

  test('the POST of the channel itself, sent back', async () => {
    const asked = waiting;
    await desk.notify!(await details(asked), notifyContext());
    const { body, headers } = receiver.hits.at(-1)!;
    const own = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, headers[name] as string]);
    const response = await send(asked, {}, { text: body, headers: Object.fromEntries(own) as Record<string, string> });
    expect((await codeOf(response))[0]).toBe(422);
    expect((await details(asked)).settled).toBeUndefined();
  });
});

test.each<[string, (asked: Asked) => string]>([
  ['approved twice', (asked) => JSON.stringify(answerTo(asked)).replace('{', '{"approved":false,')],
  ['an unknown member', (asked) => JSON.stringify(answerTo(asked, { aproved: false }))],
  ['a decision id of its own', (asked) => JSON.stringify(answerTo(asked, { decisionId: 'mine' }))],
  ['no digest', (asked) => JSON.stringify(answerTo(asked, { digest: undefined }))],
  ['no request', (asked) => JSON.stringify(answerTo(asked, { requestId: undefined }))],
  ['no approved', (asked) => JSON.stringify(answerTo(asked, { approved: undefined }))],
])('a signed answer with %s is no decision', async (_, make) => {
  const asked = waiting;
  const text = make(asked);
  const headers = { ...sign(signingKeys([secret]), { id: 'ans_1', body: text }) };
  expect((await codeOf(await send(asked, {}, { text, headers })))[0]).toBe(422);
  // The channel does not rely on the gateway's own check of the body.
  const posted = { channel: 'desk', requestId: asked.requestId, headers, body: text };
  expect(() => desk.receive!(posted)).toThrow(/does not count/);
  expect((await details(asked)).settled).toBeUndefined();
});

test('the address may name no workflow, and only one with a gate', async () => {
  const asked = await ask();
  const elsewhere = `/channels/desk/answers/${asked.requestId}?workflowId=no-such-run`;
  expect(await codeOf(await send(asked, answerTo(asked), { path: elsewhere }))).toEqual([404, 'run_not_found']);
  const path = `/channels/desk/answers/${asked.requestId}`;
  expect((await send(asked, answerTo(asked), { path })).status).toBe(200);
});

test('an answer after the deadline is refused: the run was denied at its deadline', async () => {
  const asked = expiring;
  await expect(asked.run.result()).resolves.toMatchObject({ output: expect.stringMatching(/^Denied/) });
  expect(world.ran().filter((line) => line.includes('soon'))).toEqual([]);
  const response = await send(asked, answerTo(asked));
  expect(await codeOf(response)).toEqual([410, expect.stringMatching(/^(?:expired|run_closed)$/)]);
  expect((await details(asked)).settled).toMatchObject({ outcome: 'expired', runs: false });
  expect(world.ran().filter((line) => line.includes('soon'))).toEqual([]);
});
