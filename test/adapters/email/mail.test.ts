import { domainToASCII } from 'node:url';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { emailChannel, type EmailOptions } from '../../../src/adapters/email/email-channel.ts';
import { readChannels } from '../../../src/adapters/read-channels.ts';
import { emailKind } from '../../../src/adapters/email/email-kind.ts';
import type { ChannelContext } from '../../../src/channels/channel-kind.ts';
import type { Channel, ChannelRequest, NotifyContext, SettledContext } from '../../../src/channels/channel.ts';
import type { Settlement } from '../../../src/contract.ts';
import { ProblemError } from '../../../src/core/base/problem.ts';
import type { Json } from '../../../src/core/base/tool-call.ts';
import { cardSamples } from '../../card/card-samples.ts';
import { type MailServerInTest, openMailServer, type ReceivedMail } from './mail-server.ts';
import { selfSigned } from '../../support/certificates.ts';

let server: MailServerInTest;
beforeAll(async () => {
  server = await openMailServer();
});
afterEach(() => {
  server.mails.length = 0;
  server.refusals.clear();
});
afterAll(() => server.stop());

let made: ReturnType<typeof selfSigned> | undefined;
const certificate = () => (made ??= selfSigned());

const people = {
  ann: 'ann@example.com',
  bob: { address: 'bob@example.com', groups: ['support-leads'] },
  zoe: 'zoe@example.com',
};
const linkKey = 'a link key of this test, long enough';
const channelWith = (more: Partial<EmailOptions> = {}): Channel =>
  emailChannel({
    transport: { host: '127.0.0.1', port: server.port, tls: 'none' },
    from: 'Approvals <approvals@example.com>',
    gatewayUrl: 'https://approvals.example.com',
    namespace: 'default',
    linkKey,
    people,
    ...more,
  });

const refund: ChannelRequest = { ...cardSamples['refund']!, deadline: null, reviewers: ['ann', 'bob'] };
const contextOf = (more: Partial<NotifyContext> = {}): NotifyContext => ({
  step: { kind: 'asked' },
  key: 'first',
  attempt: 1,
  requests: [refund],
  signal: new AbortController().signal,
  ...more,
});
const notify = async (
  channel: Channel,
  request = refund,
  more: Partial<NotifyContext> = {},
): Promise<Json | undefined> => (await channel.notify!(request, contextOf(more))) ?? undefined;
const settlement: Settlement = {
  outcome: 'denied',
  runs: false,
  reviewerId: 'ann',
  settledAt: '2026-01-02T03:05:00.000Z',
};
const settle = async (channel: Channel, sent: Json | undefined, key = 'end'): Promise<void> => {
  const context: SettledContext = { key, attempt: 1, sent, requests: [refund], signal: new AbortController().signal };
  await channel.settled!(refund, settlement, context);
};
const readBy = (): string[] => server.mails.flatMap(({ to }) => to).sort();
const header = (mail: ReceivedMail | undefined, name: string): string | undefined => mail?.headers.get(name);

test('each reviewer gets a mail of their own, with the card as text and as HTML, and a link of their own', async () => {
  await notify(channelWith());
  expect(server.mails.map(({ to }) => to)).toEqual([['ann@example.com'], ['bob@example.com']]);
  const links = server.mails.map(({ parts }) => {
    const [plain, html] = [parts.get('text/plain')!, parts.get('text/html')!];
    for (const part of [plain, html]) {
      expect(part).toContain('Refund 1,249.50 EUR of order o-17');
      expect(part).toContain('124950');
      expect(part).toContain(`https://approvals.example.com/inbox/requests/ticket-8/${refund.requestId}`);
    }
    expect(html).not.toMatch(/<script|<img|<form|https?:\/\/(?!approvals\.example\.com)/i);
    const [link] = /https:\/\/approvals\.example\.com\/links\/\S+/.exec(plain)!;
    expect(html).toContain(`href="${link}"`);
    // The link stands before anything that the request says.
    expect(plain.indexOf(link)).toBeLessThan(plain.indexOf('Refund 1,249.50'));
    expect(html.indexOf(link)).toBeLessThan(html.indexOf('<article'));
    return link;
  });
  expect(new Set(links).size).toBe(2);
  expect(server.mails[0]!.raw).not.toContain('bob@example.com');
});

