/** The template of docs/on-call.md sends PagerDuty the events of its Events API v2. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { httpTemplateChannel, type HttpTemplateOptions } from '../../../src/adapters/on-call/http-template-channel.ts';
import { readChannels } from '../../../src/adapters/read-channels.ts';
import type { Channel, ChannelStep } from '../../../src/channels/channel.ts';
import { severities } from '../../../src/core/base/tool-call.ts';
import { type HttpServiceInTest, openHttpService } from '../../support/http-service.ts';
import { pagerDutyFile, pagerDutyTemplate, routingKey } from './pager-duty.ts';
import { notifyContext, refund, settledContext, settlement } from './support.ts';

let service: HttpServiceInTest;
beforeAll(async () => {
  service = await openHttpService();
});
beforeEach(() => {
  service.requests.length = 0;
  service.answer = { status: 202, body: '{"status":"success","message":"Event processed","dedup_key":"x"}' };
});
afterAll(() => service.stop());

const channelWith = (more: Partial<HttpTemplateOptions> = {}): Channel =>
  httpTemplateChannel({
    ...pagerDutyTemplate(service.url),
    allowAddresses: ['127.0.0.1'],
    gatewayUrl: 'https://approvals.example.com',
    ...more,
  });
const events = (): Record<string, unknown>[] =>
  service.requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
const dedupKey = `countersign-${refund.requestId}`;

test('notify triggers an incident in the form of the Events API v2', async () => {
  await channelWith().notify!(refund, notifyContext());
  expect(service.requests).toMatchObject([
    { method: 'POST', path: '/v2/enqueue', headers: { 'content-type': 'application/json' } },
  ]);
  const link = `https://approvals.example.com/inbox/requests/ticket-8/${refund.requestId}`;
  expect(events()).toEqual([
    {
      routing_key: routingKey,
      event_action: 'trigger',
      dedup_key: dedupKey,
      payload: {
        summary: 'Refund 1,249.50 EUR of order o-17 to the card that paid it',
        source: 'ticket-8',
        severity: 'error',
        timestamp: '2026-01-02T03:00:00.000Z',
        component: 'refund',
        group: 'support',
        class: 'approval',
        custom_details: {
          request: refund.requestId,
          risk: 'destructive',
          severity: 'high',
          rule: 'large-refunds',
          reason: 'Refunds of 1,000 and more need a lead',
          step: 'asked',
          waits_until: expect.stringMatching(/^2 Jan 2026, 03:10 UTC/) as string,
          reviewers: ['ann', 'group:finance'],
        },
      },
      client: 'Countersign',
      client_url: link,
      links: [{ href: link, text: 'Read it and answer' }],
    },
  ]);
});

test('reminders, attempts and the settlement are about the same incident', async () => {
  const channel = channelWith();
  await channel.notify!(refund, notifyContext());
  await channel.notify!(refund, notifyContext({ attempt: 2 }));
  await channel.notify!(refund, notifyContext({ step: { kind: 'escalated', to: ['zoe'] }, key: 'second' }));
  await channel.settled!(refund, settlement, settledContext());
  expect(events().map(({ event_action: action, dedup_key: key }) => [action, key])).toEqual([
    ['trigger', dedupKey],
    ['trigger', dedupKey],
    ['trigger', dedupKey],
    ['resolve', dedupKey],
  ]);
  expect(events()[3]).toEqual({ routing_key: routingKey, event_action: 'resolve', dedup_key: dedupKey });
});

test('a late attempt opens no incident for a request that is settled', async () => {
  await channelWith().notify!({ ...refund, settled: settlement }, notifyContext());
  expect(service.requests).toEqual([]);
});

test('the incident is resolved also if no attempt to open it is known to have arrived', async () => {
  service.answer = { status: 503, body: '{}' };
  await expect(channelWith().notify!(refund, notifyContext())).rejects.toThrow('answered 503');
  service.answer = { status: 202, body: '{}' };
  await channelWith().settled!(refund, settlement, settledContext());
  expect(events().map(({ event_action: action }) => action)).toEqual(['trigger', 'resolve']);
});

test.each<[ChannelStep['kind'], number]>([
  ['asked', 0],
  ['reminded', 0],
  ['escalated', 1],
])('with steps: [escalated], %s sends %i events', async (kind, count) => {
  await channelWith({ steps: ['escalated'] }).notify!(refund, notifyContext({ step: { kind } }));
  expect(service.requests).toHaveLength(count);
});

test('severities', async () => {
  for (const severity of severities) {
    const assessment = { ...refund.assessment, severity };
    await channelWith().notify!({ ...refund, assessment }, notifyContext());
  }
  expect(events().map(({ payload }) => (payload as { severity: string }).severity)).toEqual([
    'info',
    'info',
    'warning',
    'error',
    'critical',
  ]);
});

test('a hostile sentence is visible and bounded', async () => {
  await channelWith().notify!({ ...refund, sentence: `\u202e${'x'.repeat(5_000)}` }, notifyContext());
  const { payload } = events()[0] as { payload: { summary: string } };
  expect(payload.summary).toMatch(/^\\u\{202E\}x+…$/);
  // PagerDuty refuses longer ones.
  expect(payload.summary.length).toBeLessThanOrEqual(1_024);
});

describe('a service that fails', () => {
  test.each<[number, string]>([
    [429, 'rate_limited'],
    [500, 'internal'],
    [400, 'invalid_message'],
    [302, 'forbidden'],
  ])('%i is an error, without the key', async (status, code) => {
    service.answer = { status, body: routingKey, headers: { location: `${service.url}/elsewhere` } };
    const error = await Promise.resolve(channelWith().notify!(refund, notifyContext())).catch((each: Error) => each);
    expect(error).toMatchObject({ code, message: expect.stringContaining(`answered ${status}`) });
    expect(JSON.stringify(error, ['message', 'cause', 'stack'])).not.toContain(routingKey);
    // What it refuses as it is goes out in its short form.
    expect(service.requests).toHaveLength(status === 400 ? 2 : 1);
  });

  test('an answer that never ends', async () => {
    service.answer = { status: 202 };
    const channel = channelWith({ requestTimeoutMs: 200 });
    await expect(channel.notify!(refund, notifyContext())).rejects.toThrow('did not answer within 0.2s');
  });

  test('an aborted attempt ends', async () => {
    const signal = AbortSignal.abort(new Error('over'));
    await expect(channelWith().notify!(refund, notifyContext({ signal }))).rejects.toThrow('over');
  });
});

test('the channel file of the page', async () => {
  process.env['PAGERDUTY_ROUTING_KEY'] = `${routingKey}\n`;
  const text = pagerDutyFile(service.url).replace('steps:', 'allow_addresses: [127.0.0.0/8]\n    steps:');
  const { pager } = (await readChannels(text)).channels;
  await pager!.notify!(refund, notifyContext());
  expect(events()).toEqual([]);
  await pager!.notify!(refund, notifyContext({ step: { kind: 'escalated' } }));
  await pager!.settled!(refund, settlement, settledContext());
  expect(events()).toMatchObject([
    {
      routing_key: routingKey,
      event_action: 'trigger',
      client_url: expect.stringContaining(refund.requestId) as string,
    },
    { routing_key: routingKey, event_action: 'resolve', dedup_key: dedupKey },
  ]);
});
