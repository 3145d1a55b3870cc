import { describe, expect, test } from 'vitest';
import { autoApprove, autoDeny, callback, conditional, toChannel } from '../../src/channels/simple-channels.ts';
import type { Channel, ChannelFunction, ChannelRequest, SettledContext } from '../../src/channels/channel.ts';
import { severities, type Severity } from '../../src/core/base/tool-call.ts';
import type { Settlement } from '../../src/contract.ts';
import { channelRequest, firstAttempt, notifyContext } from './channel-request.ts';

const request = channelRequest();
const { digest } = request;
const signal = new AbortController().signal;
const answerOf = async (channel: Channel, asked: ChannelRequest = request) =>
  channel.resolve!(asked, signal, firstAttempt);

describe('auto-approve and auto-deny', () => {
  test.each<[string, Channel, object]>([
    ['approves', autoApprove(), { approved: true, digest }],
    ['approves with a reason', autoApprove({ reason: 'A trial' }), { approved: true, reason: 'A trial', digest }],
    [
      'approves with a reason of its own',
      autoApprove({ reason: ({ toolName }, approved) => `${toolName} ${approved}` }),
      { approved: true, reason: 'refund true', digest },
    ],
    ['denies', autoDeny(), { approved: false, reason: 'Denied automatically: no reviewer is available.', digest }],
    ['denies with a reason', autoDeny({ reason: 'Read only' }), { approved: false, reason: 'Read only', digest }],
    [
      'denies with a reason of its own',
      autoDeny({ reason: ({ toolName }, approved) => `${toolName} ${approved}` }),
      { approved: false, reason: 'refund false', digest },
    ],
  ])('%s', async (_name, channel, answer) => expect(await answerOf(channel)).toStrictEqual(answer));
});

describe('callback', () => {
  test.each<[string, ChannelFunction, object]>([
    ['a bare true', () => true, { approved: true, digest }],
    ['a bare false', () => false, { approved: false, digest }],
    ['a promise of a boolean', async () => true, { approved: true, digest }],
    ['an answer', () => ({ approved: false, reason: 'No' }), { approved: false, reason: 'No', digest }],
    ['a digest of its own', () => ({ approved: true, digest: 'b'.repeat(64) }), { digest: 'b'.repeat(64) }],
  ])('%s', async (_name, answer, expected) => {
    expect(await answerOf(callback(answer))).toMatchObject(expected);
    expect(await answerOf(toChannel(answer))).toMatchObject(expected);
  });

  test('a reason is added to an answer that has none', async () => {
    const reason = (asked: ChannelRequest, approved: boolean): string => `${asked.toolName}: ${approved}`;
    expect(await answerOf(callback(() => false, { reason }))).toMatchObject({ reason: 'refund: false' });
    expect(await answerOf(callback(() => ({ approved: true, reason: 'mine' }), { reason }))).toMatchObject({
      reason: 'mine',
    });
    expect(await answerOf(callback(() => true, { reason: 'a text' }))).toMatchObject({ reason: 'a text' });
  });

  test('gets request, signal and context', async () => {
    const seen: unknown[] = [];
    await answerOf(callback((...given) => seen.push(given) > 0));
    expect(seen).toEqual([[request, signal, firstAttempt]]);
  });

  test.each<[string, ChannelFunction, string]>([
    ['throws', () => Promise.reject(new RangeError('out')), 'RangeError'],
    ['answers nonsense', (() => 'yes') as unknown as ChannelFunction, 'InvalidAnswer'],
    ['answers nothing', (() => undefined) as unknown as ChannelFunction, 'InvalidAnswer'],
  ])('one that %s fails, and approves nothing', async (_name, answer, name) => {
    await expect(answerOf(callback(answer))).rejects.toMatchObject({ name });
  });
});

