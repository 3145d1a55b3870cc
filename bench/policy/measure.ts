import { spreadOf, type Spread } from '../spread.ts';

/** Times of many single runs, in microseconds. */
export interface Times extends Spread {
  runs: number;
}

export interface Measured extends Times {
  /** The same, for each round. Differences between rounds come from the machine. */
  rounds: Times[];
}

const rounds = 11;
const roundMs = 60;
const leastTurns = 20;
const warmUpMs = 300;

/**
 * Times each piece of work separately, one run at a time. The pieces alternate in rounds, so that other load on the
 * machine affects all alike.
 */
export function measure(pieces: ReadonlyMap<string, readonly (() => unknown)[]>): Map<string, Measured> {
  const taken = new Map([...pieces.keys()].map((name) => [name, [] as number[][]]));
  for (const runs of pieces.values()) turn(runs, warmUpMs);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, runs] of pieces) taken.get(name)!.push(turn(runs, roundMs));
  }
  return new Map([...taken].map(([name, turns]) => [name, { ...timesOf(turns.flat()), rounds: turns.map(timesOf) }]));
}

function turn(runs: readonly (() => unknown)[], ms: number): number[] {
  const values: number[] = [];
  const end = performance.now() + ms;
  for (let turns = 0; turns < leastTurns || performance.now() < end; turns += 1) {
    for (const run of runs) {
      const from = performance.now();
      run();
      values.push((performance.now() - from) * 1_000);
    }
  }
  return values;
}

export function timesOf(values: readonly number[]): Times {
  return { ...spreadOf(values), runs: values.length };
}
