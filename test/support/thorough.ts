/**
 * How many times as many cases as usual the laws and the fuzz tests try: 0.25 in the gate, 1 in `npm run test:laws`, more
 * if `COUNTERSIGN_TEST_THOROUGH` says so.
 */
export const thoroughness = Number(process.env.COUNTERSIGN_TEST_THOROUGH ?? 1);
if (!(thoroughness >= 0.25)) throw new Error('COUNTERSIGN_TEST_THOROUGH must be a number of at least 0.25');

/** The number of cases that a test tries: `count`, multiplied by `thoroughness`. */
export function runs(count: number): number {
  return Math.ceil(count * thoroughness);
}
