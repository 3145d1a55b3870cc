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

/**
 * How often a law must at least have met a kind of case, so that it proves something: `count` among all its cases. Among
 * a part of them half as often, because a random part of few cases holds more or fewer of a kind.
 */
export function least(count: number): number {
  return thoroughness >= 1 ? count : Math.ceil((count * thoroughness) / 2);
}
