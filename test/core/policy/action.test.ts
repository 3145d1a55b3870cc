import { expect, test } from 'vitest';
import { actions, mayRun } from '../../../src/core/policy/modes.ts';

test('a call may run unless it is denied', () => {
  expect(actions.map((action) => [action, mayRun(action)])).toEqual([
    ['allow', true],
    ['ask', true],
    ['deny', false],
  ]);
});
