import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker } from '@temporalio/worker';
import { workflowType } from '../../../src/contract.ts';
import { bundleWorkflows } from '../../../src/worker.ts';
import { isHistoryOf } from './recorded/play-runs.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { recordedRuns } from './recorded/runs.ts';
import { sharedBundle } from '../bundles/shared-bundle.ts';
import { textOf } from './recorded/scrub-history.ts';
import { testBundle } from '../../support/world.ts';

/**
 * Histories of real runs, finished and waiting, replay with the current workflow code (I12). If one fails, open runs
 * would be stuck after a deploy. Never record a stored history again; mark the change with `patched()` instead.
 */

// Dozens of replays fail here on purpose; their warnings would hide those of other tests.
installQuietRuntime();

const folder = new URL('../../histories/', import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
const read = (file: string): string => readFileSync(new URL(file, folder), 'utf8');
const bundlePath = (file: string): string => fileURLToPath(new URL(`../bundles/${file}`, import.meta.url));

type Events = { eventType: string; [attributes: string]: unknown }[];
type Started = {
  workflowExecutionStartedEventAttributes: {
    workflowId: string;
    originalExecutionRunId: string;
    workflowType: { name: string };
  };
};
type Bundle = { code: string } | { codePath: string };

/**
 * The result of each replay: `replayed`, or the name of its error. Agent runs replay with the first bundle, other
 * workflows with the second.
 */
async function replayAll(
  [ofAgents, ofOthers]: readonly [Bundle, Bundle],
  changed: (events: Events) => Events = (events) => events,
): Promise<Map<string, string>> {
  const fileOf = new Map<string, string>();
  const histories = files.map((file) => {
    const { events } = JSON.parse(read(file)) as { events: Events };
    const { workflowExecutionStartedEventAttributes: started } = events[0] as unknown as Started;
    fileOf.set(started.originalExecutionRunId, file);
    const workflowBundle = started.workflowType.name === workflowType ? ofAgents : ofOthers;
    // Keeps its workflow id: the ids of nested runs are derived from it.
    const { workflowId } = started;
    return { workflowBundle, history: { workflowId, history: historyFromJSON({ events: changed(events) }) } };
  });
  const outcomes = new Map<string, string>();
  for (const workflowBundle of new Set([ofAgents, ofOthers])) {
    const own = histories.filter((each) => each.workflowBundle === workflowBundle).map(({ history }) => history);
    for await (const { runId, error } of Worker.runReplayHistories({ workflowBundle }, own)) {
      const file = fileOf.get(runId)!;
      outcomes.set(file, error === undefined ? 'replayed' : error.name);
      if (error !== undefined && error.name !== DeterminismViolationError.name) outcomes.set(file, String(error));
    }
  }
  return new Map(files.map((file) => [file, outcomes.get(file) ?? 'not replayed']));
}

const all = (outcome: string): Map<string, string> => new Map(files.map((file) => [file, outcome]));
const violation = DeterminismViolationError.name;

let bundles: readonly [Bundle, Bundle];
beforeAll(async () => {
  bundles = [{ codePath: testBundle() }, await sharedBundle('recorded-workflows.ts')];
});

test('every stored history replays', async () => {
  expect(await replayAll(bundles)).toEqual(all('replayed'));
});

describe.each([
  ['the workflow of channels', 'channels/', 'countersign.lookAtRequests'],
  ['a standing delegation', 'standing/', 'countersign.delegateOpen'],
])('%s', (_, path, activity) => {
  const own = new URL(path, folder);
  const names = readdirSync(own);

  async function replayed(change: (text: string) => string): Promise<string[]> {
    const histories = names.map((file) => {
      const text = change(readFileSync(new URL(file, own), 'utf8'));
      const { events } = JSON.parse(text) as { events: Events };
      const { workflowId } = (events[0] as unknown as Started).workflowExecutionStartedEventAttributes;
      return { workflowId, history: historyFromJSON({ events }) };
    });
    const results: string[] = [];
    for await (const { error } of Worker.runReplayHistories({ workflowBundle: bundles[0] }, histories)) {
      results.push(error === undefined ? 'replayed' : error.name);
    }
    return results;
  }

  test('every stored history replays', async () => {
    expect(names.length).toBeGreaterThan(1);
    expect(await replayed((text) => text)).toEqual(names.map(() => 'replayed'));
  });

  test('one with another activity does not', async () => {
    const other = (text: string): string => text.replaceAll(activity, 'countersign.other');
    expect(await replayed(other)).toEqual(names.map(() => violation));
  });
});

test('every recordable run is stored, finished and waiting', () => {
  const missing = recordedRuns.filter((run) => !files.some((file) => isHistoryOf(file, run)));
  expect(missing.map(({ name, waiting }) => [name, waiting])).toEqual([]);
});

describe('the check can fail', () => {
  let changedBundle: { code: string };
  beforeAll(async () => {
    changedBundle = await bundleWorkflows(bundlePath('changed-workflows.ts'));
  });

  test('one additional activity in the workflow: no history replays', async () => {
    expect(await replayAll([changedBundle, changedBundle])).toEqual(all(violation));
  });

  test('a history with another scheduled activity than the workflow schedules does not replay', async () => {
    const renamed = (events: Events): Events =>
      JSON.parse(
        JSON.stringify(events).replaceAll(/"countersign\.load(Agent|Gate)"/g, '"countersign.loadAnother"'),
      ) as Events;
    const firstExecutions = files.filter((file) => !/execution-[^1]\.json$/.test(file));
    const outcomes = await replayAll(bundles, renamed);
    expect(firstExecutions.map((file) => [file, outcomes.get(file)])).toEqual(
      firstExecutions.map((file) => [file, violation]),
    );
  });
});

test.each(files)('%s names no machine, no address and no path', (file) => {
  const text = textOf(read(file));
  expect(text).not.toMatch(/127\.0\.0\.1|localhost|file:\/\/|node_modules|\/(?:home|root|tmp|work|Users|usr|var)\//);
  expect(text).not.toMatch(/\.[cm]?[jt]s:\d/);
  expect(read(file)).not.toMatch(/"identity":"(?!worker")/);
});
