import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sentences } from '../../../src/core/ledger/sentences.ts';
import { openBoundaryStage } from './boundary-stage.ts';
import { type HistoryEvent } from './history-tasks.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { placeEmptyTasks } from './empty-task-placements.ts';
import { insertAttempts } from './other-attempts.ts';
import {
  isBeforePatch,
  onScriptedWorker,
  playTailAndNext,
  playTails,
  tailsOf,
  tailsToAttempt,
  type Tail,
} from './replay-tails.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { sharedBundle } from '../bundles/shared-bundle.ts';
import { runs } from '../../support/thorough.ts';

/**
 * A query can hand a worker events that no workflow task has taken yet. The task that takes them must make the commands
 * that a replay makes all the same (I12).
 */

installQuietRuntime({ errors: false });

const folder = new URL('../../histories/', import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith('.json') && !isBeforePatch(file));

/** Tasks that change most when a query sees a part of what they take, or an earlier clock, or a shorter history. */
function isDelicate({ task: { before, whileScheduled, commands } }: Tail): boolean {
  const hasFired = [...before, ...whileScheduled].some(({ eventType }) => eventType.endsWith('_TIMER_FIRED'));
  const continues = commands.some(({ eventType }) => eventType.endsWith('_CONTINUED_AS_NEW'));
  return hasFired || continues || whileScheduled.length > 0;
}

function eventsOf(file: string): HistoryEvent[] {
  return (JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as { events: HistoryEvent[] }).events;
}

/** Moves a history into the future, so that the worker's own clock never tells that a task started long ago. */
function inFuture(events: readonly HistoryEvent[]): HistoryEvent[] {
  const byMs = Date.now() + 86_400_000 - Date.parse(events[0]!.eventTime);
  return events.map((event) => ({ ...event, eventTime: new Date(Date.parse(event.eventTime) + byMs).toISOString() }));
}

/**
 * Tails whose clock has moved, so that no worker recognises them, and whose task brings an update as well. Before them,
 * a task only refused an update. An attempt of their task started and failed before the query, or timed out in the queue
 * of a worker that was killed.
 */
function movedTails(): Tail[] {
  const files = ['0.1.0-asked-approved.json', '0.1.0-signals-while-loading.json', '0.1.0-steps-before-deadline.json'];
  return files.flatMap((file) => {
    const placed = placeEmptyTasks(inFuture(eventsOf(file)), () => ({ inserted: 1, isEarly: false, isDropped: false }));
    const events = insertAttempts(placed!, seededRandom(3), { share: 1, historyEvents: Infinity });
    return tailsOf(file, events).flatMap((tail) => (startsOnce(tail) ? [{ ...tail, hasUpdate: true }] : []));
  });
}

/** False if an attempt starts and fails after the query: history then has as many events as a task of its own leaves. */
function startsOnce({ events, endId, task }: Tail): boolean {
  const after = events.filter(({ eventId }) => Number(eventId) > Number(endId));
  return after.find(({ eventType }) => eventType.endsWith('_WORKFLOW_TASK_STARTED')) === task.started;
}

test('after a query that saw events before their task, every stored history goes on as recorded', async () => {
  const random = seededRandom(1);
  const all = files.flatMap((file) => tailsOf(file, eventsOf(file)));
  // The deadline's task times out in the queue of a worker that was killed, or fails.
  const tried = insertAttempts(eventsOf('0.1.0-expired.json'), random, { share: 1, historyEvents: Infinity });
  const tails = [
    ...all,
    // The task that takes the tail also brings an update.
    ...all
      .filter(() => random.chance(0.2))
      .map((tail) => ({ ...tail, name: `${tail.name}, with an update`, hasUpdate: true })),
    ...tailsOf('expired, with failed attempts', tried),
  ];
  expect(tails.filter(isDelicate).length).toBeGreaterThan(20);
  const played = await playTails(await sharedBundle('recorded-workflows.ts'), tails);
  const recognised = new Set(tails.filter(({ isRecognised }) => isRecognised).map(({ name }) => name));
  expect(played.filter(({ name, problem }) => problem !== undefined && recognised.has(name))).toEqual([]);
  const refused = played.filter(({ refusal }) => refusal === sentences.notTakenYet).map(({ name }) => name);
  expect(refused.sort()).toEqual([...recognised].sort());
});

test.each([
  { worker: 'a worker', isCached: false },
  { worker: 'a worker that has the run in its cache', isCached: true },
])('$worker fails the task after a tail that it took for a task, and is given it again', async ({ isCached }) => {
  const tails = movedTails().map((tail) => ({ ...tail, isCached }));
  expect(tails.length).toBeGreaterThan(30);
  const played = await playTails(await sharedBundle('recorded-workflows.ts'), tails);
  expect(played.filter(({ problem }) => problem !== undefined)).toEqual([]);
  // The others wrote nothing in answer to the tail, or what comes after an update in a replay, too.
  const failed = played.filter(({ failure }) => failure === sentences.takenEarly);
  expect(failed.length).toBeGreaterThan(30);
});

test('after a query that saw the start of an attempt, the next task goes on as in a run that no query saw', async () => {
  // A longer history makes the others continue as new earlier than they did, or names the events of recorded times.
  const whole = files.filter((file) => !/execution-\d|arbitrated/.test(file));
  const tails = whole.flatMap((file) =>
    tailsToAttempt(file, insertAttempts(eventsOf(file), seededRandom(6), { share: 1, historyEvents: Infinity })),
  );
  const sampled = seededRandom(5).shuffled(tails).slice(0, runs(60));
  const played = await onScriptedWorker(await sharedBundle('recorded-workflows.ts'), sampled, playTailAndNext);
  const possible = played.filter((each) => each !== undefined);
  expect(possible.filter(({ problem }) => problem !== undefined)).toEqual([]);
  const failed = possible.filter(({ failure }) => failure === sentences.takenEarly);
  expect(failed.length).toBeGreaterThan(possible.length * 0.9);
});

/** The attempt began at 33 events of history, its task at 36, and the run continues as new from 35 on. */
test('a query that saw the start of an attempt, where a few events more would end the execution, is refused', async () => {
  const text = readFileSync(new URL('../../fixtures/lost-attempt.json', import.meta.url), 'utf8');
  const tails = tailsToAttempt('lost', (JSON.parse(text) as { events: HistoryEvent[] }).events);
  const played = await playTails(await sharedBundle('recorded-workflows.ts'), tails);
  expect(played).toEqual([{ name: tails[0]!.name, refusal: sentences.notTakenYet }]);
});

describe('the check can fail', () => {
  const stage = forAllTests(() => openBoundaryStage());

  test('a workflow that acts on the clock makes other commands, on a worker that answers such a query', async () => {
    const tails = tailsOf('readsClock', await stage.play('readsClock'));
    const played = await playTails(stage.workflowBundle, tails);
    expect(played.filter(({ problem }) => problem !== undefined)).not.toEqual([]);
    expect(played.filter(({ refusal }) => refusal !== undefined)).toEqual([]);
  });
});
