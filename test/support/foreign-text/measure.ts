/** Finds the texts with which a function takes longer than their length explains. */
import { families, type Family } from './families.ts';
import type { Input, Run } from './input.ts';

const kB = 1_000;
/** Small enough for every family; what costs most is measured again with the others. */
const [small, middle, half, large] = [20 * kB, 80 * kB, 250 * kB, 1_000 * kB] as const;
const msPerMegabyte = 300;
/** What a call may take beside that: a collection of garbage, a function that is compiled. */
const constantMs = 40;
/** Twice as many seconds for twice the text is linear; a square would take sixteen times as many for four times as much. */
const mostGrowth = 9;
/** Below this, a growth cannot be told from noise. */
const leastMs = 60;
const measures = 4;

interface Measured {
  run: Run;
  family: Family;
  ms: number;
}

/** One sentence for each text that takes too long. */
export function tooSlow(input: Input): string[] {
  const { runs, most, places = 1 } = typeof input === 'object' && 'runs' in input ? input : { runs: [input].flat() };
  const problemsOf = (all: readonly Measured[], length: number): string[] =>
    all.flatMap(({ run, family }) => problemAt(run, family, length, places));
  const measured = (pairs: readonly Omit<Measured, 'ms'>[], length: number): Measured[] =>
    pairs
      .map(({ run, family }) => ({ run, family, ms: costMs(run, family.of(length)) }))
      .toSorted((one, other) => other.ms - one.ms);
  const all = runs.flatMap((run) => familiesOf(run, runs).map((family) => ({ run, family })));
  if (most !== undefined) return problemsOf(measured(all, most).slice(0, 6 * runs.length), most);
  const first = measured(all, small);
  const problems = problemsOf(first.slice(0, 2 * runs.length), small);
  if (problems.length > 0) return problems;
  const second = measured(first.slice(0, 6 * runs.length), middle);
  const wrong = problemsOf(second.slice(0, 2 * runs.length), middle);
  if (wrong.length > 0) return wrong;
  const costliest = second.slice(0, 4);
  return [...problemsOf(costliest, large), ...costliest.flatMap(({ run, family }) => growthProblem(run, family))];
}

/** The first way to call a function is tried with all texts, the others with every fourth. */
function familiesOf(run: Run, runs: readonly Run[]): readonly Family[] {
  const index = runs.indexOf(run);
  return index === 0 ? families : families.filter((_, at) => at % 4 === index % 4);
}

function problemAt(run: Run, family: Family, length: number, places: number): string[] {
  const text = family.of(length);
  const limitMs = constantMs + (length / large) * msPerMegabyte * places;
  const ms = leastCostMs(run, text, limitMs);
  return ms <= limitMs ? [] : [`${family.name}: ${length / kB} kB take ${Math.round(ms)} ms of processor time`];
}

function growthProblem(run: Run, family: Family): string[] {
  const [before, after] = [family.of(half), family.of(large)];
  let [one, four] = [costMs(run, before), costMs(run, after)];
  for (let count = 1; count < measures && four >= leastMs && four > one * mostGrowth; count++) {
    // A measure of the shorter text that is too low would be no noise: noise only adds.
    one = Math.max(one, costMs(run, before));
    four = Math.min(four, costMs(run, after));
  }
  if (four < leastMs || four <= one * mostGrowth) return [];
  return [
    `${family.name}: from ${half / kB} kB to ${large / kB} kB, ${Math.round(one)} ms become ${Math.round(four)} ms`,
  ];
}

/** The least of several measures: whatever else the machine does can only add to one. Fewer, if one is low enough. */
function leastCostMs(run: Run, text: string, enoughMs: number): number {
  let least = Infinity;
  for (let count = 0; count < measures && least > enoughMs; count++) least = Math.min(least, costMs(run, text));
  return least;
}

/** Processor time of this thread. A refusal is an answer; a stack that overflows is none. */
function costMs(run: Run, text: string): number {
  const start = process.threadCpuUsage();
  try {
    run(text);
  } catch (error) {
    if (error instanceof RangeError) throw error;
  }
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1_000;
}
