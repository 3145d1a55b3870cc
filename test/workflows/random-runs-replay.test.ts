import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { HistoryEvent } from '../support/history-tasks.ts';
import { placementsOf, type Placement } from '../support/placements.ts';
import { playRandomRun } from '../support/play-random-run.ts';
import { installQuietRuntime } from '../support/quiet-runtime.ts';
import { replayPlacements } from '../support/replay-placements.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { team } from '../support/team.ts';
import { openWorld, testBundle, type World } from '../support/world.ts';

/** Random runs with several clients replay as recorded, and with other placements of their empty tasks (I12). */

installQuietRuntime();

const placementSeeds = [1, 2, 3, 4, 5, 6];

let worlds: World[];
beforeAll(async () => {
  const agentsIn = (folder: string) => team(folder);
  worlds = await Promise.all([openWorld({ agentsIn }), openWorld({ agentsIn, maxCachedWorkflows: 0 })]);
});
afterAll(() => Promise.all(worlds.map((world) => world.close())));

async function placementsIn(world: World, workflowId: string): Promise<Placement[]> {
  const { executions } = await world.client.historyChain(workflowId);
  return executions.flatMap((execution, index) => {
    const { events } = JSON.parse(historyToJSON({ events: execution.events })) as { events: HistoryEvent[] };
    return [{ name: 'as recorded', events }, ...placementsOf(events, placementSeeds)].map((placement) => ({
      ...placement,
      name: `${workflowId}, execution ${index + 1}: ${placement.name}`,
    }));
  });
}

test.each([1, 2, 3])(
  'seed %i, on a worker with a cache and on one without',
  async (seed) => {
    const placements = await Promise.all(
      worlds.map(async (world, index) => {
        const ids = await playRandomRun(world, seededRandom(seed * 10 + index), `seed-${seed}`);
        return (await Promise.all(ids.map((id) => placementsIn(world, id)))).flat();
      }),
    );
    expect(placements.flat().length).toBeGreaterThan(20);
    expect(await replayPlacements({ codePath: testBundle() }, placements.flat())).toEqual(new Map());
  },
  180_000,
);
