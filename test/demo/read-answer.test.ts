import { expect, test } from '@jest/globals';
import { readAnswer } from '../../src/demo/read-answer.ts';

test.each([
  ...['a', 'approve', 'yes', 'y', 'YES', ' y '].map((line) => [line, { approved: true }] as const),
  ...['d', 'deny', 'no', 'n', 'No'].map((line) => [line, { approved: false }] as const),
  ...['s', 'skip'].map((line) => [line, { approved: false, reason: 'skipped' }] as const),
  ['', ''],
  ['   ', ''],
  ['A', expect.stringContaining('not built yet')],
  ['always', expect.stringContaining('not built yet')],
  ['yep', 'Please answer a (approve) or d (deny).'],
  ['y n', 'Please answer a (approve) or d (deny).'],
])('%j', (line, answer) => {
  expect(readAnswer(line)).toEqual(answer);
});
