import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/core/base/tool-call.ts';
import { changedValues, placedProblems, readForm } from '../../packages/gateway/src/inbox/form/read-form.ts';
import {
  emptyForm,
  type FormNode,
  formOf,
  nextItem,
  nextMember,
} from '../../packages/gateway/src/inbox/form/form-node.ts';

/** The form that is made of a JSON Schema. */

const schema: JsonObject = {
  type: 'object',
  required: ['to', 'kind'],
  properties: {
    to: { type: 'string', title: 'Recipient' },
    amount: { type: 'number' },
    kind: { enum: ['gift', 'refund'] },
    urgent: { type: 'boolean' },
    items: { type: 'array', items: { $ref: '#/$defs/item' } },
    meta: { type: ['object', 'null'], properties: { note: { type: 'string' } } },
  },
  $defs: { item: { type: 'object', properties: { sku: { type: 'string' }, count: { type: 'integer', default: 1 } } } },
};
const value: JsonObject = {
  to: 'ann',
  amount: 1e21,
  kind: 'gift',
  urgent: false,
  items: [{ sku: 'a' }, 7, null],
  meta: null,
  extra: { deep: [[[[[['six levels']]]]]] },
  '': '',
  __proto: 'x',
};

test.each<[string, Json]>([
  ['all kinds', value],
  ['an empty object', {}],
  ['a list', [1, 'two', [3]]],
  ['a text', 'x'],
  ['a choice that the schema does not know', { kind: 'other' }],
  ['a member named __proto__', JSON.parse('{"__proto__": {"a": 1}}') as Json],
  ['many members', Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`m${index}`, index]))],
  ['a large list', Array.from({ length: 1_000 }, (_, index) => index)],
])('a form that nobody touches gives the value back: %s', (_, given) => {
  const read = readForm(formOf(given, {}, {}));
  expect(read).toEqual({ value: given });
  expect('value' in read && JSON.stringify(read.value)).toBe(JSON.stringify(given));
});

test('with the schema, a form also gives the value back where it has all required members', () => {
  expect(readForm(formOf(value, schema, schema))).toEqual({ value });
});

const kindsOf = (form: FormNode): Record<string, string> =>
  form.kind === 'object'
    ? Object.fromEntries(form.members.map(({ name, node }) => [name, node?.kind ?? 'absent']))
    : { '': form.kind };

test('each member gets the control of its value; what is absent can be added', () => {
  expect(kindsOf(formOf(value, schema, schema))).toEqual({
    to: 'text',
    amount: 'number',
    kind: 'choice',
    urgent: 'flag',
    items: 'list',
    meta: 'json',
    extra: 'object',
    '': 'text',
    __proto: 'text',
  });
  // A required member is there at once, so that nobody forgets it.
  expect(kindsOf(formOf({}, schema, schema))).toEqual({
    to: 'text',
    amount: 'absent',
    kind: 'choice',
    urgent: 'absent',
    items: 'absent',
    meta: 'absent',
  });
});

test('what is added has the type, the default and the members of its schema', () => {
  const form = formOf({ items: [] }, schema, schema) as FormNode & { kind: 'object' };
  const items = form.members.find(({ name }) => name === 'items')!.node as FormNode & { kind: 'list' };
  expect(kindsOf(nextItem(items, schema))).toEqual({ sku: 'absent', count: 'absent' });
  expect(kindsOf(nextMember(form, 'meta', schema))).toEqual({ note: 'absent' });
  expect(readForm(emptyForm({ type: 'integer', default: 3 }, {}))).toEqual({ value: 3 });
  expect(readForm(emptyForm({ enum: ['a', 'b'] }, {}))).toEqual({ value: 'a' });
  expect(readForm(emptyForm({}, {}))).toHaveProperty('problems');
});

const aText: unknown = expect.any(String);
const number = (text: string): FormNode => ({ kind: 'number', text, schema: {} });

test.each<[string, FormNode, unknown]>([
  ['a whole number', number('12'), { value: 12 }],
  ['blanks around it', number(' -0.5 '), { value: -0.5 }],
  ['no number', number('much'), { problems: { arguments: 'Write a number, such as 12 or 0.5.' } }],
  ['an empty number', number(''), { problems: { arguments: aText } }],
  ['a text in quotes', number('"12"'), { problems: { arguments: aText } }],
  ['a number that no double holds', number('9007199254740993'), { problems: { arguments: aText } }],
  [
    'JSON with a name that occurs twice',
    { kind: 'json', text: '{"a":1,"a":2}', schema: {} },
    { problems: { arguments: aText } },
  ],
  [
    'the place of a problem',
    {
      kind: 'object',
      schema: {},
      members: [{ name: 'a b', isRequired: true, node: { kind: 'list', schema: {}, items: [number('x')] } }],
    },
    { problems: { 'arguments["a b"][0]': 'Write a number, such as 12 or 0.5.' } },
  ],
])('what a form holds: %s', (_, form, expected) => {
  expect(readForm(form)).toEqual(expected);
});

test.each<[string, Record<string, string>]>([
  ['arguments.amount: expected number', { 'arguments.amount': 'expected number' }],
  [
    'The edit is refused: arguments.to: too short; arguments.items[2].sku: expected string',
    { 'arguments.to': 'too short', 'arguments.items[2].sku': 'expected string' },
  ],
  ['arguments["a b"]: unknown', { 'arguments["a b"]': 'unknown' }],
  ['denied by policy', {}],
])('a sentence of the gateway leads to its fields: %s', (sentence, expected) => {
  expect(placedProblems(sentence)).toEqual(expected);
});

test('the difference names each value that changes', () => {
  const after = { ...value, amount: 30, items: [{ sku: 'b' }, 7], extra: undefined };
  delete after.extra;
  expect(changedValues(value, after as unknown as Json)).toEqual([
    { place: 'amount', before: 1e21, after: 30 },
    { place: 'items[0].sku', before: 'a', after: 'b' },
    { place: 'items[2]', before: null },
    { place: 'extra', before: value['extra'] },
  ]);
  expect(changedValues(value, value)).toEqual([]);
});
