import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectHistories } from '../../support/read-histories.ts';
import type { GatedWorld } from '../../support/gated-world.ts';
import { openGatedWorld } from '../../support/gated-world.ts';

let world: GatedWorld;
beforeAll(async () => {
  world = await openGatedWorld();
});
afterAll(() => world.close());

test('a gated activity that is cancelled in the step that made it loses no journal entry', async () => {
  const handle = await world.start('thinksAgain');
  expect(await handle.result()).toEqual({ result: ['b'] });
  expect(world.ran()).toEqual(['look ["b"]']);
  const { gaps, outcomes } = projectHistories([await handle.fetchHistory()]);
  expect(gaps).toEqual([]);
  expect(outcomes.map(({ outcome, ran }) => [outcome, ran])).toEqual([
    ['allowed', 'unknown'],
    ['allowed', 'yes'],
  ]);
});
