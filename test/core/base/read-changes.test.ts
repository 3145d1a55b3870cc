import { expect, test } from 'vitest';
import { readChanges } from '../../../src/core/base/call-preview.ts';

const text = { kind: 'text', name: 'a.txt', before: 'one', after: 'two' };
const table = {
  kind: 'table',
  name: 'users',
  columns: ['id', 'role'],
  rows: [
    { before: [1, 'admin'], after: [1, null] },
    { before: null, after: [2, { nested: ['x'] }] },
    { before: [3, true], after: null },
  ],
};

test('changes are taken as they are, without further members', () => {
  expect(readChanges([])).toEqual({ changes: [] });
  expect(readChanges([text, table])).toEqual({ changes: [text, table] });
  expect(readChanges([{ ...text, before: null }])).toEqual({ changes: [{ ...text, before: null }] });
  expect(readChanges([{ ...text, after: null }])).toEqual({ changes: [{ ...text, after: null }] });
  expect(readChanges([{ ...text, colour: 'red' }])).toEqual({ changes: [text] });
  expect(readChanges([{ ...table, rows: [{ before: null, after: [1, 2], note: 'x' }] }])).toEqual({
    changes: [{ ...table, rows: [{ before: null, after: [1, 2] }] }],
  });
});

const row = (before: unknown, after: unknown): object => ({ ...table, rows: [{ before, after }] });
test.each<[unknown, string]>([
  [undefined, 'expected a list of changes, not nothing'],
  [null, 'expected a list of changes, not null'],
  ['two', 'expected a list of changes, not a string'],
  [text, 'expected a list of changes, not an object'],
  [[text, 7], 'changes[1]: expected an object, not a number'],
  [[[]], 'changes[0]: expected an object, not a list'],
  [[{ ...text, kind: 'image' }], "changes[0].kind: expected 'text' or 'table'"],
  [[{ ...text, name: 7 }], 'changes[0].name: expected text'],
  [[{ ...text, name: 'a\uD800' }], 'changes[0].name: expected text'],
  [[{ ...text, before: undefined }], 'changes[0].before: expected text or null'],
  [[{ ...text, after: 'a\uD800' }], 'changes[0].after: expected text or null'],
  [[{ ...text, before: null, after: null }], 'changes[0]: before and after are both null'],
  [[{ ...table, columns: [] }], 'changes[0].columns: expected a list of texts'],
  [[{ ...table, columns: ['a', 1] }], 'changes[0].columns: expected a list of texts'],
  [[{ ...table, rows: {} }], 'changes[0].rows: expected a list'],
  [[{ ...table, rows: [null] }], 'changes[0].rows[0]: expected an object, not null'],
  [[row([1], null)], 'changes[0].rows[0].before: expected null or 2 values, one for each column'],
  [[row(null, 'ab')], 'changes[0].rows[0].after: expected null or 2 values, one for each column'],
  [[row(undefined, [1, 2])], 'changes[0].rows[0].before: expected null or 2 values, one for each column'],
  [[row(null, null)], 'changes[0].rows[0]: before and after are both null'],
])('refuses %j', (value, problem) => {
  expect(readChanges(value)).toEqual({ problem });
});

test.each([[NaN], [1n], [new Date(0)], [undefined], [() => 1]])('refuses a cell that is not JSON: %o', (cell) => {
  expect(readChanges([row([1, cell], null)])).toEqual({
    problem: expect.stringMatching(/^changes\[0\]\.rows\[0\]\.before: /),
  });
});
