import { expect, test } from 'vitest';
import {
  noStartFields,
  startBodyOf,
  readRunFilters,
  writeRunFilters,
} from '../../packages/gateway/src/inbox/run/run-fields.ts';

const fields = { ...noStartFields, agent: ' clerk ', input: 'Where is order 7?' };

test.each<[string, Partial<typeof fields>, object]>([
  ['the two that are needed', {}, { agent: 'clerk', input: 'Where is order 7?' }],
  ['a mode', { mode: 'plan' }, { mode: 'plan' }],
  ['a policy', { policy: '{ "rules": [] }' }, { policy: { rules: [] } }],
  ['a caller', { caller: ' carl ' }, { caller: { userId: 'carl' } }],
  ['a session', { session: true }, { session: true }],
])('the body of a start: %s', (_, change, body) => {
  expect(startBodyOf({ ...fields, ...change })).toEqual({ body: expect.objectContaining(body) });
});

test.each<[Partial<typeof fields>, string]>([
  [{ agent: ' ' }, 'agent'],
  [{ input: '' }, 'input'],
  [{ policy: 'rules: []' }, 'policy'],
  [{ policy: '[]' }, 'policy'],
  [{ policy: 'null' }, 'policy'],
])('what cannot be sent: %j', (change, field) => {
  expect(startBodyOf({ ...fields, ...change })).toMatchObject({ field });
});

test('what is not filled in is not sent', () => {
  expect(Object.keys((startBodyOf({ ...fields, mode: 'unknown' }) as { body: object }).body)).toEqual([
    'agent',
    'input',
  ]);
});

test.each([
  ['', { status: '', agent: '', text: '', mine: false }],
  ['?status=waiting', { status: 'waiting', agent: '', text: '', mine: false }],
  ['?status=failed&agent=a+b%26', { status: 'failed', agent: 'a b&', text: '', mine: false }],
  ['?text=order+7&mine=true', { status: '', agent: '', text: 'order 7', mine: true }],
] as const)('the filters of runs are in the address: %s', (query, filters) => {
  expect(readRunFilters(query)).toEqual(filters);
  expect(writeRunFilters(filters)).toBe(query);
});

test('a status that does not exist filters nothing', () => {
  expect(readRunFilters('?status=odd').status).toBe('');
});
