import { explained, type Explanation } from './explained.ts';
import type { Mutant } from './mutants.ts';

export interface Result {
  mutant: Mutant;
  /** Null: the mutant survived. */
  killedBy: string | null;
}

export function printProgress(results: readonly Result[], total: number, elapsedMs: number): void {
  const survived = results.filter(({ killedBy }) => killedBy === null).length;
  const left = ((elapsedMs / results.length) * (total - results.length)) / 60_000;
  const line = `${results.length} of ${total} mutants, ${survived} survived, about ${left.toFixed(1)} minutes left`;
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
  else if (results.length % 50 === 0) process.stderr.write(`${line}\n`);
}

/**
 * Prints the score of each file, and the survivors. True if each survivor is explained and each explanation has a
 * survivor.
 */
export function printReport(
  results: readonly Result[],
  { json, whole, files }: { json: boolean; whole: boolean; files: readonly string[] },
): boolean {
  const survivors = results.filter(({ killedBy }) => killedBy === null).map(({ mutant }) => mutant);
  const unexplained = survivors.filter((mutant) => !explained.some((each) => explains(each, mutant)));
  const stale = explained
    .filter(({ file }) => files.includes(file))
    .flatMap(({ changes, ...each }) => changes.map((change) => ({ ...each, changes: [change] })))
    .filter((each) => !survivors.some((mutant) => explains(each, mutant)));
  const rows = files.map((file) => rowOf(file, results));
  const total = rowOf('all', results);
  if (json) {
    console.log(JSON.stringify({ whole, files: rows, total, unexplained, stale }, null, 2));
    return unexplained.length === 0 && (stale.length === 0 || !whole);
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  if (!whole) console.log('Interrupted: what follows is of the mutants tried so far.');
  const cells = ['file', 'mutants', 'killed', 'score'];
  console.log(cells.map((cell, index) => (index === 0 ? cell.padEnd(20) : cell.padStart(9))).join(''));
  for (const { file, mutants, killed, score } of [...rows, total]) {
    const numbers = [mutants, killed, score === null ? '-' : `${score} %`];
    console.log(file.padEnd(20) + numbers.map((cell) => String(cell).padStart(9)).join(''));
  }
  for (const { file, line, column, kind, original, replacement } of unexplained) {
    console.log(`\n${file}:${line}:${column} ${kind} survived\n- ${original}\n+ ${replacement}`);
  }
  console.log(
    `\n${survivors.length} survived: ${survivors.length - unexplained.length} explained, ${unexplained.length} not.`,
  );
  if (whole) {
    for (const { file, code, changes } of stale) {
      console.log(`An explanation is of no survivor: ${file}: ${code}: ${changes[0]!.join(' -> ')}`);
    }
  }
  return unexplained.length === 0 && (stale.length === 0 || !whole);
}

/** The score is the share of killed mutants among all mutants, in percent, rounded down to a tenth. */
function rowOf(file: string, results: readonly Result[]) {
  const own = results.filter(({ mutant }) => file === 'all' || mutant.file.endsWith(`/${file}.ts`));
  const killed = own.filter(({ killedBy }) => killedBy !== null).length;
  return {
    file,
    mutants: own.length,
    killed,
    score: own.length === 0 ? null : Math.floor((killed / own.length) * 1000) / 10,
  };
}

function explains({ file, code, changes }: Explanation, mutant: Mutant): boolean {
  const { original, replacement } = mutant;
  return (
    mutant.file.endsWith(`/${file}.ts`) &&
    mutant.code === code &&
    changes.some((change) => change[0] === original && change[1] === replacement)
  );
}
