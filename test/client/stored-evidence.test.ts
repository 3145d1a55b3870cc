import { expect, test } from 'vitest';
import { evidenceOf } from '../../src/client/audit/evidence-of.ts';
import { rulingsOf } from '../../src/audit/rule-again.ts';
import { verifyEvidence } from '../../src/audit/verify-evidence.ts';
import { readExecutions } from '../support/read-histories.ts';
import { storedRuns } from '../events/stored-runs.ts';

test('every ruling of every stored history is made again, and agrees', () => {
  const problems: string[] = [];
  let agreed = 0;
  let asked = 0;
  for (const { name, executions } of storedRuns()) {
    const { entries, evidence } = evidenceOf(readExecutions(executions));
    const result = verifyEvidence(entries, evidence);
    const rulings = rulingsOf(entries, evidence.start);
    asked += rulings.length;
    agreed += result.agreed.length;
    problems.push(...result.differing.map(({ sentence }) => `${name}: ${sentence}`));
    problems.push(...result.notReRuled.map(({ seq, why }) => `${name}: entry ${seq}: not re-ruled: ${why}`));
  }
  process.stdout.write(`${agreed} of ${asked} rulings agree\n${problems.join('\n')}\n`);
  expect(problems).toEqual([]);
});
