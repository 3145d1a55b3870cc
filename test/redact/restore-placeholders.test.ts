import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/base/tool-call.ts';
import { sensitiveKinds } from '../../src/core/redact/kinds.ts';
import { redactionOf } from '../../src/core/redact/redact-arguments.ts';
import { keptValues } from '../../src/core/redact/kept-values.ts';
import { restorePlaceholders } from '../../src/redact/restore-placeholders.ts';

const [ann, bob, phone] = ['ann@acme.com', 'bob@acme.com', '+49 30 1234567'];
const edit = (original: JsonObject, edited: JsonObject, names: string[] = []) => {
  const { values } = redactionOf(original, { settings: { kinds: sensitiveKinds, patterns: [], also: [] } });
  return restorePlaceholders(edited, keptValues(original, values, names), names);
};

describe('a placeholder in its place becomes the value', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['the whole value', { a: ann }, { a: '[EMAIL]' }, { a: ann }],
    ['within a longer text', { a: `Hi ${ann}!` }, { a: 'Dear [EMAIL], hello' }, { a: `Dear ${ann}, hello` }],
    [
      'several, all left',
      { a: `${ann}, ${bob}, ${phone}` },
      { a: '[EMAIL] [EMAIL] [PHONE]' },
      { a: `${ann} ${bob} ${phone}` },
    ],
    ['several, one left that can only be one', { a: `${ann}, ${phone}` }, { a: '[PHONE]' }, { a: phone }],
    ['two that are the same', { a: `${ann} or ${ann}` }, { a: '[EMAIL]' }, { a: ann }],
    ['all taken away', { a: `${ann}, ${bob}` }, { a: 'nobody' }, { a: 'nobody' }],
    ['nested', { a: { b: { c: ann } } }, { a: { b: { c: '[EMAIL]' }, d: 1 } }, { a: { b: { c: ann }, d: 1 } }],
    ['in a list', { a: [ann, { b: bob }] }, { a: ['[EMAIL]', { b: '[EMAIL]' }] }, { a: [ann, { b: bob }] }],
    [
      'in a list that grew',
      { a: [{ b: ann }] },
      { a: [{ b: '[EMAIL]' }, { b: 'x' }] },
      { a: [{ b: ann }, { b: 'x' }] },
    ],
    ['in a list of which another item changed', { a: [ann, 'x'] }, { a: ['[EMAIL]', 'y'] }, { a: [ann, 'y'] }],
    ['a number', { n: 4_111_111_111_111_111 }, { n: '[CARD]' }, { n: 4_111_111_111_111_111 }],
    [
      'written by the model',
      { a: 'the text [EMAIL]', b: ann },
      { a: 'my text [EMAIL]', b: '[EMAIL]' },
      { a: 'my text [EMAIL]', b: ann },
    ],
    [
      'written by the model beside a value',
      { a: `[EMAIL] is ${ann}` },
      { a: '[EMAIL] was [EMAIL]' },
      { a: `[EMAIL] was ${ann}` },
    ],
    [
      'with signs that a replacement could read',
      { password: "a$&$1$'b" },
      { password: '[PASSWORD]' },
      { password: "a$&$1$'b" },
    ],
    ['words in brackets that are none', { a: ann }, { a: '[EMAIL]', b: '[NOTE]' }, { a: ann, b: '[NOTE]' }],
  ])('%s', (_name, original, edited, args) => expect(edit(original, edited)).toEqual({ args }));
});

const newHere = (place: string, placeholder = '[EMAIL]') =>
  `${place}: ${placeholder} stands for a value that was not here: write the value, or leave it out`;
const notThese = (place: string, all: string) =>
  `${place}: the placeholders must be those that were shown here, in their order (${all}), or none of them`;
const changedItem = (place: string, item: string) =>
  `${place}: [EMAIL] keeps its value only if ${item} is otherwise unchanged and nothing is taken from its list: write the value`;

describe('a placeholder anywhere else is refused with its place', () => {
  test.each<[string, JsonObject, JsonObject, string]>([
    ['added', { a: ann }, { a: '[EMAIL]', b: '[EMAIL]' }, newHere('arguments.b')],
    ['moved to another argument', { a: ann, b: 'x' }, { a: 'x', b: '[EMAIL]' }, newHere('arguments.b')],
    ['moved into an object', { a: ann }, { a: { b: '[EMAIL]' } }, newHere('arguments.a.b')],
    ['of a kind that was not there', { a: ann }, { a: '[PHONE]' }, notThese('arguments.a', '[EMAIL]')],
    ['duplicated', { a: ann }, { a: '[EMAIL] [EMAIL]' }, notThese('arguments.a', '[EMAIL]')],
    ['one of two', { a: `${ann} ${bob}` }, { a: '[EMAIL]' }, notThese('arguments.a', '[EMAIL], [EMAIL]')],
    [
      'in another order',
      { a: `${ann} ${phone}` },
      { a: '[PHONE] [EMAIL]' },
      notThese('arguments.a', '[EMAIL], [PHONE]'),
    ],
    ['where nothing was hidden', { a: 'x' }, { a: '[SSN]' }, newHere('arguments.a', '[SSN]')],
    [
      'in an item that changed',
      { a: [{ n: 1, b: ann }] },
      { a: [{ n: 2, b: '[EMAIL]' }] },
      changedItem('arguments.a[0].b', 'arguments.a[0]'),
    ],
    [
      'in an item that moved up',
      { a: [ann, bob] },
      { a: ['[EMAIL]'] },
      changedItem('arguments.a[0]', 'arguments.a[0]'),
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
          { n: 2, b: '[EMAIL]' },
          { n: 1, b: '[EMAIL]' },
        ],
      },
      changedItem('arguments.a[0].b', 'arguments.a[0]'),
    ],
    [
      'in the name of a member',
      { a: { b: ann } },
      { a: { '[EMAIL]': 'x' } },
      'arguments.a: the name of a member holds [EMAIL]: write the name',
    ],
    ['in an added item', { a: [ann] }, { a: ['[EMAIL]', '[EMAIL]'] }, newHere('arguments.a[1]')],
    [
      'in a list of lists that changed',
      { a: [[ann, 'x']] },
      { a: [['[EMAIL]', 'y']] },
      changedItem('arguments.a[0][0]', 'arguments.a[0]'),
    ],
  ])('%s', (_name, original, edited, problem) => expect(edit(original, edited)).toEqual({ problem }));

  test("of the policy's own patterns", () => {
    expect(edit({ a: ann }, { a: '[TICKET]' })).toEqual({ args: { a: '[TICKET]' } });
    expect(edit({ a: 'x' }, { a: '[TICKET]' }, ['TICKET'])).toEqual({ problem: newHere('arguments.a', '[TICKET]') });
    expect(edit({ a: 'a [TICKET]' }, { a: 'b [TICKET]' }, ['TICKET'])).toEqual({ args: { a: 'b [TICKET]' } });
  });
});
