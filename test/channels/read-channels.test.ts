import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Channel } from '../../src/channels/channel.ts';
import { type ChannelKind, readSecret, secretShape } from '../../src/channels/channel-kind.ts';
import { readChannels } from '../../src/adapters/read-channels.ts';
import { simpleKinds } from '../../src/channels/simple-channels.ts';
import { channelRequest, firstAttempt } from './channel-request.ts';

const builtIn = 'auto_approve, auto_deny, conditional, console, webhook, slack, email, http_template, web_push';

const folder = mkdtempSync(join(tmpdir(), 'countersign-channels-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const signal = new AbortController().signal;

/** A kind as adapters have them, which says what it was given. */
const hookShape = z.strictObject({ url: z.url('must be a URL'), secret: secretShape, tries: z.number().optional() });
const made: string[] = [];
const hook: ChannelKind<z.infer<typeof hookShape>> = {
  shape: hookShape,
  make: ({ url, secret }, { name }) => {
    made.push(name);
    const reason = `${url} ${readSecret(secret)}`;
    return { resolve: () => ({ approved: false, reason }) };
  },
};
const pairShape = z.strictObject({ of: z.array(z.string()) });
const pair: ChannelKind<z.infer<typeof pairShape>> = {
  shape: pairShape,
  make: async ({ of }, context) => {
    await Promise.all(of.map((name) => context.channel(name)));
    return { notify: () => undefined };
  },
};
const kinds = { ...simpleKinds, hook, pair };

const whole = `channels:
  ci: { kind: auto_approve, reason: In CI everything is a trial. }
  staging: { kind: conditional, below: medium, otherwise: oncall }
  oncall: { kind: hook, url: https://hooks.example, secret: { env: TEST_HOOK_SECRET } }
  desk: { kind: console, timeout: 2m }
routes:
  default: [staging]
  reviewers: { ann: [desk], 'group:finance': [oncall, desk] }
quiet_hours: { from: "22:00", to: "07:00", time_zone: Europe/Berlin, above: high }
batch: 5s
`;

describe('a whole file', () => {
  test('is read from its text and from its path', async () => {
    process.env.TEST_HOOK_SECRET = 'a-secret';
    const path = join(folder, 'whole.yaml');
    writeFileSync(path, whole);
    for (const source of [whole, path]) {
      made.length = 0;
      const { channels, ...rest } = await readChannels(source, { kinds });
      expect(Object.keys(channels)).toEqual(['ci', 'staging', 'oncall', 'desk']);
      expect(made).toEqual(['oncall']);
      expect(rest).toEqual({
        routes: { default: ['staging'], reviewers: { ann: ['desk'], 'group:finance': ['oncall', 'desk'] } },
        quietHours: { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin', above: 'high' },
        batchMs: 5_000,
      });
      const answers = async (name: string, severity: 'low' | 'high') =>
        channels[name]!.resolve!(channelRequest({ severity }), signal, firstAttempt);
      expect(await answers('ci', 'high')).toMatchObject({ approved: true, reason: 'In CI everything is a trial.' });
      expect(await answers('staging', 'low')).toMatchObject({ approved: true });
      expect(await answers('staging', 'high')).toEqual({ approved: false, reason: 'https://hooks.example a-secret' });
      expect(channels.desk!.timeoutMs).toBe(120_000);
    }
  });

  test('quiet hours of single channels, days of work and holidays are read', async () => {
    const text = `channels:
  desk: { kind: console }
  pager: { kind: auto_deny, quiet_hours: false }
  legal: { kind: auto_deny, quiet_hours: { time_zone: UTC, holidays: [2026-12-25] } }
quiet_hours: { time_zone: Europe/Berlin, workdays: [mon, tue] }
`;
    expect(await readChannels(text, { kinds })).toMatchObject({
      quietHours: { timeZone: 'Europe/Berlin', workdays: ['mon', 'tue'] },
      quietHoursOf: { pager: false, legal: { timeZone: 'UTC', holidays: ['2026-12-25'] } },
    });
  });

  test('routes by tool, agent and severity are read in their order', async () => {
    const text = `channels: { a: { kind: auto_deny } }
routes:
  default: []
  requests:
    - { tool: 'pay*', min_severity: high, channels: [a] }
    - { agent: clerk, channels: [a] }`;
    expect((await readChannels(text)).routes).toEqual({
      default: [],
      reviewers: {},
      requests: [
        { tool: 'pay*', minSeverity: 'high', channels: ['a'] },
        { agent: 'clerk', channels: ['a'] },
      ],
    });
  });

  test('without routes, requests go to the channels that no other refers to', async () => {
    const text = `channels: { a: { kind: conditional, below: low, otherwise: b }, b: { kind: auto_deny }, c: { kind: console } }`;
    const { routes, ...rest } = await readChannels(text);
    expect(routes).toEqual({ default: ['a', 'c'], reviewers: {} });
    expect(Object.keys(rest)).toEqual(['channels']);
  });

  test('names of reviewers are in NFC', async () => {
    const { routes } = await readChannels(
      `channels: { a: { kind: auto_deny } }\nroutes: { default: [], reviewers: { Jose\u0301: [a] } }`,
    );
    expect(Object.keys(routes.reviewers)).toEqual(['Jos\u00e9']);
  });

  test('a channel that several refer to is made once', async () => {
    made.length = 0;
    process.env.TEST_HOOK_SECRET = 'a-secret';
    const text = `channels:
  all: { kind: pair, of: [one, two, hook] }
  one: { kind: conditional, below: low, otherwise: hook }
  two: { kind: conditional, below: high, otherwise: hook }
  hook: { kind: hook, url: https://h.example, secret: { env: TEST_HOOK_SECRET } }`;
    const { channels } = await readChannels(text, { kinds });
    expect(made).toEqual(['hook']);
    expect(Object.values(channels)).toHaveLength(4);
  });
});

describe('a file is refused, with the place', () => {
  const one = (entry: string): string => `channels:\n  a: ${entry}`;
  const after = (rest: string): string => `channels: { a: { kind: auto_deny } }\n${rest}`;
  test.each<[string, string, string]>([
    [
      'no YAML',
      'channels: [',
      'channels:1:12 the text is not YAML 1.2: Flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
    ['an empty text', '', 'channels:1:1 a channel file must be a map'],
    ['no channels', 'routes: { default: [] }', `channels:1:1 'channels' is missing`],
    [
      'an unknown member',
      after('rules: []'),
      `channels:2:1 unknown key 'rules'; known here are channels, routes, quiet_hours, batch`,
    ],
    [
      'a name that is none',
      'channels: { Ann: { kind: auto_deny } }',
      `channels:1:13 the name 'Ann' must be 1 to 64 characters of a-z, 0-9, - and _`,
    ],
    [
      'a name that is too long',
      `channels: { ${'a'.repeat(65)}: { kind: auto_deny } }`,
      `channels:1:13 the name '${'a'.repeat(60)}' must be 1 to 64 characters of a-z, 0-9, - and _`,
    ],
    [
      'a name of the prototype',
      'channels: { __proto__: { kind: auto_approve } }',
      `channels:1:13 '__proto__' cannot be a name`,
    ],
    ['no kind', one('{}'), `channels:2:6 'kind' is missing`],
    ['an unknown kind', one('{ kind: carrier_pigeon }'), `channels:2:14 'kind' must be one of ${builtIn}, hook, pair`],
    [
      'a kind that has left',
      one('{ kind: pager_duty, routing_key: { env: KEY } }'),
      `channels:2:14 there is no kind 'pager_duty' any more: the entry for PagerDuty in docs/on-call.md, of the kind 'http_template', sends the same events`,
    ],
    [
      'a kind of the prototype',
      one('{ kind: constructor }'),
      `channels:2:14 'kind' must be one of ${builtIn}, hook, pair`,
    ],
    [
      'a callback',
      one('{ kind: callback }'),
      'channels:2:14 a callback is a function, which no file can hold: give it to createWorker as channels: { NAME: function }',
    ],
    [
      'an unknown member of a channel',
      one('{ kind: auto_deny, why: no }'),
      `channels:2:25 unknown key 'why'; known here are reason`,
    ],
    ['a reason that is no text', one('{ kind: auto_deny, reason: [] }'), `channels:2:33 'reason' must be a text`],
    [
      'an unknown severity',
      one('{ kind: conditional, below: hihg, otherwise: b }'),
      `channels:2:34 'below' must be one of safe, low, medium, high, critical`,
    ],
    [
      'a condition without its other channel',
      one('{ kind: conditional, below: high }'),
      `channels:2:6 'otherwise' is missing`,
    ],
    [
      'a channel that is not there',
      one('{ kind: conditional, below: high, otherwise: b }'),
      `channels:2:51 there is no channel 'b'`,
    ],
    [
      'a channel of the prototype',
      one('{ kind: conditional, below: high, otherwise: toString }'),
      `channels:2:51 there is no channel 'toString'`,
    ],
    [
      'a duration that is none',
      one('{ kind: console, timeout: soon }'),
      `channels:2:32 'timeout' must be a whole number and a unit, such as 30s, 5m, 1h or 1d`,
    ],
    [
      'a time-out without an end',
      one('{ kind: console, timeout: never }'),
      `channels:2:32 'timeout' must be a whole number and a unit, such as 30s, 5m, 1h or 1d`,
    ],
    [
      'a route to a channel that is not there',
      after('routes: { default: [a, b] }'),
      `channels:2:24 there is no channel 'b'`,
    ],
    [
      'a reviewer whose channel is not there',
      after('routes: { default: [a], reviewers: { ann: [b] } }'),
      `channels:2:44 there is no channel 'b'`,
    ],
    ['routes without a default', after('routes: { reviewers: { ann: [a] } }'), `channels:2:9 'default' is missing`],
    [
      'a route that names a channel twice',
      after('routes: { default: [a, a] }'),
      `channels:2:20 'default' must not name a channel twice`,
    ],
    [
      'a route of requests without a condition',
      after('routes: { default: [], requests: [{ channels: [a] }] }'),
      `channels:2:35 'requests' item 1 must say which requests it carries: by tool, by agent or by severity`,
    ],
    [
      'a route of requests to no channel',
      after('routes: { default: [], requests: [{ tool: pay, channels: [] }] }'),
      `channels:2:58 'channels' must name a channel`,
    ],
    [
      'a route of requests to a channel that is not there',
      after('routes: { default: [], requests: [{ tool: pay, channels: [a, b] }] }'),
      `channels:2:62 there is no channel 'b'`,
    ],
    [
      'a tool with arguments',
      after('routes: { default: [], requests: [{ tool: "bash:rm *", channels: [a] }] }'),
      `channels:2:43 'tool' holds a ':': a route matches names of tools, so leave it out with what follows`,
    ],
    [
      'an agent that is no glob',
      after('routes: { default: [], requests: [{ agent: "[b-a]", channels: [a] }] }'),
      `channels:2:44 'agent' holds the reversed range [b-a]`,
    ],
    [
      'a severity that is none',
      after('routes: { default: [], requests: [{ min_severity: huge, channels: [a] }] }'),
      `channels:2:51 'min_severity' must be one of safe, low, medium, high, critical`,
    ],
    [
      'a reviewer without a name',
      after(`routes: { default: [a], reviewers: { ' ': [a] } }`),
      `channels:2:38 the name ' ' must not begin or end with a space`,
    ],
    [
      'a reviewer in two forms',
      after('routes: { default: [a], reviewers: { Jose\u0301: [a], Jos\u00e9: [a] } }'),
      `channels:2:50 'Jos\u00e9' appears twice, in two spellings`,
    ],
    [
      'an hour that is none',
      after('quiet_hours: { from: "25:00", to: "07:00", time_zone: UTC }'),
      `channels:2:22 'from' must be a time of day, such as "22:00"`,
    ],
    [
      'an hour that is a number',
      after('quiet_hours: { from: 22, to: "07:00", time_zone: UTC }'),
      `channels:2:22 'from' must be a text`,
    ],
    [
      'hours without length',
      after('quiet_hours: { from: "07:00", to: "07:00", time_zone: UTC }'),
      `channels:2:14 'quiet_hours' must not begin and end at the same time`,
    ],
    [
      'a time zone that does not exist',
      after('quiet_hours: { from: "22:00", to: "07:00", time_zone: Europe/Atlantis }'),
      `channels:2:55 'time_zone' must be a time zone that exists, such as Europe/Berlin`,
    ],
    [
      'a day of work that is none',
      after('quiet_hours: { time_zone: UTC, workdays: [monday] }'),
      `channels:2:42 'workdays' must be a list of at least one of mon, tue, wed, thu, fri, sat, sun`,
    ],
    [
      'hours of a channel without anything quiet',
      `channels: { a: { kind: auto_deny, quiet_hours: { time_zone: UTC } } }`,
      `channels:1:48 'quiet_hours' needs 'from' and 'to', 'workdays' or 'holidays'`,
    ],
    ['a batch that is too long', after('batch: 2h'), `channels:2:8 'batch' must be at most 1h`],
  ])('%s', async (_name, text, message) => {
    await expect(readChannels(text, { kinds })).rejects.toMatchObject({ code: 'policy_invalid', message });
  });

  test('every problem is named, in the order of the file', async () => {
    const text = `channels:\n  a: { kind: x }\n  b: { kind: auto_deny, why: no }\nroutes: { default: [c] }`;
    await expect(readChannels(text)).rejects.toMatchObject({
      message: [
        `channels:2:14 'kind' must be one of ${builtIn}`,
        `channels:3:25 unknown key 'why'; known here are reason`,
        `channels:4:21 there is no channel 'c'`,
      ].join('\n'),
    });
  });

  test('a mistake outside of the channels hides none inside', async () => {
    const text = `channels:\n  a: { kind: x }\n  b: { kind: conditional, below: low, otherwise: d }\nroutes: { default: [c] }\nbatch: 2h`;
    await expect(readChannels(text)).rejects.toMatchObject({
      message: [
        `channels:2:14 'kind' must be one of ${builtIn}`,
        `channels:3:50 there is no channel 'd'`,
        `channels:4:21 there is no channel 'c'`,
        `channels:5:8 'batch' must be at most 1h`,
      ].join('\n'),
    });
  });

  test('the name of the file stands before the place', async () => {
    const path = join(folder, 'bad.yaml');
    writeFileSync(path, 'channels: { a: { kind: x } }');
    await expect(readChannels(path)).rejects.toThrow(`${path}:1:24 'kind' must be`);
    await expect(readChannels(join(folder, 'none.yaml'))).rejects.toMatchObject({ code: 'policy_invalid' });
  });
});

describe('channels that refer to themselves', () => {
  const to = (otherwise: string): string => `{ kind: conditional, below: high, otherwise: ${otherwise} }`;
  test.each<[string, string, RegExp]>([
    ['directly', `a: ${to('a')}`, /channel 'a': it refers to itself: a → a$/m],
    ['through another', `a: ${to('b')}\n  b: ${to('a')}`, /it refers to itself: b → a → b/],
    ['through two', `a: ${to('b')}\n  b: ${to('c')}\n  c: ${to('a')}`, /it refers to itself: c → a → b → c/],
    ['below one that is sound', `x: ${to('a')}\n  a: ${to('b')}\n  b: ${to('a')}`, /it refers to itself/],
    [
      'while both are being made',
      `x: { kind: pair, of: [a, b] }\n  a: ${to('b')}\n  b: ${to('a')}`,
      /it refers to itself/,
    ],
  ])('%s', async (_name, entries, message) => {
    await expect(readChannels(`channels:\n  ${entries}`, { kinds })).rejects.toThrow(message);
  });
});

describe('secrets', () => {
  const secret = 'hunter2-hunter2';
  const entry = (written: string): string =>
    `channels:\n  a: { kind: hook, url: https://h.example, secret: ${written} }`;
  const refusal = async (text: string): Promise<string> =>
    readChannels(text, { kinds }).then(
      () => 'accepted',
      (error: Error) => error.message,
    );

  test.each([secret, `'${secret}'`, `{ value: ${secret} }`, `{ env: A, file: ${secret} }`, `[${secret}]`, '42'])(
    'one written as %s is refused in one sentence, which does not repeat it',
    async (written) => {
      const message = await refusal(entry(written));
      expect(message).toBe(
        `channels:2:52 'secret' must say where the secret is, { env: NAME } or { file: PATH }: it never stands in the file itself`,
      );
    },
  );

  test.each([
    ['under an unknown member', `channels:\n  a: { kind: auto_deny, password: ${secret} }`],
    ['as a member of a wrong type', `channels:\n  a: { kind: hook, url: [${secret}], secret: { env: A } }`],
    ['as a member with a rule', `channels:\n  a: { kind: hook, url: ${secret}, secret: { env: A } }`],
    [
      'as a number that is none',
      `channels:\n  a: { kind: hook, url: https://h.example, tries: ${secret}, secret: { env: A } }`,
    ],
    ['as a kind', `channels:\n  a: { kind: ${secret} }`],
    ['in a text that is no YAML', `channels:\n  a: { kind: hook, secret: "${secret} }`],
    ['in a duration', `channels: { a: { kind: auto_deny } }\nbatch: ${secret}`],
    [
      'in a time zone',
      `channels: { a: { kind: auto_deny } }\nquiet_hours: { from: "22:00", to: "23:00", time_zone: ${secret} }`,
    ],
  ])('one that stands %s is not repeated', async (_name, text) => {
    const message = await refusal(text);
    expect(message).toMatch(/^channels:\d+:\d+ /);
    expect(message).not.toContain(secret);
  });

  test('one that is missing is named with its place', async () => {
    delete process.env.TEST_HOOK_NONE;
    expect(await refusal(entry('{ env: TEST_HOOK_NONE }'))).toBe(
      `channels:2:3 channel 'a': The secret in the environment variable TEST_HOOK_NONE is missing or empty.`,
    );
    expect(await refusal(entry(`{ file: ${join(folder, 'none')} }`))).toContain('is missing or empty');
  });

  test('one in a file is read without its line break', async () => {
    const path = join(folder, 'secret');
    writeFileSync(path, `${secret}\n`);
    const { channels } = await readChannels(entry(`{ file: ${path} }`), { kinds });
    const answer = (channels.a as Channel).resolve!(channelRequest(), signal, firstAttempt);
    expect(answer).toMatchObject({ reason: `https://h.example ${secret}` });
  });
});
