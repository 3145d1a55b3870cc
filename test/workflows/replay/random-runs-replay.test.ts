import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { HistoryEvent } from '../../support/history-tasks.ts';
import { placementsOf, type Placement } from '../../support/placements.ts';
import { playRandomRun } from '../../support/play-random-run.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { replayPlacements } from '../../support/replay-placements.ts';
import { playTails, tailsOf } from '../../support/replay-tails.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { runs } from '../../support/thorough.ts';
import { team } from '../../support/team.ts';
import { openWorld, testBundle, type World, type WorldOptions } from '../../support/world.ts';

/**
 * Random runs with several clients replay as recorded, and with other placements of their empty tasks. After a query that
 * saw events before their task, they go on as recorded (I12).
 */

installQuietRuntime({ errors: false });

const seeds = Array.from({ length: runs(2) }, (_, index) => index + 1);
const placementSeeds = Array.from({ length: runs(1) }, (_, index) => index + 1);
const tailsToPlay = 20;

async function placementsIn(world: World, workflowId: string): Promise<Placement[]> {
  const { executions } = await world.client.historyChain(workflowId);
  return executions.flatMap((execution, index) => {
    const { events } = JSON.parse(historyToJSON({ events: execution.events })) as { events: HistoryEvent[] };
    return [{ name: 'as recorded', events }, ...placementsOf(events, placementSeeds, { startsEarlier: true })].map(
      (placement) => ({
        ...placement,
        name: `${workflowId}, execution ${index + 1}: ${placement.name}`,
      }),
    );
  });
}

/** Plays a random run in a world of its own and returns its histories, in every placement. */
async function played(seed: number, options: WorldOptions): Promise<Placement[]> {
  const world = await openWorld({ agentsIn: (folder) => team(folder), ...options });
  try {
    const ids = await playRandomRun(world, seededRandom(seed), `seed-${seed}`);
    return (await Promise.all(ids.map((id) => placementsIn(world, id)))).flat();
  } finally {
    await world.close();
  }
}

/** No two runs are alike, so what fails can be looked at only if it is kept, in a folder that Git ignores. */
function keep(placements: readonly Placement[]): void {
  const folder = new URL('../../failed-replays/', import.meta.url);
  if (placements.length > 0) mkdirSync(folder, { recursive: true });
  for (const { name, events } of placements) {
    writeFileSync(new URL(`${name.replaceAll(/[^\w.-]+/g, '-')}.json`, folder), JSON.stringify({ events }));
  }
}

test('runs on workers with a cache, and as many on workers without one', async () => {
  // Side by side, because a run mostly waits.
  const all = await Promise.all(
    seeds.flatMap((seed) => [played(seed * 10, {}), played(seed * 10 + 1, { maxCachedWorkflows: 0 })]),
  );
  for (const placements of all) expect(placements.length).toBeGreaterThan(10);
  const placements = all.flat();
  const failed = await replayPlacements({ codePath: testBundle() }, placements);
  keep(placements.filter(({ name }) => failed.has(name)));
  expect(failed).toEqual(new Map());
  const recorded = placements.filter(({ name }) => name.endsWith(': as recorded'));
  const tails = recorded
    .flatMap(({ name, events }) => tailsOf(name, events))
    .filter(({ isRecognised }) => isRecognised);
  const random = seededRandom(1);
  const went = await playTails(
    { codePath: testBundle() },
    tails.filter(() => random.chance(tailsToPlay / tails.length)),
  );
  expect(went.length).toBeGreaterThan(0);
  expect(went.filter(({ refusal, problem }) => refusal === undefined || problem !== undefined)).toEqual([]);
});
