import { placeEmptyTasks, type PickTime, type TaskChange } from './empty-task-placements.ts';
import { tasksOf, type HistoryEvent, attributesOf } from './history-tasks.ts';
import { textOf } from './recorded/scrub-history.ts';
import { insertAttempts, startEarlier } from './other-attempts.ts';
import { seededRandom, type SeededRandom } from '../../support/seeded-random.ts';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { nondeterminism } from '../../support/nondeterminism.ts';

export interface Placement {
  name: string;
  events: HistoryEvent[];
}

const earliest: PickTime = ([first]) => first!;
const latest: PickTime = (times) => times.at(-1)!;

const unchanged: TaskChange = { inserted: 0, isEarly: false, isDropped: false };

/** The same change for every task. */
const everywhere: Record<string, TaskChange> = {
  'two empty tasks after each, as late as possible': { ...unchanged, inserted: 2 },
  'an empty task after each, each before its events': { ...unchanged, inserted: 1, isEarly: true },
  'two empty tasks after each, each before its events': { ...unchanged, inserted: 2, isEarly: true },
  'no empty task': { ...unchanged, isDropped: true },
  'no empty task, each before its events': { ...unchanged, isDropped: true, isEarly: true },
};

/**
 * Legal placements of a history's empty tasks: each change everywhere, a refused update at the end, and one random
 * placement for each seed, in which tasks also failed before. Leaves out duplicates and those equal to the history.
 * `startsEarlier`: tasks also start earlier there. That is legal only if no deadline or step lies between the two times
 * except that of a timer that fired.
 */
export function placementsOf(
  events: readonly HistoryEvent[],
  seeds: readonly number[],
  { startsEarlier = false }: { startsEarlier?: boolean } = {},
): Placement[] {
  const historyEvents = lengthLimit(events);
  const last = tasksOf(events).tasks.length - 1;
  const made = (name: string, changeOf: (index: number) => TaskChange, pickTime: PickTime = earliest): Placement[] => {
    const placed = placeEmptyTasks(events, (_task, index) => changeOf(index), { historyEvents, pickTime });
    return placed === undefined ? [] : [{ name, events: placed }];
  };
  const placements = [
    ...Object.entries(everywhere).flatMap(([name, change]) =>
      made(name, () => change, name.includes('late') ? latest : earliest),
    ),
    ...made('an empty task at the end', (index) => ({ ...unchanged, inserted: index === last ? 1 : 0 })),
    ...seeds.flatMap((seed) => {
      const random = seededRandom(seed);
      // Long placements may not be legal; then try fewer changes.
      for (const share of [random.pick([0.7, 0.4, 0.2]), 0.2, 0.1, 0.05]) {
        const [placement] = made(
          `seed ${seed}`,
          () => randomChange(random, share),
          (times) => random.pick(times),
        );
        if (placement !== undefined) return [withOtherAttempts(placement, seed, { historyEvents, startsEarlier })];
      }
      return [];
    }),
  ];
  const seen = new Set([JSON.stringify(events)]);
  return placements.filter((placement) => {
    const text = JSON.stringify(placement.events);
    return !seen.has(text) && seen.add(text);
  });
}

/** Its own seed, so that the placement is the same as without. */
function withOtherAttempts(
  { name, events }: Placement,
  seed: number,
  { historyEvents, startsEarlier }: { historyEvents: number; startsEarlier: boolean },
): Placement {
  const random = seededRandom(seed + 1_000);
  const started = startsEarlier ? startEarlier(events, random, 0.5) : events;
  return { name, events: insertAttempts(started, random, { share: 0.3, historyEvents }) };
}

function randomChange(random: SeededRandom, share: number): TaskChange {
  return {
    inserted: random.chance(share) ? random.whole(1, 2) : 0,
    isEarly: random.chance(share),
    isDropped: random.chance(share),
  };
}

/** The history length at which this run continues as new, from its configuration. */
function lengthLimit(events: readonly HistoryEvent[]): number {
  const [, limit] = /"continueAsNewAfter":\{[^}]*"historyEvents":(\d+)/.exec(textOf(JSON.stringify(events))) ?? [];
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
}

type Bundle = NonNullable<ReplayWorkerOptions['workflowBundle']>;

/** Replays each placement; returns the names of those that fail, with their errors. */
export async function replayPlacements(
  workflowBundle: Bundle,
  placements: readonly Placement[],
): Promise<Map<string, string>> {
  const failed = new Map<string, string>();
  const histories = placements.map(({ events }) => ({
    workflowId: String(startOf(events)['workflowId']),
    history: historyFromJSON({ events }),
  }));
  let replayed = 0;
  // Results arrive in the order of the histories; all placements of one history have the same run id.
  for await (const { runId, error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
    const { name, events } = placements[replayed++]!;
    if (runId !== startOf(events)['originalExecutionRunId']) throw new Error(`${name} was replayed out of its turn`);
    if (error !== undefined) failed.set(name, nondeterminism(error));
  }
  if (replayed !== placements.length) throw new Error(`${replayed} of ${placements.length} histories were replayed`);
  return failed;
}

function startOf([first]: readonly HistoryEvent[]): Record<string, unknown> {
  return attributesOf(first!);
}
