import { expect, test } from 'vitest';
import { type RecordingRun, policyInForce } from '../../src/audit/agent-usage.ts';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';

function policyOf(text: string) {
  const parsed = parsePolicy(text);
  if ('problems' in parsed) throw new Error('the policy is invalid');
  return parsed.policy;
}

const older = { digest: 'old', policy: policyOf("rules: [{ pattern: '*', action: ask }]") };
const present = {
  digest: 'new',
  policy: policyOf("rules: [{ id: money, pattern: pay, action: ask }, { pattern: '*', action: deny }]"),
  lines: { file: 'ceiling.yaml', lines: [3, 7] },
};
const run = (day: number, ceiling: RecordingRun['ceiling'] = null): RecordingRun => ({
  startedAt: `2030-01-0${day}T00:00:00.000Z`,
  ceiling,
});

test('the policy of the newest run, since its first run, with the places of its rules', () => {
  const found = policyInForce([run(3, present), run(1, older), run(5, present), run(2), run(4, older)]);
  expect(found.present).toMatchObject({ digest: 'new', runs: 2, firstAt: run(3).startedAt, lastAt: run(5).startedAt });
  expect(found.present?.rules).toMatchObject([
    { id: 'money', place: 'ceiling.yaml:3', rule: { pattern: 'pay' } },
    { id: 'ceiling#2', place: 'ceiling.yaml:7', rule: { pattern: '*' } },
  ]);
  expect(found.others).toEqual([{ digest: 'old', runs: 2, firstAt: run(1).startedAt, lastAt: run(4).startedAt }]);
  expect(found.withoutPolicy).toBe(1);
});

test('without lines, rules have no place', () => {
  expect(policyInForce([run(1, older)]).present?.rules.map(({ place }) => place)).toEqual([undefined]);
});

test.each([
  ['no run', []],
  ['the newest run recorded none', [run(1, present), run(2)]],
])('no policy: %s', (_, runs) => {
  expect(policyInForce(runs).present).toBeUndefined();
});

test('a run that has recorded nothing does not hide the policy', () => {
  const empty = { startedAt: run(9).startedAt };
  expect(policyInForce([run(1, present), empty])).toEqual(policyInForce([run(1, present)]));
});
