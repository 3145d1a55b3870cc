import type { SeededRandom } from '../support/seeded-random.ts';
import type { Disturbance, DisturbanceKind, WorkerCache } from './disturbance.ts';

export const workerCount = 2;

const kinds: readonly DisturbanceKind[] = [
  'kill_server',
  'kill_worker',
  'kill_everything',
  'stop_worker',
  'kill_all_workers',
  'stop_all_workers',
  'kill_worker',
];

/** `count` disturbances, spread over the whole play. Every kind occurs before any repeats. */
export function planDisturbances(random: SeededRandom, count: number): Disturbance[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: kinds[index % kinds.length]!,
    atShare: Math.round(((index + random.whole(20, 80) / 100) / count) * 1_000) / 1_000,
    worker: random.whole(0, workerCount - 1),
    downMs: random.whole(0, 2_000),
  }));
}

/** A cache size for every worker process that the disturbances may start. */
export function planCaches(random: SeededRandom, disturbances: number): WorkerCache[] {
  return Array.from({ length: workerCount * (disturbances + 1) }, () => random.pick([0, 1, null]));
}
