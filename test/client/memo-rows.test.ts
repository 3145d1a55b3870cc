/** Rows of memos: anyone who can start workflows can write one. */
import { expect, test } from 'vitest';
import { memoRows } from '../../src/client/server/memo-rows.ts';
import { requestRow } from '../support/requests.ts';

const row = requestRow({ requestId: 'a'.repeat(32), digest: 'b'.repeat(64), workflowId: 'run-1' });
const rowsOf = (more: object, workflowId = 'run-1') =>
  memoRows({ workflowId, memo: { approvals: { open: [{ ...row, ...more }], journal: [] } } }).rows;

const people = { reviewers: ['ann'], approvers: ['ann', 'u-17'], cannotBeApproved: 'It …', callerName: 'Ann' };

test('a row has its sentence and its people', () => {
  const more = { sentence: 'Pay ann', ...people };
  expect(rowsOf(more)).toEqual([{ ...row, ...more }]);
});

test('a row of an older run has neither', () => {
  expect(rowsOf({})).toEqual([row]);
});

const large = 'x'.repeat(1_001);
test.each<[string, unknown]>([
  ['sentence', 7],
  ['sentence', ['Pay ann']],
  ['sentence', large],
  ['reviewers', 'ann'],
  ['reviewers', { length: 1, 0: 'ann' }],
  ['reviewers', ['ann', null]],
  ['reviewers', [large]],
  ['approvers', Array.from({ length: 500 }, () => 'a')],
  ['approvers', [{ toString: 7 }]],
  ['cannotBeApproved', true],
  ['cannotBeApproved', large],
  ['callerName', { name: 'Ann' }],
  ['callerName', large],
])('a forged row keeps its request, and loses the member %s', (name, value) => {
  const { [name]: _, ...kept } = { sentence: 'Pay ann', ...people } as Record<string, unknown>;
  expect(rowsOf({ sentence: 'Pay ann', ...people, [name]: value })).toEqual([{ ...row, ...kept }]);
});

test('a copied row is no row of the run that has it', () => {
  expect(rowsOf({ sentence: 'Pay ann' }, 'run-2')).toEqual([]);
});
