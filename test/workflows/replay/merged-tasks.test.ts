import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openBoundaryStage } from './boundary-stage.ts';
import type { HistoryEvent } from './history-tasks.ts';
import { placementsOf, replayPlacements } from './placements.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { sharedBundle } from '../bundles/shared-bundle.ts';
import { runs } from '../../support/thorough.ts';

/**
 * On replay the SDK merges an empty workflow task with the next one, and refused updates leave such tasks anywhere.
 * Every stored history must also replay with other placements of its empty tasks (I12), with earlier starts of its tasks,
 * and with attempts that failed.
 */

installQuietRuntime();

const seeds = Array.from({ length: runs(1) }, (_, index) => index + 1);
const folder = new URL('../../histories/', import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith('.json'));

function eventsOf(file: string): HistoryEvent[] {
  return (JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as { events: HistoryEvent[] }).events;
}

test('every stored history replays with other placements of its empty tasks', async () => {
  const bundle = await sharedBundle('recorded-workflows.ts');
  const placements = files.flatMap((file) =>
    placementsOf(eventsOf(file), seeds, { startsEarlier: true }).map(({ name, events }) => ({
      name: `${file}: ${name}`,
      events,
    })),
  );
  expect(placements.length).toBeGreaterThan(3 * files.length);
  expect(await replayPlacements(bundle, placements)).toEqual(new Map());
});

describe('the check can fail', () => {
  const stage = forAllTests(() => openBoundaryStage());

  const failuresOf = async (workflow: string): Promise<string[]> => {
    const placements = placementsOf(await stage.play(workflow), seeds);
    return [...(await replayPlacements(stage.workflowBundle, placements)).keys()];
  };

  test('a workflow that ignores the boundaries of its tasks replays with each placement', async () => {
    expect(await failuresOf('ignoresBoundaries')).toEqual([]);
  });

  test('a workflow in which the end of an activity affects the next message does not', async () => {
    expect(await failuresOf('readsEnds')).toEqual(
      expect.arrayContaining(['no empty task', 'two empty tasks after each, each before its events']),
    );
  });

  test('a workflow that acts on the clock of an empty task does not', async () => {
    expect(await failuresOf('readsClock')).toContain('two empty tasks after each, as late as possible');
  });
});
