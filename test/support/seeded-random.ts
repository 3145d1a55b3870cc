/** Random choices from a seed (mulberry32): the same on every run and every machine. */
export interface SeededRandom {
  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number;
  /** True with probability `share`, 0 to 1. */
  chance(share: number): boolean;
  pick<T>(values: readonly T[]): T;
  /** One of the keys, with its value as relative weight. */
  weighted<Name extends string>(weights: Readonly<Partial<Record<Name, number>>>): Name;
  /** The same values in another order. */
  shuffled<T>(values: readonly T[]): T[];
}

export function seededRandom(seed: number): SeededRandom {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const whole = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    whole,
    chance: (share) => next() < share,
    pick: (values) => values[whole(0, values.length - 1)]!,
    weighted: (weights) => {
      const entries = Object.entries(weights) as [keyof typeof weights, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) if ((left -= weight) < 0) return name;
      return entries.at(-1)![0];
    },
    shuffled: (values) => {
      const left = [...values];
      return values.map(() => left.splice(whole(0, left.length - 1), 1)[0]!);
    },
  };
}
