/** What is sent to whom, once, and what happens to browsers that are gone. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChannelRequest, ChannelStep } from '../../../src/channels/channel.ts';
import { PartlySent } from '../../../src/channels/outgoing/not-taken.ts';
import { ProblemError } from '../../../src/core/base/problem.ts';
import type { Json } from '../../../src/core/base/tool-call.ts';
import { channelRequest } from '../../channels/channel-request.ts';
import { eventually } from '../../support/eventually.ts';
import { vapidOf } from './push-service.ts';
import { approvedByAnn, openPushWorld, publicUrl, type PushWorld } from './push-world.ts';

let world: PushWorld;
beforeAll(async () => {
  world = await openPushWorld();
  await world.subscribed('ann');
  await world.subscribed("ann's phone");
  await world.subscribed('bob', ['finance']);
  await world.subscribed('zoe');
  await eventually('all subscriptions are listed', async () => (await world.subscriptions.all()).length === 4);
});
afterAll(() => world.close());
beforeEach(() => {
  world.service.pushed.length = 0;
});
afterEach(() => world.service.answers.clear());

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();
const request = (more: Parameters<typeof channelRequest>[0] = {}): ChannelRequest =>
  channelRequest({ reviewers: ['ann', 'bob'], severity: 'high', deadline: inAnHour(), ...more });
const reached = (): string[] => world.service.pushed.map(({ browser }) => browser).toSorted();
const everybody = ['ann', "ann's phone", 'bob', 'zoe'];

test('a message names agent, tool, severity and deadline, leads to the request, and says no argument', async () => {
  const asked = request({ reviewers: ['bob'], arguments: { iban: 'DE02120300000000202051' } });
  await world.channelWith().notify!(asked, world.context());
  const [pushed, ...others] = world.service.pushed;
  expect(others).toEqual([]);
  expect(pushed!.message).toEqual({
    title: 'A call waits for a decision',
    body: 'support wants to call refund · severity high',
    until: asked.deadline,
    tag: `countersign-${asked.requestId}`,
    url: `${publicUrl}/inbox/requests/ticket-8/${asked.requestId}`,
    key: expect.stringMatching(/^[\w-]{16}$/),
  });
  for (const secret of ['DE0212', 'iban', 'o-17', asked.reason, asked.contextSummary]) {
    expect(pushed!.text).not.toContain(secret);
  }
  expect(pushed!.headers).toMatchObject({ 'content-encoding': 'aes128gcm', urgency: 'high' });
  expect(pushed!.headers['topic']).toMatch(/^[\w-]{32}$/);
  const ttl = Number(pushed!.headers['ttl']);
  expect(ttl).toBeGreaterThan(3_500);
  expect(ttl).toBeLessThanOrEqual(3_600);
  const { aud, sub, exp } = await vapidOf(pushed!, world.keys.publicKey);
  expect([aud, sub]).toEqual([world.service.url, 'mailto:ops@example.com']);
  expect(exp!).toBeLessThanOrEqual(Date.now() / 1_000 + 24 * 3_600);
});

test('names are bounded and show what is invisible, and a very long id leads to the list', async () => {
  const odd = request({
    reviewers: ['bob'],
    toolName: `pay\u202e${'x'.repeat(5_000)}`,
    workflowId: '\u00e4'.repeat(900),
  });
  await world.channelWith().notify!(odd, world.context());
  const [pushed] = world.service.pushed;
  expect(pushed!.message.body).toMatch(/^support wants to call pay\\?u\{202E\}x+…/);
  expect(pushed!.message.url).toBe(`${publicUrl}/inbox/`);
  expect(pushed!.text.length).toBeLessThan(1_000);
});

describe('who gets it', () => {
  const escalated: ChannelStep = { kind: 'escalated', to: ['zoe'] };
  const vote = { reviewerId: 'ann', approved: true, at: '2026-01-02T03:04:00Z' };
  test.each<[string, Partial<ChannelRequest>, ChannelStep['kind'] | ChannelStep, string[]]>([
    ['those whom it names', { reviewers: ['ann', 'nobody'] }, 'asked', ['ann', "ann's phone"]],
    ['the members of a group', { reviewers: ['group:finance', 'zoe'] }, 'asked', ['bob', 'zoe']],
    ['nobody of an unknown group', { reviewers: ['group:board'] }, 'asked', []],
    ['everybody, if it names nobody', { reviewers: [] }, 'asked', everybody],
    [
      'whoever has a seat',
      { reviewers: ['ann'], delegations: [{ from: 'ann', to: 'zoe', by: 'ann', at: '2026-01-02T03:04:00Z' }] } as never,
      'asked',
      ['ann', "ann's phone", 'zoe'],
    ],
    ['those to whom it is escalated', { reviewers: ['ann'] }, escalated, ['zoe']],
    ['who has not voted, when it is repeated', { votes: [vote] } as never, 'reminded', ['bob']],
    ['who has not voted, when it expires', { votes: [vote] } as never, 'warned', ['bob']],
  ])('%s', async (_, more, step, browsers) => {
    const given = typeof step === 'string' ? { kind: step } : step;
    await world.channelWith().notify!(request(more), world.context({ step: given }));
    expect(reached()).toEqual(browsers);
  });
});

test('a reminder has the tag of the first message, and another key, so that it takes its place and rings', async () => {
  const [channel, asked] = [world.channelWith(), request({ reviewers: ['bob'] })];
  const sent = await channel.notify!(asked, world.context());
  await channel.notify!(asked, world.context({ step: { kind: 'reminded' }, sent: sent! }));
  const [first, second] = world.service.pushed.map(({ message }) => message);
  expect(second!.tag).toBe(first!.tag);
  expect(second!.key).not.toBe(first!.key);
  expect(second!.title).toBe('A call still waits for a decision');
});

test('nobody is asked whose approval would not count', async () => {
  await world.channelWith().notify!(request({ reviewers: ['ann', 'bob'], approvers: ['bob'] }), world.context());
  expect(reached()).toEqual(['bob']);
});

test('once settled, those who got the message are told silently in its place, and nobody else', async () => {
  const [channel, asked] = [world.channelWith(), request({ reviewers: ['ann', 'bob'] })];
  world.service.answers.set('bob', 410);
  const sent = await channel.notify!(asked, world.context());
  await world.subscribed('bob', ['finance']);
  const more = await channel.notify!(asked, world.context({ step: { kind: 'escalated', to: ['zoe'] }, sent: sent! }));
  const { message: first, headers } = world.service.pushed[0]!;
  world.service.pushed.length = 0;
  world.service.answers.clear();
  await channel.settled!(...approvedByAnn(asked), world.settledContext({ sent: more! }));
  expect(reached()).toEqual(['ann', "ann's phone", 'zoe']);
  for (const pushed of world.service.pushed) {
    expect(pushed.message).toMatchObject({
      title: 'Settled: approved by ann',
      tag: first.tag,
      url: first.url,
      silent: true,
    });
    expect([pushed.headers['topic'], pushed.headers['ttl']]).toEqual([headers['topic'], '86400']);
  }
  world.service.pushed.length = 0;
  await channel.settled!(...approvedByAnn(asked), world.settledContext());
  expect(reached()).toEqual([]);
});

describe.each([404, 410])('a push service that answers %i', (status) => {
  test('knows the subscription no more: it is removed, and the others get their message', async () => {
    await world.subscribed("bob's tablet", ['finance']);
    world.service.answers.set("bob's tablet", status);
    const channel = world.channelWith();
    await channel.notify!(request({ reviewers: ['bob'] }), world.context());
    expect(reached()).toEqual(['bob', "bob's tablet"]);
    expect(await world.subscriptions.of('bob')).toHaveLength(1);
    await channel.notify!(request({ reviewers: ['bob'] }), world.context());
    expect(reached()).toEqual(['bob', 'bob', "bob's tablet"]);
  });
});

describe.each([500, 503, 429, 403, 302])('a push service that answers %i', (status) => {
  test('is tried again, and nobody gets a second message', async () => {
    world.service.answers.set('bob', status);
    const [channel, context] = [world.channelWith(), world.context()];
    const failed = await Promise.resolve(channel.notify!(request(), context)).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(PartlySent);
    expect((failed as PartlySent).cause).toBeInstanceOf(ProblemError);
    expect((failed as Error).message).toContain(`The service at ${world.service.url} answered ${status}`);
    expect((failed as Error).message).not.toContain('/push/');
    world.service.answers.clear();
    await channel.notify!(request(), { ...context, attempt: 2 });
    expect(reached()).toEqual(['ann', "ann's phone", 'bob', 'bob']);
  });
});

test('those whom a message has reached are told of the settlement, although others did not get it', async () => {
  world.service.answers.set('bob', 500);
  const partly = await Promise.resolve(world.channelWith().notify!(request(), world.context())).catch(
    (error: PartlySent) => error,
  );
  const { sent } = partly as PartlySent;
  const channel = world.channelWith();
  expect(sent).toEqual({ reached: [expect.any(String), expect.any(String)], failed: 1 });
  world.service.pushed.length = 0;
  await channel.settled!(...approvedByAnn(request()), world.settledContext({ sent }));
  expect(reached()).toEqual(['ann', "ann's phone"]);
  const alone = channel.notify!(request({ reviewers: ['bob'] }), world.context());
  await expect(alone).rejects.toThrow('answered 500');
});

test('a push service that is away is tried again, and its error names no address of a browser', async () => {
  const nobody = world.service.subscribe('away');
  const endpoint = 'https://127.0.0.1:9/secret-of-a-browser';
  await world.app.subscribe({ id: 'tom', groups: [] }, { ...nobody, endpoint }, world.records);
  const sending = world.channelWith().notify!(request({ reviewers: ['tom'] }), world.context());
  await expect(sending).rejects.toThrow(/^The service at https:\/\/127\.0\.0\.1:9 cannot be reached: (?!.*secret-of)/);
  expect(await world.subscriptions.of('tom')).toHaveLength(1);
});

test('a worker that was lost may send twice: the second message replaces the first and does not ring', async () => {
  const [asked, context] = [request({ reviewers: ['bob'] }), world.context()];
  await world.channelWith().notify!(asked, context);
  await world.channelWith().notify!(asked, { ...context, attempt: 2 });
  const [first, second] = world.service.pushed;
  expect(second!.message).toEqual(first!.message);
  expect(second!.headers['topic']).toBe(first!.headers['topic']);
});

test('without a worker nothing can be read, and it says so', async () => {
  const { records: _, ...context } = world.context();
  await expect(world.channelWith().notify!(request(), context)).rejects.toThrow('Web push needs a worker');
});

test('a request without a deadline is kept for a day, one with a distant deadline for four weeks', async () => {
  const channel = world.channelWith();
  await channel.notify!(request({ reviewers: ['bob'], deadline: null, severity: 'low' }), world.context());
  await channel.notify!(request({ reviewers: ['bob'], deadline: '2099-01-01T00:00:00.000Z' }), world.context());
  await channel.notify!(request({ reviewers: ['bob'], deadline: '2020-01-01T00:00:00.000Z' }), world.context());
  const kept = world.service.pushed.map(({ headers }) => headers['ttl']);
  expect(kept).toEqual(['86400', String(28 * 86_400), '0']);
  expect(world.service.pushed[0]!.headers['urgency']).toBe('normal');
});

describe('the caller', () => {
  const asked = (more: Parameters<typeof request>[0] = {}): ChannelRequest =>
    request({ callerUserId: 'zoe', approvers: ['ann', 'bob'], ...more });

  test.each([
    ['off', undefined, asked(), undefined],
    ['beside reviewers', 'also', asked(), ['zoe']],
    ['alone', 'only', asked(), ['zoe']],
    ['who is asked as a reviewer', 'also', asked({ callerUserId: 'bob' }), []],
    ['in another spelling', 'only', asked({ callerUserId: 'Zoe' }), ['zoe']],
    ['by another id', 'only', asked({ callerUserId: 'u-9', people: { zoe: { also: ['u-9'] } } }), ['zoe']],
    ['who is named like a group', 'only', asked({ callerUserId: 'group:finance' }), []],
    ['who has no browser', 'only', asked({ callerUserId: 'eve' }), []],
    ['of nobody', 'only', asked({ callerUserId: null }), []],
  ] as const)('%s', async (_name, callers, about, browsers) => {
    const { caller, ...channel } = world.channelWith({ ...(callers !== undefined && { callers }) });
    expect(channel.notify === undefined).toBe(callers === 'only');
    if (browsers === undefined) return expect(caller).toBeUndefined();
    const sent = (await caller!.notify(about, world.context())) as Json;
    expect(reached()).toEqual(browsers);
    await caller!.settled(...approvedByAnn(about), world.settledContext({ sent }));
    expect(reached()).toEqual([...browsers, ...browsers]);
    for (const { text } of world.service.pushed) expect(text).not.toContain(about.reason);
  });

  test('learns until when it waits, then the outcome, in place of the first message', async () => {
    const about = asked();
    const { caller } = world.channelWith({ callers: 'only' });
    const sent = (await caller!.notify(about, world.context())) as Json;
    await caller!.settled(...approvedByAnn(about), world.settledContext({ sent }));
    const common = {
      tag: `countersign-caller-${about.requestId}`,
      url: `${publicUrl}/inbox/runs/ticket-8`,
      key: expect.stringMatching(/^[\w-]{16}$/) as string,
    };
    const waits = 'support waits for a decision before it calls refund';
    expect(world.service.pushed.map(({ message }) => message)).toEqual([
      { title: 'Waiting for a decision', body: waits, until: about.deadline, ...common },
      { title: 'Approved by ann', body: 'support asked to call refund', ...common },
    ]);
  });
});
