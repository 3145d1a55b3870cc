import { describe, expect, test } from 'vitest';
import { settledNotice, stepNotice } from '../../src/adapters/email/mail-content.ts';
import { templateValues } from '../../src/adapters/on-call/template.ts';
import { askingMessage } from '../../src/adapters/web-push/push-message.ts';
import { cardDigest, cardOf } from '../../src/card/card-of.ts';
import type { CardRequest } from '../../src/card/card.ts';
import { renderHtml } from '../../src/card/render-html.ts';
import { renderMarkdown } from '../../src/card/render-markdown.ts';
import { renderSlack } from '../../src/card/render-slack.ts';
import { renderTerminal } from '../../src/card/render-terminal.ts';
import type { ChannelRequest } from '../../src/channels/channel.ts';
import type { Settlement } from '../../src/contract.ts';
import type { ReaderClock } from '../../src/text/instant-text.ts';
import { cardRequest, nowMs } from './sample-requests.ts';

const settled: Settlement = {
  outcome: 'approved',
  runs: true,
  reason: '',
  reviewerId: 'ann',
  settledAt: '2026-11-29T14:31:00.000Z',
};
const times = { requestedAt: '2026-11-29T14:00:00.000Z', deadline: '2026-11-29T14:30:00.000Z' };
const open = cardRequest({
  ...times,
  deniedBefore: { times: 1, at: '2026-11-28T09:00:00.000Z', reviewerId: 'bob', reason: 'no receipt' },
  ranBefore: { at: '2026-11-28T10:00:00.000Z', ran: 'yes' },
});
const over = cardRequest({ ...times, settled });
const berlin: ReaderClock = { timeZone: 'Europe/Berlin' };
/** A bare instant of ISO 8601. */
const bare = /\d{4}-\d{2}-\d{2}T/;

/** Everything that a person reads of a request, by where they read it. */
const shown: [where: string, text: (request: CardRequest, clock: ReaderClock) => string][] = [
  ['terminal', (request, clock) => renderTerminal(cardOf(request, { nowMs }), { clock })],
  ['HTML', (request, clock) => renderHtml(cardOf(request, { nowMs }), clock)],
  ['Markdown', (request, clock) => renderMarkdown(cardOf(request, { nowMs }), clock)],
  ['the notice of a mail', (request, clock) => stepNotice('warned', request, clock)],
  ['the settlement of a mail', (_, clock) => settledNotice(settled, {}, clock)],
];

describe.each(shown)('%s', (_where, text) => {
  test.each([
    ['open', open],
    ['settled', over],
  ])('%s: no bare instant, and the zone of the reader', (_name, request) => {
    const inUtc = text(request, {});
    const local = text(request, berlin);
    expect(inUtc).not.toMatch(bare);
    expect(local).not.toMatch(bare);
    expect(inUtc).toContain('29 Nov 2026, 14:3');
    expect(local).toContain('29 Nov 2026, 15:3');
    expect(local).toContain(' CET');
  });
});

test('a card says until when, how long that is, and since when', () => {
  const card = cardOf(open, { nowMs: Date.parse('2026-11-29T14:05:00.000Z') });
  const clock = { timeZone: 'Europe/Berlin', nowMs: Date.parse('2026-11-29T14:05:00.000Z') };
  expect(renderTerminal(card, { clock })).toContain('\nuntil 15:30 CET (in 25 min), asked 15:00 CET\n');
});

test('Slack shows instants by its own clocks, and a time in words where it cannot', () => {
  const blocks = [open, over].flatMap((request) => renderSlack(cardOf(request)).flatMap((message) => message.blocks));
  const elements = blocks.flatMap((block) => (block.type === 'rich_text' ? block.elements : []));
  const dates = elements.flatMap((each) => each.elements).filter((each) => each.type === 'date');
  expect(new Set(dates.map(({ format }) => format))).toEqual(new Set(['{date_short_pretty}, {time}']));
  expect(new Set(dates.map(({ timestamp, fallback }) => `${timestamp} ${fallback}`))).toEqual(
    new Set([
      `${Date.parse('2026-11-28T09:00:00Z') / 1_000} 28 Nov 2026, 09:00 UTC`,
      `${Date.parse(times.requestedAt) / 1_000} 29 Nov 2026, 14:00 UTC`,
      `${Date.parse(times.deadline) / 1_000} 29 Nov 2026, 14:30 UTC`,
      `${Date.parse(settled.settledAt) / 1_000} 29 Nov 2026, 14:31 UTC`,
    ]),
  );
  expect(JSON.stringify(blocks)).not.toMatch(bare);
});

test('the digest of a card is the same for every reader', () => {
  const card = cardOf(open, { nowMs });
  const before = cardDigest(card);
  for (const [, text] of shown) text(open, berlin);
  expect(cardDigest(card)).toBe(before);
  expect(JSON.stringify(card.time)).toMatch(bare);
});

test('web push sends the instant as a machine reads it, and no sentence holds it', () => {
  const message = askingMessage(open, { kind: 'asked' }, { origin: 'https://a.example', key: 'k' });
  expect(message.until).toBe(times.deadline);
  expect(`${message.title} ${message.body}`).not.toMatch(bare);
});

test('templates have a deadline in words, and keep the instant', () => {
  const values = templateValues({ request: open, key: 'k', attempt: 1, secrets: {} });
  expect(values['deadline']).toMatch(/^29 Nov 2026, 14:30 UTC \(.+\)$/);
  expect(values['request']).toMatchObject({ deadline: times.deadline });
  const endless = { ...open, deadline: null } as ChannelRequest;
  expect(templateValues({ request: endless, key: 'k', attempt: 1, secrets: {} })['deadline']).toBe('no deadline');
});
