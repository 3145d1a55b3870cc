import { describe, expect, test } from 'vitest';
import type { Card } from '../../src/card/card.ts';
import { cardOf } from '../../src/card/card-of.ts';
import { cardWarnings } from '../../src/card/card-words.ts';
import { renderTerminal } from '../../src/card/render-terminal.ts';
import type { Json, JsonObject } from '../../src/core/base/tool-call.ts';
import { cardRequest, nowMs } from './sample-requests.ts';

const answersOf = (card: Card): string[] => card.answers.map(({ name }) => name);
const everything = ['approve', 'deny', 'always', 'edit', 'respond', 'nobody'];

describe('the sentence', () => {
  test.each([
    ["the tool's own", cardRequest({ sentence: 'Refund 120 EUR to Ann' }), 'Refund 120 EUR to Ann', 'tool'],
    ['made visible', cardRequest({ sentence: 'to\u202eAnn\n' }), String.raw`to\u{202E}Ann\u{000A}`, 'tool'],
    [
      'with a list as one value, in its place',
      cardRequest({ arguments: { to: ['ann@acme.example', 'bob@acme.example'], subject: 'Hi', body: 'Dear both' } }),
      'Refund: to ann@acme.example and 1 more, subject Hi, body Dear both',
      'card',
    ],
    [
      'without blanks that push the end away',
      cardRequest({ arguments: { command: `ls${' '.repeat(300)}; rm -rf /` } }),
      'Refund: command ls ; rm -rf /',
      'card',
    ],
    ['built, if the own one is blank', cardRequest({ sentence: ' ' }), 'Refund: orderId o-17, amount 120', 'card'],
    ['of a call without arguments', cardRequest({ toolName: 'list_files', arguments: {} }), 'List files', 'card'],
    [
      'of many arguments',
      cardRequest({ toolName: 'sendMail', arguments: { to: 'ann', a: 1, b: 2, c: 3, d: 4 } }),
      'Send mail: to ann, a 1, b 2, and 2 more',
      'card',
    ],
    [
      'of more values than a card shows',
      cardRequest({
        toolName: 'echo',
        arguments: Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}`, at])),
      }),
      'Echo: f0 0, f1 1, f2 2, and 197 more',
      'card',
    ],
    [
      'with money as people read it',
      cardRequest({ arguments: { amount: 1200.5, currency: 'EUR' } }),
      'Refund: amount 1,200.50 EUR',
      'card',
    ],
  ])('%s', (_name, request, text, by) => {
    expect(cardOf(request).sentence).toMatchObject({ text, by });
  });
});

test('a call that may have run is started again or left as it is: it is not edited, and approves no other call', () => {
  const request = cardRequest({ replaces: { by: 'unknown' }, reason: 'It may have run.' });
  const { answers, reason, why } = cardOf(request, { always: 'tool' });
  expect(answers).toEqual([
    {
      name: 'approve',
      effect: "'refund' is started again, with exactly these arguments and the same idempotency key.",
    },
    {
      name: 'deny',
      effect: 'It is not started again. The model is told that its outcome is unknown, and "Denied:" with your reason.',
    },
    { name: 'respond', effect: 'It is not started again. The model gets your text as its result.' },
    {
      name: 'nobody',
      effect: expect.stringContaining(
        'It is not started again. The model is told that its outcome is unknown',
      ) as string,
    },
  ]);
  expect(reason.text).toBe('It may have run.');
  expect(why.map(({ label }) => label)).not.toContain('Replaces');
  const asked = cardOf(cardRequest({ replaces: { by: 'unknown', requestId: 'a1' } }));
  expect(asked.why).toContainEqual({ label: 'Replaces', texts: [{ text: 'request a1, which let it start' }] });
});

test('a built sentence has its parts, the values of the call itself first', () => {
  const request = cardRequest({
    toolName: 'run_sql',
    arguments: { where: { host: 'db-1' }, query: 'DELETE', cost: 12.5, currency: 'EUR', a: 1 },
  });
  expect(cardOf(request).sentence).toEqual({
    text: 'Run SQL: query DELETE, cost 12.50 EUR, a 1, where.host db-1',
    by: 'card',
    parts: [
      { kind: 'tool', text: 'Run SQL' },
      { kind: 'name', text: 'query' },
      { kind: 'value', text: 'DELETE' },
      { kind: 'name', text: 'cost' },
      { kind: 'value', text: '12.50 EUR' },
      { kind: 'name', text: 'a' },
      { kind: 'value', text: '1' },
      { kind: 'name', text: 'where.host' },
      { kind: 'value', text: 'db-1' },
    ],
  });
});

describe('why a call needs a decision', () => {
  test.each<[string, Parameters<typeof cardRequest>[0], string]>([
    ['the reason of the rule', {}, 'Refunds need a person'],
    [
      'a rule without a reason',
      { rule: 'expenses', reason: 'Rule expenses asks' },
      'Rule expenses asks about this call.',
    ],
    [
      'no rule',
      { rule: null, riskLevel: 'write', reason: 'Risk default for write' },
      'No rule covers this call. Tools that write need approval by default.',
    ],
    ['a mode', { rule: null, reason: 'Mode strict asks' }, 'Mode strict asks'],
  ])('%s is one sentence', (_name, request, text) => {
    expect(cardOf(cardRequest(request)).reason).toEqual({ text });
  });

  test('the declared risk is no finding, and kinds of resources are words', () => {
    const assessment = {
      ...cardRequest().assessment,
      reasons: ['the tool declares its risk as write', 'it moves money'],
      affectedResources: ['account:ann', 'person:#ops', 'odd'],
    };
    const { why } = cardOf(cardRequest({ riskLevel: 'write', assessment }));
    expect(why.slice(0, 2)).toEqual([
      { label: 'Noticed', texts: [{ text: 'It moves money' }] },
      { label: 'Affects', texts: [{ text: 'Account ann' }, { text: 'Channel #ops' }, { text: 'odd' }] },
    ]);
  });
});

describe('typed arguments', () => {
  test.each<[name: string, value: Json, shown: string, format: string, reading?: string]>([
    ['amount', 1200.5, '1200.5', 'money', '1,200.50'],
    ['amountCents', 120_050, '120050', 'money', '1,200.50'],
    ['amount', 120, '120', 'money'],
    ['to', 'ann@acme.com', 'ann@acme.com', 'address'],
    ['to', 'LHR', 'LHR', 'text'],
    ['recipient', 'Ann', 'Ann', 'address'],
    ['to', 'Bank <ann@evil.example>', 'Bank <ann@evil.example>', 'address', 'goes to ann@evil.example'],
    [
      'to',
      'a@xn--pypal-4ve.com',
      'a@xn--pypal-4ve.com',
      'address',
      'at xn--pypal-4ve.com, which is written with other letters than it shows (punycode)',
    ],
    ['target', 'https://good.example/x', 'https://good.example/x', 'url', 'host good.example'],
    [
      'target',
      'https://good.example@evil.example/x',
      'https://good.example@evil.example/x',
      'url',
      'host evil.example; what stands before the @ is not the host',
    ],
    [
      'url',
      String.raw`https://good.example\@evil.example`,
      String.raw`https://good.example\@evil.example`,
      'url',
      'programs do not agree on the host of this address',
    ],
    ['path', '/srv/data/../../etc/passwd', '/srv/data/../../etc/passwd', 'path', 'leads to /etc/passwd'],
    ...[
      'https:/evil.example/',
      'https:evil.example/@bank.example',
      String.raw`https:\\evil.example`,
      '//evil.example/x',
    ].map((url): [string, string, string, string, string] => [
      'url',
      url,
      url,
      'url',
      'programs do not agree on the host of this address',
    ]),
    ['path', '/srv/a/..//../../etc', '/srv/a/..//../../etc', 'path', 'leads to /etc'],
    ['path', '/../../etc', '/../../etc', 'path', 'leads to /etc'],
    ['path', 'a/../../b', 'a/../../b', 'path', 'leads to ../b'],
    ['command', 'rm -rf /', 'rm -rf /', 'code'],
    ['timeoutMs', 90_000, '90000', 'duration', '1m30s'],
    ['ttlSeconds', 7_200, '7200', 'duration', '2h'],
    ['timeout', 'P1DT2H', 'P1DT2H', 'duration', '1 days, 2 hours'],
    ['sizeBytes', 1_572_864, '1572864', 'bytes', 'about 1.5 MiB'],
    ['startAt', 1_767_322_860, '1767322860', 'date', '2026-01-02T03:01:00.000Z'],
    ['startAt', 1_767_322_860_000, '1767322860000', 'date', '2026-01-02T03:01:00.000Z'],
    ['when', '2026-01-02', '2026-01-02', 'date'],
    ['flag', true, 'true', 'flag'],
    ['count', 5, '5', 'number'],
    // A text that people could take for something else stands in quotes.
    ['count', '5', '"5"', 'text'],
    ['note', 'null', '"null"', 'text'],
    ['note', null, 'null', 'text'],
    ['note', '', '""', 'text'],
    ['note', ' x ', '" x "', 'text'],
    ['note', '{}', '"{}"', 'text'],
    ['note', {}, '{}', 'json'],
    ['note', [], '[]', 'json'],
  ])('%s %j', (...row) => {
    const [name, value, shown, format, reading] = row;
    const [field] = cardOf(cardRequest({ arguments: { [name]: value } })).arguments;
    expect(field).toEqual({ name, format, value: { text: shown }, ...(reading !== undefined && { reading }) });
  });

  test('of a path that is not read to its end, nothing says where it leads', () => {
    const path = `/srv/${'a/../'.repeat(399)}../etc/passwd`;
    expect(path.length).toBeGreaterThan(2_000);
    const [field] = cardOf(cardRequest({ arguments: { path } })).arguments;
    expect(field).toMatchObject({ name: 'path', format: 'path' });
    expect(field).not.toHaveProperty('reading');
  });

  test('titles, descriptions and formats of the schema, through references and choices', () => {
    const schema: JsonObject = {
      $defs: { party: { type: 'object', properties: { iban: { title: 'Account', description: 'Where it goes' } } } },
      properties: {
        when: { format: 'date-time', title: 'When' },
        party: { $ref: '#/$defs/party' },
        links: { items: { anyOf: [{ type: 'null' }, { format: 'uri', title: 'Link' }] } },
        loop: { $ref: '#/properties/loop' },
      },
    };
    const args = { when: 'soon', party: { iban: 'DE1' }, links: ['mailto:a'], loop: 1, __proto__: null };
    expect(cardOf(cardRequest({ arguments: args as unknown as JsonObject, schema })).arguments).toEqual([
      { name: 'when', title: 'When', format: 'date', value: { text: 'soon' } },
      {
        name: 'party.iban',
        path: ['party', 'iban'],
        title: 'Account',
        description: 'Where it goes',
        format: 'address',
        value: { text: 'DE1' },
      },
      { name: 'links[0]', path: ['links', '[0]'], title: 'Link', format: 'url', value: { text: 'mailto:a' } },
      { name: 'loop', format: 'number', value: { text: '1' } },
    ]);
  });

  test('a reference of more than twenty steps leads nowhere', () => {
    const steps = Array.from({ length: 21 }, (_, index) => `s${index}`);
    const nested = steps.reduceRight<JsonObject>((inner, step) => ({ title: step, [step]: inner }), { title: 'end' });
    const schema: JsonObject = { ...nested, properties: { far: { $ref: `#/${steps.join('/')}` } } };
    const [field] = cardOf(cardRequest({ arguments: { far: 'x' }, schema })).arguments;
    expect(field).toEqual({ name: 'far', format: 'text', value: { text: 'x' } });
  });

  test.each([
    ['a.b', '"a.b"'],
    ['a[0]', '"a[0]"'],
    ['', '""'],
    ['a b', '"a b"'],
    ['a"b.c', String.raw`"a\u{0022}b.c"`],
    ['t\u043e', String.raw`t\u{043E}`],
  ])('the name %j cannot pass for another', (key, name) => {
    expect(cardOf(cardRequest({ arguments: { [key]: 1 } })).arguments[0]!.name).toBe(name);
  });
});

describe('what could mislead', () => {
  test.each<[string, Parameters<typeof cardRequest>[0], string[]]>([
    ['a plain call', {}, []],
    [
      'what cannot be undone',
      { assessment: { ...cardRequest().assessment, reversible: false } },
      ['What this call does may not be reversible.'],
    ],
    [
      'a link whose host only seems to end',
      { arguments: { body: 'See https://acme.example\u2215returns.shop-login.example/start' } },
      [
        String.raw`'body' has characters that pass for others: https://acme.example\u{2215}returns.shop-login.example/start looks like https://acme.example/returns.shop-login.example/start.`,
        "'body' has an address that leads to a host of shop-login.example.",
      ],
    ],
    [
      'a critical call',
      { assessment: { ...cardRequest().assessment, severity: 'critical', reasons: ['it runs what it downloads'] } },
      ['Critical: it runs what it downloads.'],
    ],
    [
      'a preview that failed',
      { preview: { state: 'failed', message: 'no connection' } },
      ['What would change is not known: the preview of the tool failed.'],
    ],
    [
      'a command behind blanks',
      { arguments: { command: `ls${' '.repeat(40)}; rm -rf /` } },
      ["'command' has 40 blanks in a row, and goes on after them."],
    ],
    ['indented lines', { arguments: { content: `a:\n${' '.repeat(40)}b` } }, []],
    [
      'a look-alike recipient',
      { arguments: { to: 'ann@p\u0430ypal.com' } },
      [String.raw`'to' has characters that pass for others: ann@p\u{0430}ypal.com looks like ann@paypal.com.`],
    ],
    [
      'one that is read without a worker',
      {
        arguments: {},
        argumentNames: ['to'],
        shown: 'part',
        notShown: [],
        shownArguments: { to: 'ann@p\u0430ypal.com' },
      },
      [String.raw`'to' has characters that pass for others: ann@p\u{0430}ypal.com looks like ann@paypal.com.`],
    ],
    ['a name in letters of its language', { arguments: { to: 'Ahmet Yılmaz', cc: 'علی‌رضا', bcc: 'ශ්‍රී' } }, []],
    [
      'an address in which a letter has lost its dot',
      { arguments: { to: 'ann@G\u0131thub.com' } },
      [String.raw`'to' has characters that pass for others: ann@G\u{0131}thub.com looks like ann@github.com.`],
    ],
    [
      'a word of one script that looks like another word',
      { arguments: { to: 'Сара' } },
      [String.raw`'to' has characters that pass for others: \u{0421}\u{0430}\u{0440}\u{0430} looks like capa.`],
    ],
    [
      'an invisible character',
      { arguments: { to: 'ann\u200b' } },
      [String.raw`'to' has invisible or misleading characters, shown as \u{200B}.`],
    ],
    [
      'the name of a tool',
      { toolName: 'read\u202e' },
      [String.raw`The name of the tool has invisible or misleading characters, shown as \u{202E}.`],
    ],
    [
      'an address with another host than it begins with',
      { arguments: { body: 'see https://acme.com@evil.example/x' } },
      ["'body' has an address that leads to evil.example: https://acme.com@evil.example."],
    ],
    [
      'letters that reorder what stands beside them',
      { arguments: { path: '/srv/\u05d0/12/34', note: '\u05d0', to: 'ann' } },
      ["'path' has letters written from right to left: what stands beside them may be drawn in another order."],
    ],
    ['names that differ in case', { arguments: { to: 1, To: 2 } }, ["Two arguments look alike: 'to' and 'To'."]],
    [
      'names that differ in an invisible character',
      { arguments: { a: { to: 1, 'to\u200b': 2 } } },
      [
        String.raw`The name 'a.to\u{200B}' has invisible or misleading characters, shown as \u{200B}.`,
        String.raw`Two arguments in a look alike: 'to' and 'to\u{200B}'.`,
      ],
    ],
    [
      'names that differ in a look-alike and in width',
      { arguments: { to: 1, tо: 2, '\uff54o': 3 } },
      expect.arrayContaining([
        String.raw`Two arguments look alike: 'to' and 't\u{043E}'.`,
        String.raw`Two arguments look alike: 'to' and '\u{FF54}o'.`,
      ]),
    ],
  ])('%s', (_name, request, warnings) => {
    expect(cardOf(cardRequest(request)).warnings).toEqual(warnings);
  });
});

test('people are shown by their names, with their ids beside them', () => {
  const settled = {
    outcome: 'approved',
    runs: true,
    reviewerId: '8f3c',
    reviewerName: 'Ann Lee',
    identity: 'verified',
    settledAt: '2030-01-31T12:00:00.000Z',
  } as const;
  const people = { bob: { name: 'Bob Ray', also: ['u-2'] } };
  const vote = { approved: true, at: settled.settledAt, identity: 'claimed', contentDigest: '' } as const;
  const votes = [
    { ...vote, reviewerId: 'u-2', reviewerName: 'Boss' },
    { ...vote, reviewerId: '8f3d', reviewerName: 'Ann Lee' },
  ];
  const approvals = { have: 2, need: 3 };
  const request = cardRequest({
    settled,
    votes,
    approvals,
    people,
    reviewers: ['bob', 'group:finance'],
    callerUserId: 'U-2',
  });
  const text = renderTerminal(cardOf(request));
  for (const shown of [
    'Ann Lee (8f3c) (verified)',
    'Bob Ray (u-2) approves (claimed)',
    'Ann Lee (8f3d) approves (claimed)',
    'Bob Ray (bob), group:finance',
    'Bob Ray (U-2)',
  ])
    expect(text).toContain(shown);
});

describe('what is cut', () => {
  const long = `${'a'.repeat(3_000)}END`;
  const deep = (levels: number): Json => (levels === 0 ? 1 : { a: deep(levels - 1) });

  test.each<[string, Parameters<typeof cardRequest>[0], string]>([
    ['a long value', { arguments: { note: long } }, "1,200 of 3,003 characters of 'note'"],
    ['a value of many lines', { arguments: { note: 'x\n'.repeat(100) } }, "77 of 200 characters of 'note'"],
    [
      'many values',
      { arguments: { list: Array.from({ length: 100 }, (_, index) => index) } },
      '60 of 100 values of the arguments',
    ],
    ['a long sentence', { sentence: long }, '500 of 3,003 characters of the sentence'],
    [
      'a long change',
      { preview: { state: 'ready', changes: [{ kind: 'text', name: 'f', before: null, after: 'x\n'.repeat(500) }] } },
      "160 of 501 lines of 'f'",
    ],
    [
      'a long cell',
      {
        preview: {
          state: 'ready',
          changes: [{ kind: 'table', name: 't', columns: ['a'], rows: [{ before: null, after: [long] }] }],
        },
      },
      "parts of 1 cell of 't'",
    ],
    [
      'a long table',
      {
        preview: {
          state: 'ready',
          changes: [
            {
              kind: 'table',
              name: 't',
              columns: ['a'],
              rows: Array.from({ length: 50 }, () => ({ before: null, after: [1] })),
            },
          ],
        },
      },
      "20 of 50 rows of 't'",
    ],
    [
      'the long name of a change',
      { preview: { state: 'ready', changes: [{ kind: 'text', name: long, before: null, after: 'x' }] } },
      'parts of long names',
    ],
    [
      'the long name of a column',
      {
        preview: {
          state: 'ready',
          changes: [{ kind: 'table', name: 't', columns: [long], rows: [{ before: null, after: [1] }] }],
        },
      },
      'parts of long names',
    ],
    [
      'a long line of a change',
      { preview: { state: 'ready', changes: [{ kind: 'text', name: 'f', before: null, after: long }] } },
      "parts of 1 line of 'f'",
    ],
  ])('%s: "always" is not offered, unless all is shown', (_name, request, shown) => {
    const cut = cardOf(cardRequest(request));
    expect(cut.whole).toBe(false);
    expect(answersOf(cut)).toEqual(everything.filter((name) => name !== 'always'));
    expect(cardWarnings(cut)).toEqual([`Only ${shown} are shown, so you cannot approve it for later calls.`]);
    const all = cardOf(cardRequest(request), { all: true });
    expect([all.whole, answersOf(all), cardWarnings(all)]).toEqual([true, everything, []]);
    // The raw call has all of the arguments in any case.
    expect(JSON.parse(cut.raw)).toEqual({ arguments: cardRequest(request).arguments, tool: 'refund' });
  });

  test('a preview that its tool had to cut says so', () => {
    const cut = 'Left out: 12 rows of users.';
    const card = cardOf(cardRequest({ preview: { state: 'ready', changes: [], cut } }), { all: true });
    const warning = 'Part of this request is hidden, so you cannot approve it for later calls.';
    expect([card.whole, cardWarnings(card)]).toEqual([false, [cut, warning]]);
    expect(cardOf(cardRequest({ preview: { state: 'pending' } })).whole).toBe(false);
  });

  test('a cell that changes only where it is hidden is a change', () => {
    const cell = (middle: string): string => `${'a'.repeat(2_000)}${middle}${'b'.repeat(2_000)}`;
    const rows = [{ before: [cell('x')], after: [cell('y')] }];
    const preview = { state: 'ready' as const, changes: [{ kind: 'table' as const, name: 't', columns: ['a'], rows }] };
    const text = renderTerminal(cardOf(cardRequest({ preview })));
    expect(text).toContain('[2,801 characters hidden]…');
    expect(text).toContain(' [changes where it is hidden]');
  });

  test('the number of hidden characters is exact, and no escape is torn', () => {
    const { value } = cardOf(cardRequest({ arguments: { note: `${'\u202e'.repeat(2_000)}b` } })).arguments[0]!;
    const parts = [value.text, value.end!].map((text) => text.match(/\\u\{202E\}|b/g)!);
    expect(parts.flat().join('')).toBe(value.text + value.end);
    expect(parts[0]!.length + value.hidden! + parts[1]!.length).toBe(2_001);
  });

  test('a terminal says how many are hidden and how to see them', () => {
    const text = renderTerminal(cardOf(cardRequest({ arguments: { note: long } })), { seeAll: '--all shows it' });
    expect(text).toContain('aaa … [1,803 characters hidden; --all shows it] … aaa');
    expect(text).toContain('aEND\n');
  });

  test('hidden arguments are named, and what is hidden is not', () => {
    const card = cardOf(cardRequest({ arguments: {}, argumentNames: ['to', 'am\nount'], shown: 'part' }));
    expect(card).toMatchObject({ arguments: [], notShown: ['to', String.raw`am\u{000A}ount`], raw: '', whole: false });
    expect(answersOf(card)).toEqual(['approve', 'deny', 'respond', 'nobody']);
  });

  test('nesting is bounded, and told', () => {
    const card = cardOf(cardRequest({ arguments: { a: deep(10) } }));
    expect(card.warnings).toEqual(['A value is nested so deeply that it is shown as JSON.']);
    expect(card.arguments).toEqual([
      {
        name: 'a.a.a.a.a.a',
        path: Array.from({ length: 6 }, () => 'a'),
        format: 'json',
        value: { text: '{"a":{"a":{"a":{"a":{"a":1}}}}}' },
      },
    ]);
    const deepest = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as Json;
    expect(cardOf(cardRequest({ arguments: { a: deepest } })).raw.length).toBeGreaterThan(100_000);
  });
});

describe('what each answer does', () => {
  const effectOf = (request: Parameters<typeof cardRequest>[0], name: string, options = {}): string | undefined =>
    cardOf(cardRequest(request), options).answers.find((each) => each.name === name)?.effect;

  test.each([
    ['always', {}, {}, /later calls of 'refund' in this run, as many as the rule admits/],
    ['always', {}, { always: 'tool' as const }, /all later calls of 'refund' in this run/],
    ['always', {}, { always: 'call' as const }, /exactly these arguments/],
    ['always', { always: { widest: 'call' as const } }, {}, /exactly these arguments/],
    ['always', { riskLevel: 'destructive' as const }, {}, /exactly these arguments/],
    ['always', {}, { always: 'arguments' as const }, /whose arguments fit what you name/],
    ['nobody', {}, {}, /^It does not run\. The model is told "Denied: no decision within 5m"\.$/],
    ['nobody', { deadline: null }, {}, /^The call waits for ever\.$/],
    ['nobody', { onTimeout: 'allow' as const }, {}, /^It runs at the deadline/],
  ])('%s %j %j', (name, request, options, effect) => {
    expect(effectOf(request, name, options)).toMatch(effect);
  });

  test('what is redacted is named, and "always" is not offered', () => {
    const card = cardOf(cardRequest({ arguments: { note: 'Ask [EMAIL]' }, redacted: ['note'] }), { always: 'tool' });
    expect(cardWarnings(card)).toEqual(['Hidden from you: note. The tool will receive the real values.']);
    expect([card.whole, card.answers.map(({ name }) => name)]).toEqual([
      true,
      everything.filter((name) => name !== 'always'),
    ]);
  });

  test('a rule that admits no "always" has none', () => {
    expect(effectOf({}, 'always', { always: false })).toBeUndefined();
  });
});

describe('the change itself', () => {
  test('a text: only the lines around the change', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const before = `${lines.join('\n')}\n`;
    const after = before.replace('line 10', 'line\u200b ten');
    const card = cardOf(
      cardRequest({ preview: { state: 'ready', changes: [{ kind: 'text', name: 'a.txt', before, after }] } }),
    );
    expect(renderTerminal(card)).toContain(
      [
        'What would change',
        'a.txt changes: 1 line added, 1 line removed',
        '│ @@ -8,7 +8,7 @@',
        '│  line 7',
        '│  line 8',
        '│  line 9',
        '│ -line 10',
        String.raw`│ +line\u{200B} ten`,
        '│  line 11',
      ].join('\n'),
    );
  });

  test('a table: what changes, and totals of all rows', () => {
    const rows = [
      { before: ['ann', 10], after: ['ann', 130.5] },
      { before: null, after: ['bob', 1_000] },
      { before: ['eve', 5], after: null },
    ];
    const card = cardOf(
      cardRequest({
        preview: { state: 'ready', changes: [{ kind: 'table', name: 'Balances', columns: ['who', 'sum'], rows }] },
      }),
    );
    expect(renderTerminal(card)).toContain(
      [
        'Balances: 1 row added; 1 row changed; 1 row removed; sum in total: 15 → 1,130.5',
        '│    who  sum',
        '│ ~  ann  10 → 130.5',
        '│ +  bob  1000',
        '│ -  eve  5',
      ].join('\n'),
    );
  });

  test.each<[NonNullable<ReturnType<typeof cardRequest>['preview']>, string]>([
    [{ state: 'pending' }, 'The tool is still working out what would change.'],
    [{ state: 'failed', message: 'no\u0007disk' }, 'The tool could not say what would change:\n│ no\\u{0007}disk'],
    [{ state: 'ready', changes: [] }, 'The tool says that nothing would change.'],
  ])('%j', (preview, text) => {
    expect(renderTerminal(cardOf(cardRequest({ preview })))).toContain(`What would change\n${text}\n`);
  });

  test('two large texts that differ everywhere take little time', () => {
    const text = (letter: string): string =>
      Array.from({ length: 20_000 }, (_, index) => `${letter}${index}`).join('\n');
    const changes = [{ kind: 'text' as const, name: 'f', before: text('a'), after: text('b') }];
    const card = cardOf(cardRequest({ preview: { state: 'ready', changes } }));
    expect(card.preview).toMatchObject({ changes: [{ added: 20_000, removed: 20_000, hiddenLines: 39_840 }] });
  });
});