describe('conditional', () => {
  const other = autoDeny({ reason: 'the other channel' });
  const table = severities.flatMap((below, at) =>
    severities.map((severity, rank): [Severity, Severity, boolean] => [severity, below, rank < at]),
  );
  test.each(table)('%s, below %s: approved is %s', async (severity, below, approved) => {
    const answer = await answerOf(conditional({ below, otherwise: other }), channelRequest({ severity }));
    expect(answer).toEqual({ approved, digest, ...(!approved && { reason: 'the other channel' }) });
  });

  test('medium means safe and low', async () => {
    const channel = conditional({ below: 'medium', otherwise: other });
    const approved = [];
    for (const severity of severities) {
      const answer = await answerOf(channel, channelRequest({ severity }));
      if ((answer as { approved: boolean }).approved) approved.push(severity);
    }
    expect(approved).toEqual(['safe', 'low']);
  });

  test('a severity that is unknown is below none', async () => {
    const channel = conditional({ below: 'critical', otherwise: other });
    const answer = await answerOf(channel, channelRequest({ severity: 'harmless' as Severity }));
    expect(answer).toMatchObject({ approved: false });
  });

  test('an unknown severity in its options is refused', () => {
    expect(() => conditional({ below: 'hihg' as Severity, otherwise: other })).toThrow(/'below' must be one of safe/);
  });

  const safe = channelRequest({ severity: 'safe', requestId: '1'.repeat(32) });
  const high = channelRequest({ severity: 'high', requestId: '2'.repeat(32) });
  const critical = channelRequest({ severity: 'critical', requestId: '3'.repeat(32) });
  const settlement: Settlement = { outcome: 'approved', runs: true, settledAt: '2026-01-02T03:00:00.000Z' };
  const settledContext = (requests: ChannelRequest[]): SettledContext => ({ key: 'k', attempt: 1, requests, signal });

  test('is automatic for the requests that it approves itself, and tells the other channel of its own', async () => {
    const told: unknown[] = [];
    const otherwise: Channel = {
      notify: ({ requestId }) => void told.push(['notified', requestId]),
      settled: ({ requestId }, how) => void told.push([how, requestId]),
    };
    const channel = conditional({ below: 'medium', otherwise });
    expect([safe, high, critical].map((each) => channel.isAutomatic!(each))).toEqual([true, false, false]);
    await channel.notify!(high, notifyContext([high]));
    await channel.settled!(high, settlement, settledContext([high]));
    expect(told).toEqual([
      ['notified', high.requestId],
      [settlement, high.requestId],
    ]);
  });

  test('has each member that the other channel has', () => {
    const otherwise: Required<Channel> = {
      check: () => undefined,
      reach: () => Promise.resolve(),
      test: () => Promise.resolve('sent'),
      notify: () => undefined,
      isAutomatic: () => false,
      resolve: () => ({ approved: false }),
      settled: () => undefined,
      caller: { notify: () => undefined, settled: () => undefined },
      receive: () => ({ requestId: '1'.repeat(32), approved: true }),
      batch: true,
      steps: [],
      retries: true,
      timeoutMs: 5,
    };
    const channel = conditional({ below: 'low', otherwise });
    expect(Object.keys(channel).toSorted()).toEqual(Object.keys(otherwise).toSorted());
  });

  test('has the settings of the other channel, and no member that the other lacks', () => {
    const otherwise: Channel = { notify: () => undefined, batch: true, retries: true, timeoutMs: 5 };
    expect(conditional({ below: 'low', otherwise })).toMatchObject({ batch: true, retries: true, timeoutMs: 5 });
    expect(Object.keys(conditional({ below: 'low', otherwise: other }))).toEqual(['isAutomatic', 'resolve']);
  });

  test('leaves a request open if the other channel only carries it', async () => {
    const channel = conditional({ below: 'medium', otherwise: { notify: () => undefined } });
    const stop = new AbortController();
    const waiting = Promise.resolve(channel.resolve!(high, stop.signal, firstAttempt));
    const why = new Error('settled elsewhere');
    stop.abort(why);
    await expect(waiting).rejects.toBe(why);
  });

  test('calls the methods of the other channel on it', async () => {
    class Desk {
      readonly #verdict = true;
      resolve(): boolean {
        return this.#verdict;
      }
    }
    expect(await answerOf(conditional({ below: 'low', otherwise: new Desk() }), high)).toBe(true);
  });
});

describe('toChannel', () => {
  test('keeps a channel as it is', () => {
    const channel: Channel = { notify: () => undefined };
    expect(toChannel(channel)).toBe(channel);
  });

  test.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /is a function, or an object/],
    ['null', null, /is a function, or an object/],
    ['a text', 'slack', /is a function, or an object/],
    ['an object without members', {}, /at least one of/],
    ['a member of a wrong type', { resolve: true }, /resolve is a function/],
    ['a time-out that is none', { notify: () => undefined, timeoutMs: '5m' }, /timeoutMs is a number/],
    ['a time-out of 0', { notify: () => undefined, timeoutMs: 0 }, /timeoutMs is a number/],
  ])('%s is refused', (_name, source, message) => {
    expect(() => toChannel(source as Channel)).toThrow(message);
  });
});