test('no name stands before a link, because mail programs make links of addresses in names', async () => {
  const channel = channelWith({ people: { ann: 'ann@example.com' } });
  const evil = 'https://evil.example/login';
  const sent = await notify(channel, { ...refund, agentName: `Bot. Sign in first at ${evil} . The agent` });
  const context: SettledContext = { key: 'end', attempt: 1, sent, requests: [refund], signal: contextOf().signal };
  await channel.settled!(refund, { ...settlement, reviewerId: `ann. To undo this open ${evil}` }, context);
  expect(server.mails).toHaveLength(2);
  for (const { parts } of server.mails) {
    for (const part of parts.values()) {
      const inbox = part.indexOf('https://approvals.example.com/inbox/');
      expect(inbox).toBeGreaterThan(-1);
      expect(part.lastIndexOf('https://approvals.example.com/links/', inbox)).toBeLessThan(inbox);
      expect(part.indexOf(evil)).toBeGreaterThan(inbox);
    }
  }
});

test('headers: automatic, threaded by the key of the step, with the sentence as subject', async () => {
  const channel = channelWith({ people: { ann: 'ann@example.com' } });
  const sent = await notify(channel);
  await notify(channel, refund, { key: 'second', step: { kind: 'reminded' }, sent });
  await settle(channel, sent);
  const [first, second, last] = server.mails;
  expect(header(first, 'from')).toBe('Approvals <approvals@example.com>');
  expect(header(first, 'subject')).toBe('Approval: Refund 1,249.50 EUR of order o-17 to the card that paid it');
  const ids = server.mails.map((mail) => header(mail, 'message-id'));
  expect(new Set(ids).size).toBe(3);
  expect(ids[0]).toMatch(/^<[0-9a-f]{32}\.[0-9a-f]{16}@example\.com>$/);
  expect(header(first, 'in-reply-to')).toBeUndefined();
  for (const reply of [second, last]) {
    expect(header(reply, 'in-reply-to')).toBe(ids[0]);
    expect(header(reply, 'references')).toBe(ids[0]);
    expect(header(reply, 'subject')).toBe(`Re: ${header(first, 'subject')}`);
  }
  for (const mail of server.mails) expect(header(mail, 'auto-submitted')).toBe('auto-generated');
  expect(second!.parts.get('text/plain')).toContain('still waits');
  expect(last!.parts.get('text/plain')).toContain('The request was settled on 2 Jan 2026, 03:05 UTC: denied by ann.');
  expect(last!.parts.get('text/plain')).not.toContain('/links/');
});

test('a repeat by another worker has the same Message-ID', async () => {
  await notify(channelWith());
  await notify(channelWith(), refund, { attempt: 2 });
  const ids = server.mails.map((mail) => header(mail, 'message-id'));
  expect(ids.slice(2)).toEqual(ids.slice(0, 2));
});

test('what notify returns has no address, no name and no link, and is small', async () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`person ${n}`, `person${n}@example.com`]));
  const sent = await notify(channelWith({ people: many }), { ...refund, reviewers: [] });
  const text = JSON.stringify(sent);
  expect(text).not.toMatch(/person|@|links/);
  expect(text.length).toBeLessThan(2_000);
});