test('the time left, against the time that the caller gives', () => {
  const left = (request: Parameters<typeof cardRequest>[0], atMs?: number) =>
    cardOf(cardRequest(request), { nowMs: atMs }).time.left;
  expect([
    left({}, nowMs),
    left({}, nowMs + 300_000),
    left({}),
    left({ deadline: null }, nowMs),
    left({ deadline: 'x' }, nowMs),
  ]).toEqual(['4 min', 'passed', undefined, undefined, undefined]);
});

describe('a name that is cut', () => {
  const args: JsonObject = { note: 'x', outer: { [`${'k'.repeat(180)}one${'k'.repeat(100)}`]: 1 } };

  test('is something that is not shown, so "always" is not offered', () => {
    const card = cardOf(cardRequest({ arguments: args }));
    expect([card.whole, answersOf(card).includes('always')]).toEqual([false, false]);
    expect(JSON.stringify(card.arguments)).not.toContain('one');
  });

  test('is whole where everything is shown', () => {
    const card = cardOf(cardRequest({ arguments: args }), { all: true });
    expect([card.whole, answersOf(card)]).toEqual([true, everything]);
    expect(card.arguments.at(-1)!.name).toContain('kkonekk');
  });
});

test('a word behind a line break in a value that is shown as JSON is no look-alike', () => {
  const value = { note: 'Γεια,\n\nη παραγγελία' };
  const deep = Array.from({ length: 8 }).reduce<Json>((inner) => [inner], value.note);
  const texts = JSON.stringify(cardOf(cardRequest({ metadata: value, arguments: { deep } })));
  expect(texts).toContain('η παραγγελία');
  expect(texts).not.toContain('{03B7}');
});
