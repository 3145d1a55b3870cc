/**
 * Processor time as a ratio only: machines differ in speed, and one machine from day to day. What a test compares it
 * measures in one process, turn about; the least of several measures counts, because other work can only add to one.
 */

/** Linear work grows by four for a text of four times the length, the square of it by sixteen. */
export const squareGrowth = 9;
const rounds = 5;
/** The clock of a thread ticks every four milliseconds on some kernels. */
const leastMs = 20;

/** The costs of `works`, in units of the cheapest one. */
export function relativeCosts(works: readonly (() => void)[]): number[] {
  const measured = Array.from({ length: 3 }, () => works.map(costOf));
  const least = works.map((_, at) => Math.min(...measured.map((costs) => costs[at]!)));
  return least.map((cost) => cost / Math.min(...least));
}

/** How many times as much the work for four times `size` costs; measures again while that looks like a square. */
export function growth(workFor: (size: number) => () => void, size: number): number {
  const [one, four] = [workFor(size), workFor(4 * size)];
  const least = { one: Infinity, four: Infinity };
  one();
  for (let round = 0; round < rounds && (round === 0 || least.four > least.one * squareGrowth); round += 1) {
    least.one = Math.min(least.one, costOf(one));
    least.four = Math.min(least.four, costOf(four));
  }
  return least.four / least.one;
}

/** The processor time of this thread for one call, as the mean of as many as the clock can tell from none. */
function costOf(work: () => void): number {
  let [calls, spentMs] = [0, 0];
  for (; spentMs < leastMs; calls += 1) spentMs += processorMs(work);
  return spentMs / calls;
}

/** The processor time that this thread spends in `work`, in milliseconds; for helpers, which set it against `slowness`. */
export function processorMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

const knownText = 'ab1 -é'.repeat(100_000);
/** What `known` takes on a quiet core of the machine for which limits were chosen. */
const knownMs = 8;

/** Reads and allocates, as what tests measure does. */
function known(): void {
  const letters: { letter: string; at: number }[] = [];
  for (const letter of knownText) if (/[a-z]/.test(letter)) letters.push({ letter, at: letters.length });
}

/** How many times as long as on a quiet core everything takes now; at least 1. */
export function slowness(): number {
  return Math.max(1, Math.min(...Array.from({ length: 4 }, () => processorMs(known))) / knownMs);
}
