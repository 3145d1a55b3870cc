import { seededRandom } from '../support/seeded-random.ts';
import { planCaches, planDisturbances } from './plan-disturbances.ts';
import { planRun } from './plan-run.ts';
import type { ChaosSchedule } from './schedule.ts';

export interface ScheduleOptions {
  runs: number;
  seed: number;
  /** Default 30. */
  concurrency?: number;
}

/**
 * Pure: a seed determines the schedule. The actual timing differs from play to play. A run plans six or seven requests;
 * some runs end before they have opened all of them.
 */
export function makeSchedule({ runs, seed, concurrency = 30 }: ScheduleOptions): ChaosSchedule {
  const random = seededRandom(seed);
  const disturbances = Math.max(4, Math.round(runs / 4));
  return {
    seed,
    concurrency: Math.min(concurrency, runs),
    runs: Array.from({ length: runs }, (_, index) => planRun(random, index)),
    disturbances: planDisturbances(random, disturbances),
    caches: planCaches(random, disturbances),
  };
}
