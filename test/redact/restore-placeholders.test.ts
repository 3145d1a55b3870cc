import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/base/tool-call.ts';
import { sensitiveKinds } from '../../src/core/redact/kinds.ts';
import { redactionOf } from '../../src/core/redact/redaction.ts';
import { keptValues } from '../../src/core/redact/kept-values.ts';
import { restorePlaceholders } from '../../src/redact/restore-placeholders.ts';

const [ann, bob, phone] = ['ann@acme.com', 'bob@acme.com', '+49 30 1234567'];
const [annShown, bobShown, phoneShown] = ['[EMAIL …om · f966]', '[EMAIL …om · 405a]', '[PHONE …67 · 74bd]'];
const edit = (original: JsonObject, edited: JsonObject, names: string[] = []) => {
  const { values } = redactionOf(original, { settings: { kinds: sensitiveKinds, patterns: [], also: [] } });
  return restorePlaceholders(edited, keptValues(original, values, names), names);
};

describe('a placeholder in its place becomes the value', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['the whole value', { a: ann }, { a: annShown }, { a: ann }],
    ['within a longer text', { a: `Hi ${ann}!` }, { a: `Dear ${annShown}, hello` }, { a: `Dear ${ann}, hello` }],
    [
      'several, all left',
      { a: `${ann}, ${bob}, ${phone}` },
      { a: `${annShown} ${bobShown} ${phoneShown}` },
      { a: `${ann} ${bob} ${phone}` },
    ],
    ['several, one left that can only be one', { a: `${ann}, ${phone}` }, { a: phoneShown }, { a: phone }],
    ['two that are the same', { a: `${ann} or ${ann}` }, { a: annShown }, { a: ann }],
    ['one of two', { a: `${ann} ${bob}` }, { a: bobShown }, { a: bob }],
    ['all taken away', { a: `${ann}, ${bob}` }, { a: 'nobody' }, { a: 'nobody' }],
    ['nested', { a: { b: { c: ann } } }, { a: { b: { c: annShown }, d: 1 } }, { a: { b: { c: ann }, d: 1 } }],
    ['in a list', { a: [ann, { b: bob }] }, { a: [annShown, { b: bobShown }] }, { a: [ann, { b: bob }] }],
    ['in a list that grew', { a: [{ b: ann }] }, { a: [{ b: annShown }, { b: 'x' }] }, { a: [{ b: ann }, { b: 'x' }] }],
    ['in a list of which another item changed', { a: [ann, 'x'] }, { a: [annShown, 'y'] }, { a: [ann, 'y'] }],
    [
      'a masked account',
      { bank: { iban: 'DE89370400440532013000' }, n: 1 },
      { bank: { iban: '[IBAN DE89…3000 · faf7]' }, n: 2 },
      { bank: { iban: 'DE89370400440532013000' }, n: 2 },
    ],
    ['a number', { n: 4_111_111_111_111_111 }, { n: '[CARD …1111 · 9bbe]' }, { n: 4_111_111_111_111_111 }],
    [
      'written by the model',
      { a: 'the text [EMAIL]', b: ann },
      { a: 'my text [EMAIL]', b: annShown },
      { a: 'my text [EMAIL]', b: ann },
    ],
    [
      'written by the model beside a value',
      { a: `[EMAIL] is ${ann}` },
      { a: `[EMAIL] was ${annShown}` },
      { a: `[EMAIL] was ${ann}` },
    ],
    [
      'with signs that a replacement could read',
      { password: "a$&$1$'b" },
      { password: '[PASSWORD]' },
      { password: "a$&$1$'b" },
    ],
    ['words in brackets that are none', { a: ann }, { a: annShown, b: '[NOTE]' }, { a: ann, b: '[NOTE]' }],
  ])('%s', (_name, original, edited, args) => expect(edit(original, edited)).toEqual({ args }));
});

const newHere = (place: string, placeholder = annShown) =>
  `${place}: ${placeholder} stands for a value that was not here: write the value, or leave it out`;
const notThese = (place: string, all: string) =>
  `${place}: the placeholders must be those that were shown here, in their order (${all}), or none of them`;
const changedItem = (place: string, item: string, placeholder = annShown) =>
  `${place}: ${placeholder} keeps its value only if ${item} is otherwise unchanged and nothing is taken from its list: write the value`;

