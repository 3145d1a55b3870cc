/**
 * `npm run bench`: runs the four benchmarks of runs one after another and compares each measurement with its budget.
 * `--json` prints only the numbers, `--plot` draws `docs/images/bench-runs.svg`, `--quick` measures less. Exits with 1
 * when a budget is exceeded. Rulings (B4) have their own benchmark, `npm run bench:policy`.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { measureBy } from './measure-by.ts';
import { drawRuns } from './plot-runs.ts';
import { verdictsOf, type RunsMeasured } from './verdicts.ts';

const { values } = parseArgs({
  options: { json: { type: 'boolean' }, plot: { type: 'boolean' }, quick: { type: 'boolean' } },
});
const quick = values.quick === true;

const measured = {
  events: await measureBy('events', []),
  latency: await measureBy('latency', quick ? ['--pairs', '10'] : []),
  waiting: await measureBy('waiting', quick ? ['--runs', '60', '--rounds', '1'] : []),
  recovery: await measureBy('recovery', quick ? ['--runs', '100'] : []),
} as unknown as RunsMeasured;
const verdicts = verdictsOf(measured);

if (values.json === true) {
  console.log(JSON.stringify({ ...measured, verdicts }, undefined, 2));
} else {
  const table = new Table({ head: ['', 'what', 'measured', 'budget', ''], style: { head: [], border: [] } });
  for (const { budget, what, shown, limit, kept } of verdicts) {
    table.push([budget, what, shown, limit, kept ? 'kept' : 'MISSED']);
  }
  console.log(table.toString());
}
if (values.plot === true) {
  writeFileSync(fileURLToPath(new URL('../docs/images/bench-runs.svg', import.meta.url)), drawRuns(verdicts));
}
if (verdicts.some(({ kept }) => !kept)) process.exitCode = 1;
