import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { evidenceOf } from '../../src/client/evidence-of.ts';
import { rulingsOf } from '../../src/core/audit/rulings-of.ts';
import { verifyEvidence } from '../../src/core/audit/verify-evidence.ts';

const folder = new URL('../histories/', import.meta.url);

type History = Parameters<typeof evidenceOf>[0][number];

/** The stored histories by run: the executions of each, oldest first. */
function storedRuns(): Map<string, History[]> {
  const runs = new Map<string, History[]>();
  for (const file of readdirSync(folder)
    .filter((each) => each.endsWith('.json'))
    .toSorted()) {
    const run = file.replace(/(-execution-\d+)?\.json$/, '');
    const history = historyFromJSON(JSON.parse(readFileSync(new URL(file, folder), 'utf8')));
    runs.set(run, [...(runs.get(run) ?? []), history]);
  }
  return runs;
}

test('every ruling of every stored history is made again, and agrees', () => {
  const problems: string[] = [];
  let agreed = 0;
  let asked = 0;
  for (const [run, executions] of storedRuns()) {
    const { entries, evidence } = evidenceOf(executions);
    const result = verifyEvidence(entries, evidence);
    const rulings = rulingsOf(entries, evidence.start);
    asked += rulings.length;
    agreed += result.agreed.length;
    problems.push(...result.differing.map(({ sentence }) => `${run}: ${sentence}`));
    problems.push(...result.notReRuled.map(({ seq, why }) => `${run}: entry ${seq}: not re-ruled: ${why}`));
  }
  process.stdout.write(`${agreed} of ${asked} rulings agree\n${problems.join('\n')}\n`);
  expect(problems).toEqual([]);
});
