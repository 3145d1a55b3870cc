/**
 * Measures how well the tests cover the ruling: each mutant is one small change to its files, and a test should fail
 * because of it. `node tools/mutation/main.ts [--json] [FILE …]`; a file is given by its name in src, such as
 * `core/policy/grants`. Exits with 0 if every survivor is explained in explained.ts and every explanation is needed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mutantsOf, type Mutant } from './mutants.ts';
import { printReport, printProgress, type Result } from './report.ts';
import { repository, rulingFiles } from './ruling-files.ts';
import { TrialRunner, neverEnds } from './trial-runner.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: 'boolean' } } });
const unknown = positionals.filter((name) => !rulingFiles.some((file) => file === name));
if (unknown.length > 0) {
  console.error(`No such file of the ruling: ${unknown.join(', ')}. There are ${rulingFiles.join(', ')}.`);
  process.exit(2);
}
const files = positionals.length === 0 ? rulingFiles : positionals;
const mutants: Mutant[] = [];
for (const file of files) mutants.push(...(await mutantsOf(join(repository, `src/${file}.ts`))));

/** Two, because most machines have two cores to spare. */
const runners = [new TrialRunner(), new TrialRunner()];
const stop = (): void => runners.forEach((runner) => runner.stop());
const results: Result[] = [];
let interrupted = false;
process.once('SIGINT', () => {
  interrupted = true;
  stop();
});

/** The tested sources, which must not change meanwhile. */
const sources = (): string =>
  ['src/core', 'src/policy-file', 'test/core', 'test/policy-file']
    .flatMap((folder) =>
      readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(repository, folder, name),
      ),
    )
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(path, 'utf8'))
    .join('');

const startedMs = performance.now();
const before = sources();
const unchanged = await runners[0]!.try({ mutant: null, first: [] });
if (unchanged.killedBy !== null) {
  stop();
  console.error(`The tests fail without any mutant: ${unchanged.killedBy}: ${unchanged.why ?? ''}`);
  process.exit(1);
}
const { durationsMs } = unchanged;
const quickFirst = Object.keys(durationsMs).toSorted((one, other) => durationsMs[one]! - durationsMs[other]!);
const suiteMs = performance.now() - startedMs;
/** A mutant that takes longer is treated as an endless loop. */
let longestMs = 3_000 + 2 * suiteMs;
/** By file: the tests that killed one of its mutants, most recent first, because they are likely to kill again. */
const killers = new Map<string, string[]>();

const waiting = [...mutants];
async function tryMutants(runner: TrialRunner): Promise<void> {
  for (;;) {
    const mutant = waiting.shift();
    if (mutant === undefined) return;
    const known = killers.get(mutant.file) ?? [];
    const own = quickFirst.filter((name) => mutant.file.endsWith(`/${name.split(': ')[0]}.ts`));
    const first = [...new Set([...known, ...own, ...quickFirst])];
    let { killedBy } = await runner.try({ mutant, first }, longestMs);
    if (killedBy === neverEnds && !interrupted) {
      // The machine may have become slower since the tests were timed.
      const againMs = performance.now();
      await runner.try({ mutant: null, first: [] });
      longestMs = Math.max(longestMs, 3_000 + 2 * (performance.now() - againMs));
      ({ killedBy } = await runner.try({ mutant, first }, longestMs));
    }
    if (interrupted) return;
    if (killedBy !== null) killers.set(mutant.file, [killedBy, ...known.filter((name) => name !== killedBy)]);
    results.push({ mutant, killedBy });
    printProgress(results, mutants.length, performance.now() - startedMs);
  }
}
await Promise.all(runners.map(tryMutants));
stop();
if (sources() !== before) {
  console.error('Sources or tests changed while the mutants were tried, so nothing is known. Run it again.');
  process.exit(1);
}
const sound = printReport(results, { json: values.json ?? false, whole: !interrupted, files });
process.exitCode = sound && !interrupted ? 0 : 1;