describe('a placeholder anywhere else is refused with its place', () => {
  test.each<[string, JsonObject, JsonObject, string]>([
    ['added', { a: ann }, { a: annShown, b: annShown }, newHere('arguments.b')],
    ['moved to another argument', { a: ann, b: 'x' }, { a: 'x', b: annShown }, newHere('arguments.b')],
    ['moved into an object', { a: ann }, { a: { b: annShown } }, newHere('arguments.a.b')],
    ['of a kind that was not there', { a: ann }, { a: '[PHONE]' }, notThese('arguments.a', annShown)],
    ['duplicated', { a: ann }, { a: `${annShown} ${annShown}` }, notThese('arguments.a', annShown)],
    ['of the same kind', { a: ann }, { a: bobShown }, notThese('arguments.a', annShown)],
    ['without its end', { a: ann }, { a: '[EMAIL]' }, notThese('arguments.a', annShown)],
    ['with another end', { a: ann }, { a: '[EMAIL …om · f967]' }, notThese('arguments.a', annShown)],
    ['with half its end', { a: ann }, { a: '[EMAIL …om]' }, notThese('arguments.a', annShown)],
    [
      'one of two that look alike',
      { a: 'password=one1 password=two2' },
      { a: 'password=[PASSWORD]' },
      notThese('arguments.a', '[PASSWORD], [PASSWORD]'),
    ],
    [
      'in another order',
      { a: `${ann} ${phone}` },
      { a: `${phoneShown} ${annShown}` },
      notThese('arguments.a', `${annShown}, ${phoneShown}`),
    ],
    ['where nothing was hidden', { a: 'x' }, { a: '[SSN]' }, newHere('arguments.a', '[SSN]')],
    [
      'in an item that changed',
      { a: [{ n: 1, b: ann }] },
      { a: [{ n: 2, b: annShown }] },
      changedItem('arguments.a[0].b', 'arguments.a[0]'),
    ],
    [
      'in an item that moved up',
      { a: [ann, bob] },
      { a: [bobShown] },
      changedItem('arguments.a[0]', 'arguments.a[0]', bobShown),
    ],
    [
      'in swapped items',
      {
        a: [
          { n: 1, b: ann },
          { n: 2, b: bob },
        ],
      },
      {
        a: [
          { n: 2, b: bobShown },
          { n: 1, b: annShown },
        ],
      },
      changedItem('arguments.a[0].b', 'arguments.a[0]', bobShown),
    ],
    [
      'in the name of a member',
      { a: { b: ann } },
      { a: { [annShown]: 'x' } },
      `arguments.a: the name of a member holds ${annShown}: write the name`,
    ],
    ['in an added item', { a: [ann] }, { a: [annShown, annShown] }, newHere('arguments.a[1]')],
    [
      'in a list of lists that changed',
      { a: [[ann, 'x']] },
      { a: [[annShown, 'y']] },
      changedItem('arguments.a[0][0]', 'arguments.a[0]'),
    ],
  ])('%s', (_name, original, edited, problem) => expect(edit(original, edited)).toEqual({ problem }));

  test("of the policy's own patterns", () => {
    expect(edit({ a: ann }, { a: '[TICKET]' })).toEqual({ args: { a: '[TICKET]' } });
    expect(edit({ a: 'x' }, { a: '[TICKET]' }, ['TICKET'])).toEqual({ problem: newHere('arguments.a', '[TICKET]') });
    expect(edit({ a: 'x' }, { a: '[TICKET · cd4a]' }, ['TICKET'])).toEqual({
      problem: newHere('arguments.a', '[TICKET · cd4a]'),
    });
    expect(edit({ a: 'a [TICKET]' }, { a: 'b [TICKET]' }, ['TICKET'])).toEqual({ args: { a: 'b [TICKET]' } });
  });
});

test('a placeholder without a digest keeps its value', () => {
  const kept = keptValues({ a: `Hi ${ann}` }, [{ path: ['a'], spans: [[3, 3 + ann.length, '[EMAIL]']] }]);
  expect(restorePlaceholders({ a: 'Dear [EMAIL]' }, kept)).toEqual({ args: { a: `Dear ${ann}` } });
  expect(restorePlaceholders({ a: `Dear ${annShown}` }, kept)).toEqual({ problem: notThese('arguments.a', '[EMAIL]') });
});

test('a masked account that was not shown here is refused, however it is written', () => {
  for (const forged of ['[IBAN DE00…3000 · faf7]', '[IBAN …3000 · faf7]', '[IBAN DE89…]']) {
    expect(edit({ bank: { iban: 'DE89370400440532013000' } }, { bank: { iban: forged } })).toMatchObject({
      problem: expect.stringContaining('[IBAN DE89…3000 · faf7]'),
    });
  }
});
