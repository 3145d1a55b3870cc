import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { projectHistories } from '../../support/read-histories.ts';
import { openGatedWorld } from '../../support/gated-world.ts';

const world = forAllTests(() => openGatedWorld());

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
