import { expect, test } from 'vitest';
import { readTypedAnswer } from '../../packages/cli/src/demo/read-typed-answer.ts';

test.each<[string, unknown]>([
  ...['a', 'approve', 'yes', 'y', 'YES', ' y '].map((line): [string, unknown] => [line, { approved: true }] as const),
  ...['d', 'deny', 'no', 'n', 'No'].map((line): [string, unknown] => [line, { approved: false }] as const),
  ...['s', 'skip'].map((line): [string, unknown] => [line, { approved: false, reason: 'skipped' }] as const),
  ['', ''],
  ['   ', ''],
  ['A', expect.stringContaining('not built yet')],
  ['always', expect.stringContaining('not built yet')],
  ['yep', 'Please answer a (approve) or d (deny).'],
  ['y n', 'Please answer a (approve) or d (deny).'],
])('%j', (line, answer) => {
  expect(readTypedAnswer(line)).toEqual(answer);
});