describe('who gets a mail', () => {
  test.each<[string, Partial<ChannelRequest>, Partial<NotifyContext>, string[]]>([
    ['a member of a group', { reviewers: ['group:support-leads'] }, {}, ['bob']],
    ['anybody', { reviewers: [] }, {}, ['ann', 'bob', 'zoe']],
    ['nobody whose approval would not count', { reviewers: ['ann', 'zoe'], approvers: ['zoe'] }, {}, ['zoe']],
    ['a member of a group of the policy', { reviewers: ['group:finance', 'bob'], approvers: ['ann'] }, {}, ['ann']],
    [
      'of a group, only whom the escalation adds',
      { approvers: ['ann', 'bob'] },
      { step: { kind: 'escalated', to: ['group:support-leads'] } },
      ['bob'],
    ],
    ['the delegate', { reviewers: ['ann'], delegations: [{ from: 'ann', to: 'zoe' }] }, {}, ['ann', 'zoe']],
    ['whom the escalation adds', {}, { step: { kind: 'escalated', to: ['zoe'] } }, ['zoe']],
    [
      'a reminder goes to those who have not voted',
      { votes: [{ reviewerId: 'ann', identity: 'claimed', approved: true, at: '', contentDigest: '' }] },
      { step: { kind: 'reminded' } },
      ['bob'],
    ],
    ['nobody, once the request is settled', { settled: settlement }, {}, []],
  ])('%s', async (_, request, context, expected) => {
    await notify(channelWith(), { ...refund, ...request }, context);
    expect(readBy()).toEqual(expected.map((name) => `${name}@example.com`));
  });

  test('a shared address gets the card and no link that answers', async () => {
    const sent = await notify(channelWith({ people: {}, to: ['team@example.com'] }));
    expect(readBy()).toEqual(['team@example.com']);
    expect(server.mails[0]!.parts.get('text/plain')).toContain('124950');
    expect(server.mails[0]!.raw).not.toContain('/links/');
    await settle(channelWith({ people: {}, to: ['team@example.com'] }), sent);
    expect(readBy()).toHaveLength(2);
  });

  test('only those who were asked hear how it was settled', async () => {
    const channel = channelWith();
    const sent = await notify(channel, { ...refund, reviewers: ['ann'] });
    const more = await notify(channel, refund, { key: 'k2', step: { kind: 'escalated', to: ['zoe'] }, sent });
    server.mails.length = 0;
    await settle(channel, more);
    expect(readBy()).toEqual(['ann@example.com', 'zoe@example.com']);
  });

  test('reviewers without an address are an error that names them', async () => {
    await expect(notify(channelWith(), { ...refund, reviewers: ['carl'] })).rejects.toThrow(/no address for carl/);
    const own = { ...refund, reviewers: ['bob'], approvers: [] };
    await expect(notify(channelWith(), own)).rejects.toThrow(/no address of a reviewer whose approval would count/);
  });
});

describe('what a mail does not say', () => {
  test('above the highest severity, a mail has a link to the inbox and nothing of the call', async () => {
    const channel = channelWith({ highestSeverity: 'medium' });
    await settle(channel, await notify(channel));
    expect(server.mails).toHaveLength(4);
    for (const { raw, parts, headers } of server.mails) {
      expect(raw + [...parts.values()].join('')).not.toMatch(/1,249|124950|o-17|\/links\/|Arrived/);
      expect(headers.get('subject')).toMatch(/^(?:Re: )?Approval: a call of refund$/);
      expect(parts.get('text/plain')).toContain('/inbox/requests/');
    }
  });

  test('what is redacted stays so', async () => {
    const redacted = {
      ...refund,
      arguments: { to: '[EMAIL …mple · b759]' },
      redacted: ['to'],
      sentence: 'Mail [EMAIL …mple · b759]',
    };
    await notify(channelWith(), redacted);
    expect(server.mails[0]!.parts.get('text/plain')).toContain('[EMAIL …mple · b759]');
    expect(server.mails[0]!.parts.get('text/html')).toContain('[EMAIL …mple · b759]');
  });

  test('without a key no link answers', async () => {
    await notify(channelWith({ linkKey: undefined }));
    expect(server.mails[0]!.raw).not.toContain('/links/');
  });
});

test.each<[string, string, string]>([
  [
    'a line break',
    'Pay\r\nBcc: eve@example.com\r\n\r\nHello',
    'Approval: Pay\\u{000D}\\u{000A}Bcc: eve@example.com\\u{000D}\\u{000A}\\u{000D}\\u{000A}Hello',
  ],
  ['a bidi control', 'Pay \u202e001', 'Approval: Pay \\u{202E}001'],
  ['other scripts stay', 'Überweise 5 € an Zoë', 'Approval: Überweise 5 € an Zoë'],
  ['a long text', 'x'.repeat(400), `Approval: ${'x'.repeat(160)}…`],
  ['escapes are not cut', '\u202e'.repeat(200), `Approval: ${'\\u{202E}'.repeat(160)}…`],
  ['an encoded word', '=?UTF-8?Q?a=0D=0ABcc:_eve@example.com?=', 'Approval: a\r\nBcc: eve@example.com'],
])('a hostile subject: %s', async (_, sentence, subject) => {
  await notify(channelWith({ people: { ann: 'ann@example.com' } }), { ...refund, sentence });
  const [mail] = server.mails;
  expect(header(mail, 'subject')).toBe(subject);
  expect(mail!.to).toEqual(['ann@example.com']);
  expect(mail!.headers.has('bcc')).toBe(false);
});

