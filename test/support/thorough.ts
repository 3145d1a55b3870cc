/** How many times as many cases as usual the laws and the fuzz tests try. */
const factor = Number(process.env.COUNTERSIGN_TEST_THOROUGH ?? 1);
if (!(factor >= 1)) throw new Error('COUNTERSIGN_TEST_THOROUGH must be a number of at least 1');

/** The number of cases that a test tries: `count`, and as many times that as `COUNTERSIGN_TEST_THOROUGH` says. */
export function runs(count: number): number {
  return Math.round(count * factor);
}
