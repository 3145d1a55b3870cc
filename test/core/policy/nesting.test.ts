import { expect, test } from 'vitest';
import { bindingPolicies, nestedRunId, nestingProblem } from '../../../src/core/policy/nesting.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';

const policy = (maxPending: number): Policy => ({ version: 1, rules: [], riskDefaults: {}, approval: { maxPending } });

test.each([
  [
    'all layers, outermost first',
    { ceiling: policy(1), parents: [policy(2), policy(3)], run: policy(4) },
    [1, 2, 3, 4],
  ],
  ['a ceiling alone', { ceiling: policy(1) }, [1]],
  ['a run alone', { run: policy(4) }, [4]],
  ['nothing: the standard risk defaults', {}, [undefined]],
])('what binds a nested agent: %s', (_, layers, expected) => {
  expect(bindingPolicies(layers).map(({ approval }) => approval.maxPending)).toEqual(expected);
});

const fine = { depth: 4, before: 99, workflowId: 'x'.repeat(1_000) };
test.each<[string, object, string | undefined]>([
  ['within all limits', {}, undefined],
  ['too deep', { depth: 5 }, 'agents may call agents 5 deep at most: do it without this tool'],
  ['too many', { before: 100 }, 'one turn may call agents 100 times at most: call fewer at once'],
  [
    'too long an id, in bytes',
    { workflowId: 'é'.repeat(501) },
    'the id of the nested run would pass 1000 bytes: start this run under a shorter one',
  ],
])('a call of an agent %s', (_, more, expected) => {
  expect(nestingProblem({ ...fine, ...more })).toBe(expected);
});

test('the id of a nested run contains the call that started it', () => {
  expect(nestedRunId(nestedRunId('run', '1.1'), '2.3')).toBe('run/1.1/2.3');
});