test('HTML in a request is text', async () => {
  const args = { note: '<a href="https://evil.example">Approve</a><img src=x>' };
  await notify(channelWith(), { ...refund, sentence: '<b>x</b>', arguments: args, agentName: '<i>a</i>' });
  const html = server.mails[0]!.parts.get('text/html')!;
  expect(html).not.toMatch(/<b>|<i>|<img|href="https:\/\/evil/);
});

describe('a server that fails', () => {
  test('while it is down the channel throws; afterwards the mail goes out', async () => {
    const channel = channelWith();
    await server.stop();
    await expect(notify(channel)).rejects.toThrow(/^The mail server 127\.0\.0\.1:\d+ took no mail \(ESOCKET/);
    await server.start();
    await notify(channel, refund, { attempt: 2 });
    expect(readBy()).toEqual(['ann@example.com', 'bob@example.com']);
  });

  test('an address that is refused for good does not keep the mail from others', async () => {
    server.refusals.set('ann@example.com', '550 no such user');
    const sent = await notify(channelWith());
    expect(readBy()).toEqual(['bob@example.com']);
    expect(sent).toMatchObject({ refused: 1 });
  });

  test('if all are refused, the channel throws', async () => {
    server.refusals.set('ann@example.com', '550 no such\u001b[2J user');
    await expect(notify(channelWith(), { ...refund, reviewers: ['ann'] })).rejects.toThrow(/refused a recipient: 550 /);
    expect(server.mails).toEqual([]);
  });

  test('an address that is refused for now is tried again, and nobody else gets a second mail', async () => {
    const channel = channelWith();
    server.refusals.set('ann@example.com', '451 later');
    await expect(notify(channel)).rejects.toThrow(/451 later/);
    server.refusals.clear();
    const sent = await notify(channel, refund, { attempt: 2 });
    expect(readBy()).toEqual(['ann@example.com', 'bob@example.com']);
    expect(JSON.stringify(sent)).not.toContain('refused');
  });

  test.each([
    ['josé@example.com', 'josé@example.com'],
    ['ann@müller.example', 'ann@xn--mller-kva.example'],
    ['иван@почта.example', 'иван@xn--80a1acny.example'],
    ['علی‌رضا@example.com', 'علی‌رضا@example.com'],
    ['yıldız@example.com', 'yıldız@example.com'],
  ])('an address in letters of every script: %s', async (written, address) => {
    await notify(channelWith({ people: { ann: written } }), { ...refund, reviewers: ['ann'] });
    expect(server.mails.map(({ to }) => to)).toEqual([[expect.stringMatching(/@/)]]);
    const [[local, domain]] = server.mails.map(({ to }) => to[0]!.split('@')) as [[string, string]];
    expect(`${local}@${domainToASCII(domain)}`).toBe(address);
    expect(server.mails[0]!.headers.get('to')).toContain(local);
  });

  test('a server without SMTPUTF8 gets no mail to such an address, and the others get theirs', async () => {
    const old = await openMailServer({ hideSMTPUTF8: true });
    const transport = { host: '127.0.0.1', port: old.port, tls: 'none' } as const;
    const both = { ann: 'josé@example.com', bob: 'bob@müller.example' };
    const sent = await notify(channelWith({ transport, people: both }));
    expect([old.mails.map(({ headers }) => headers.get('to')), sent]).toEqual([
      ['bob@xn--mller-kva.example'],
      expect.objectContaining({ refused: 1 }),
    ]);
    const alone = notify(channelWith({ transport, people: both }), { ...refund, reviewers: ['ann'] });
    await expect(alone).rejects.toThrow(/does not announce SMTPUTF8, which an address needs that has other letters/);
    const sender = notify(channelWith({ transport, from: 'freigabe-büro@example.com' }));
    await expect(sender).rejects.toThrow(/does not announce SMTPUTF8, .*: the sender's has\.$/);
    expect(old.mails).toHaveLength(1);
    await old.stop();
    await expect(alone).rejects.toThrow();
    const gone = notify(channelWith({ transport, people: both }), { ...refund, reviewers: ['ann'] });
    await expect(gone).rejects.toThrow(/took no mail \(ESOCKET/);
  });

  test('a server with SMTPUTF8 that wants a password gets it', async () => {
    const users: string[] = [];
    const strict = await openMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) => {
        users.push(`${username} ${password}`);
        done(null, { user: username });
      },
    });
    const transport = { host: '127.0.0.1', port: strict.port, tls: 'none', user: 'me', password: 'secret' } as const;
    await notify(channelWith({ transport, people: { ann: 'josé@example.com' } }), { ...refund, reviewers: ['ann'] });
    expect([strict.mails.map(({ to }) => to), users]).toEqual([[['josé@example.com']], ['me secret']]);
    await strict.stop();
  });

  test('a server without TLS gets nothing, unless the transport says so', async () => {
    const transport = { host: '127.0.0.1', port: server.port };
    await expect(notify(channelWith({ transport }))).rejects.toThrow(/took no mail \(ETLS/);
    expect(server.mails).toEqual([]);
  });

  test('with TLS and a password, if the authority is known; no error has the password', async () => {
    const password = 'the secret word';
    const secured = await openMailServer({
      ...certificate(),
      disabledCommands: [],
      authOptional: false,
      onAuth: (auth, _session, done) =>
        auth.password === password ? done(null, { user: 'me' }) : done(new Error('no')),
    });
    const transport = { host: '127.0.0.1', port: secured.port, user: 'me', password, ca: certificate().cert };
    await notify(channelWith({ transport }));
    expect(secured.mails).toHaveLength(2);

    for (const [changed, message] of [
      [{ ca: undefined }, /took no mail \(ESOCKET/],
      [{ password: `${password}s` }, /took no mail \(EAUTH/],
    ] as const) {
      const error = await notify(channelWith({ transport: { ...transport, ...changed } })).then(
        String,
        (each: Error) => each,
      );
      expect(String(error)).toMatch(message);
      const text = inspect(error, { depth: null, showHidden: true });
      for (const form of [password, Buffer.from(`\0me\0${password}s`).toString('base64')])
        expect(text).not.toContain(form);
    }
    expect(secured.mails).toHaveLength(2);
    await secured.stop();
  });

  test('an aborted attempt sends nothing more', async () => {
    await expect(notify(channelWith(), refund, { signal: AbortSignal.abort(new Error('over')) })).rejects.toThrow(
      'over',
    );
    expect(server.mails).toEqual([]);
  });
});

test.each<[string, Partial<EmailOptions>, RegExp]>([
  ['two addresses in one', { people: { ann: 'ann@example.com, eve@example.com' } }, /not the address of a mailbox/],
  [
    'a line break in an address',
    { people: { ann: 'ann@example.com\r\nRCPT TO:<eve@example.com>' } },
    /not the address/,
  ],
  ['an address that mixes scripts', { people: { ann: 'р\u0430ypal@example.com' } }, /not the address/],
  ['a domain that mixes scripts', { to: ['ann@p\u0430ypal.example'] }, /not the address/],
  ['a full-width domain', { to: ['ann@ｅxample.com'] }, /not the address/],
  ['an address with what nobody sees', { to: ['ann\u200b@example.com'] }, /not the address/],
  ['a domain that is none', { to: ['ann@xn--ü.example'] }, /not the address/],
  ['a domain of blanks', { to: ['ann@ü .example'] }, /not the address/],
  ['an address that is too long in bytes', { to: [`${'é'.repeat(130)}@example.com`] }, /not the address/],
  ['a name that mixes scripts', { people: { 'p\u0430ypal': 'a@example.com' } }, /not the name of a person/],
  ['a sender with a line break', { from: 'A\r\nBcc: eve@example.com <a@example.com>' }, /not the address/],
  ['a group as a person', { people: { 'group:finance': 'a@example.com' } }, /not the name of a person/],
  ['a short key', { linkKey: 'short' }, /less than 32/],
  ['a gateway without TLS', { gatewayUrl: 'http://approvals.example.com' }, /https origin/],
  ['a gateway with a path', { gatewayUrl: 'https://approvals.example.com/x' }, /https origin/],
  ['nobody', { people: {} }, /'people' or 'to'/],
  [
    'a time zone that does not exist',
    { people: { ann: { address: 'ann@example.com', timeZone: 'Europe/Atlantis' } } },
    /^The time zone of 'ann' in 'people' does not exist: name one such as Europe\/Berlin\.$/,
  ],
  ['shared addresses without reviewers', { callers: 'only', to: ['a@example.com'] }, /'callers: only' has no 'to'/],
  [
    'a password in clear',
    { transport: { host: 'mail.example.com', tls: 'none', user: 'a', password: 'b' } },
    /in clear/,
  ],
])('refused at the start: %s', (_, options, message) => {
  expect(() => channelWith(options)).toThrow(message);
  expect(() => channelWith(options)).toThrow(ProblemError);
});

test('a mail shows instants by the clock of its reader, and in words', async () => {
  const channel = channelWith({
    people: { ann: { address: 'ann@example.com', timeZone: 'Europe/Berlin' }, bob: 'bob@example.com' },
  });
  const asked = { ...refund, deadline: '2035-01-02T03:30:00.000Z' };
  const sent = await notify(channel, asked, { step: { kind: 'warned' } });
  await settle(channel, sent);
  const [toAnn, toBob, endForAnn, endForBob] = server.mails.map(({ parts }) => parts.get('text/plain')!);
  const left = /\. It waits until 2 Jan 2035, (\d\d:\d\d \w+) \(in [^)]+\)\./;
  expect([left.exec(toAnn!)?.[1], left.exec(toBob!)?.[1]]).toEqual(['04:30 CET', '03:30 UTC']);
  expect(endForAnn).toContain('on 2 Jan 2026, 04:05 CET: denied by ann.');
  expect(endForBob).toContain('on 2 Jan 2026, 03:05 UTC: denied by ann.');
  for (const { parts } of server.mails) expect([...parts.values()].join('')).not.toMatch(/\d{4}-\d\d-\d\dT/);
});

test('the entry of a channel file', async () => {
  process.env['LINK_KEY_IN_TEST'] = linkKey;
  const entry = {
    smtp: { host: '127.0.0.1', port: server.port, tls: 'none' },
    from: 'approvals@example.com',
    gateway_url: 'https://approvals.example.com',
    link_key: { env: 'LINK_KEY_IN_TEST' },
    namespace: 'default',
    people: {
      ann: 'ann@example.com',
      bob: { address: 'bob@example.com', groups: ['support-leads'], time_zone: 'Europe/Berlin' },
    },
    to: ['team@example.com'],
    highest_severity: 'high',
  };
  await notify(await emailKind.make(emailKind.shape.parse(entry), {} as ChannelContext));
  expect(readBy()).toEqual(['ann@example.com', 'bob@example.com', 'team@example.com']);
  expect(server.mails[0]!.parts.get('text/plain')).toContain('/links/');
  expect(emailKind.shape.safeParse({ ...entry, link_key: linkKey }).success).toBe(false);
  expect(emailKind.shape.safeParse({ ...entry, smtp: { ...entry.smtp, password: 'in the file' } }).success).toBe(false);
});

test('a channel file with a time zone that does not exist is refused in one sentence, with its place', async () => {
  const ann = '{ address: a@example.com, time_zone: Mars/Base }';
  const text = `channels: { mail: { kind: email, smtp: { host: a }, from: a@example.com, gateway_url: https://a.example, people: { ann: ${ann} } } }`;
  const message = `channels:1:${text.indexOf('Mars') + 1} 'time_zone' must be a time zone that exists, such as Europe/Berlin`;
  await expect(readChannels(text)).rejects.toMatchObject({ code: 'policy_invalid', message });
});
