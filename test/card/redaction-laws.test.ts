import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CardRequest } from '../../src/card/card.ts';
import { cardOf } from '../../src/card/card-of.ts';
import { renderHtml } from '../../src/card/render-html.ts';
import { renderMarkdown } from '../../src/card/render-markdown.ts';
import { renderSlack } from '../../src/card/render-slack.ts';
import { renderTerminal } from '../../src/card/render-terminal.ts';
import type { Json, JsonObject } from '../../src/core/base/tool-call.ts';
import { redactInRequest } from '../../src/core/ledger/hidden-arguments.ts';
import { shownArguments } from '../../src/core/ledger/shown-arguments.ts';
import { sensitiveKinds } from '../../src/core/redact/kinds.ts';
import { redactionOf, type OwnPattern } from '../../src/core/redact/redaction.ts';
import { findOwn } from '../../src/redact/own-patterns.ts';
import { isCard } from '../../src/core/redact/detectors.ts';
import { sensitive } from '../core/redact/sensitive-samples.ts';
import { runs } from '../support/thorough.ts';
import { cardRequest } from './sample-requests.ts';

/**
 * What decides is shown: two calls that differ in a value that is no secret never have equal cards, and no card has a secret.
 * The digest of the call is the same on all cards here: it tells calls apart, but people do not read it.
 */

const patterns: OwnPattern[] = [
  { name: 'CASE', pattern: 'CASE-[0-9]+' },
  { name: 'BADGE_TOKEN', pattern: 'bdg_[a-z0-9]+' },
];

/** What people get of a call: each layout of its card, what a service gets, and its row in a list, which has the named arguments. */
function formsOf(args: JsonObject): Record<string, string> {
  const settings = { kinds: sensitiveKinds, patterns, also: ['demanded'] };
  const redaction = redactionOf(args, { settings, findMore: findOwn(patterns) });
  const request: CardRequest = redactInRequest(cardRequest({ arguments: args }), redaction);
  const row = shownArguments(args, Object.keys(args), redaction.values);
  const ofRow = cardOf(cardRequest({ arguments: {}, shown: 'part', ...row }));
  const card = cardOf(request);
  return {
    terminal: renderTerminal(card),
    markdown: renderMarkdown(card),
    html: renderHtml(card),
    slack: JSON.stringify(renderSlack(card)),
    service: JSON.stringify(request),
    row: renderTerminal(ofRow),
  };
}

const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`));

/** The digits with the one that makes them the number of a card. */
function cardNumber(beginning: string): string {
  return Array.from('0123456789', (last) => beginning + last).find(isCard)!;
}

/** An account number with the check digits of ISO 7064. */
function iban(country: string, account: string): string {
  const number = Array.from(`${account}${country}00`, (each) => parseInt(each, 36)).join('');
  const check = String(98n - (BigInt(number) % 97n)).padStart(2, '0');
  return `${country}${check}${account}`;
}

const word = fc.stringMatching(/^[a-z]{3,8}$/);
const grouped = (text: string): string => text.replace(/(.{4})(?=.)/g, '$1 ');

/** Two values of one kind, often so alike that they end with the same characters. */
const pairs = {
  IBAN: fc
    .tuple(digits(10), digits(10), digits(8), fc.boolean())
    .map(([one, other, end, isGrouped]) =>
      [one, other].map((each) => (isGrouped ? grouped : String)(iban('DE', each + end))),
    ),
  CARD: fc
    .tuple(digits(11), digits(11), fc.boolean())
    .map(([one, other, isGrouped]) =>
      [one, other].map((each) => (isGrouped ? grouped : String)(cardNumber(`4111${each}`))),
    ),
  EMAIL: fc
    .tuple(word, word, fc.constantFrom('acme.example', 'evil.example', 'a.io'))
    .map(([one, other, host]) => [`${one}@${host}`, `${other}@${host}`]),
  PHONE: fc
    .tuple(digits(4), digits(4), fc.constantFrom('+49 30 55', '+1 415 555 ', '0171 555', '415-555-'))
    .map(([one, other, beginning]) => [beginning + one, beginning + other]),
  SSN: fc
    .tuple(fc.integer({ min: 10, max: 99 }), fc.integer({ min: 10, max: 99 }), fc.integer({ min: 1000, max: 9999 }))
    .map(([one, other, end]) => [`123-${one}-${end}`, `123-${other}-${end}`]),
  CASE: fc.tuple(digits(5), digits(5)).map((each) => each.map((digit) => `CASE-${digit}`)),
  text: fc.tuple(word, word).map((each) => [...each]),
} satisfies Record<string, fc.Arbitrary<string[]>>;
type Kind = keyof typeof pairs;

const names = 'account_number note users customer body phone card ssn owner email iban to demanded config x'.split(' ');
/** Where a value stands in an argument. */
const places: ((value: string) => Json)[] = [
  (value) => value,
  (value) => `Please use ${value} today.`,
  (value) => `${value}\nand more`,
  (value) => [value],
  (value) => ['first@acme.example', [value], 'x'],
  (value) => [{ email: value, role: 'admin' }],
  (value) => ({ email: value, phone: '+1 415 555 0000' }),
  (value) => ({ a: { b: [{ c: value }] } }),
  (value) => ({ note: `see ${value}`, count: 2 }),
  (value) => JSON.stringify({ account: value }),
  (value) => (/^\d{16}$/.test(value) ? Number(value) : value),
];
/** So many parts that one placeholder stands for the whole text. Only where it is not addressed to anybody, and shown. */
const crowded = (value: string): Json => `${'ann@acme.example '.repeat(501)}${value}`;

interface Calls {
  kind: Kind;
  values: string[];
  calls: JsonObject[];
}
const twoCalls: fc.Arbitrary<Calls> = fc
  .record({
    kind: fc.constantFrom(...(Object.keys(pairs) as Kind[])),
    where: fc.oneof(
      { weight: 30, arbitrary: fc.record({ name: fc.constantFrom(...names), place: fc.constantFrom(...places) }) },
      { weight: 1, arbitrary: fc.constant({ name: 'note', place: crowded }) },
    ),
    beside: fc.constantFrom<JsonObject>({}, { amount: 100 }, { password: 'hunter22', memo: 'for bob@acme.example' }),
  })
  .chain(({ kind, where: { name, place }, beside }) =>
    pairs[kind]
      .filter(([one, other]) => one !== other)
      .map((values) => ({ kind, values, calls: values.map((value) => ({ [name]: place(value), ...beside })) })),
  );

const plainOf = (kind: Kind, value: string): string =>
  ['EMAIL', 'CASE', 'text'].includes(kind) ? value : value.replace(/[\s()./-]/g, '');

const digestOf = (kind: Kind, value: string): string =>
  createHash('sha256').update(plainOf(kind, value)).digest('hex').slice(0, 4);

test('two calls that differ in a value that is no secret never have equal cards', () => {
  const met = new Set<Kind>();
  let alike = 0;
  fc.assert(
    fc.property(twoCalls, ({ kind, values: [one, other], calls }) => {
      const [before, after] = calls.map(formsOf);
      met.add(kind);
      // One of 65,536 pairs has the same short digest.
      if (digestOf(kind, one!) === digestOf(kind, other!)) {
        alike += 1;
        return;
      }
      for (const form of Object.keys(before!))
        expect({ form, text: before![form] }).not.toEqual({ form, text: after![form] });
    }),
    { numRuns: runs(2_000) },
  );
  expect(met.size).toBe(Object.keys(pairs).length);
  expect(alike).toBeLessThan(5);
});

test('a placeholder shows at most a quarter of a value', () => {
  fc.assert(
    fc.property(twoCalls, ({ kind, values: [value] }) => {
      if (kind === 'text') return;
      const plain = plainOf(kind, value!);
      // Four groups of an account number may be those of a card.
      const demanded = kind === 'IBAN' ? plain : value!;
      const { arguments: args } = JSON.parse(formsOf({ demanded })['service']!) as { arguments: { demanded: string } };
      const [, last = ''] = /^\[[A-Z]+(?: …(\w+))? · [0-9a-f]{4}\]$/.exec(args.demanded) ?? expect.fail(args.demanded);
      expect(plain).toMatch(new RegExp(`${last}$`, 'i'));
      expect(last.length).toBeLessThanOrEqual(Math.min(4, plain.length / 4));
    }),
    { numRuns: runs(2_000) },
  );
});

const access = sensitive.filter(([, , , placeholder]) => /KEY|JWT|PASSWORD/.test(placeholder));
const secretText = fc.constantFrom(...access).map(([, text, hidden]) => ({ text, hidden }));
const letters = fc.stringMatching(/^[a-zA-Z]{6}[0-9]{6}$/);
const ownToken = letters.map((end) => `bdg_${end.toLowerCase()}`).map((hidden) => ({ text: `use ${hidden}`, hidden }));
const named = fc
  .tuple(fc.constantFrom('password', 'dbPassword', 'client_secret', 'apiKey', 'access_token', 'privateKey'), letters)
  .map(([name, hidden]) => ({ name, text: hidden, hidden }));
const secret = fc.oneof(
  fc
    .tuple(fc.constantFrom('note', 'body', 'config', 'email', 'users'), fc.oneof(secretText, ownToken))
    .map(([name, found]) => ({ name, ...found })),
  named,
);
const secretPlaces: ((text: string) => Json)[] = [
  (text) => text,
  (text) => [text],
  (text) => ({ a: [{ b: text }] }),
  (text) => `${text}\nfor ann@acme.example`,
];

describe('of what grants access, a card shows nothing', () => {
  test('not the value', () => {
    fc.assert(
      fc.property(secret, fc.constantFrom(...secretPlaces), ({ name, text, hidden }, place) => {
        for (const [form, shown] of Object.entries(formsOf({ [name]: place(text), amount: 100 }))) {
          expect([form, shown.replaceAll('\\', '')]).not.toEqual([form, expect.stringContaining(hidden)]);
        }
      }),
      { numRuns: runs(2_000) },
    );
  });

  test('and nothing that follows from it', () => {
    fc.assert(
      fc.property(fc.tuple(letters, letters), fc.constantFrom(...secretPlaces), (values, place) => {
        const calls = values.map((value) => ({
          password: place(value),
          note: `Authorization: Bearer ${value}${value}`,
          body: `password=${value} and bdg_${value.toLowerCase()}`,
        }));
        const [one, other] = calls.map(formsOf);
        expect(one).toEqual(other);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
