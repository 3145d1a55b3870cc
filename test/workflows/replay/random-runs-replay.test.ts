import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { HistoryEvent } from './history-tasks.ts';
import { placementsOf, type Placement, replayPlacements } from './placements.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { playTails, tailsOf } from './replay-tails.ts';
import { seededRandom, type SeededRandom } from '../../support/seeded-random.ts';
import { runs } from '../../support/thorough.ts';
import { team, callOf, last, pay, rule } from '../../support/team.ts';
import {
  openWorld,
  testBundle,
  type World,
  type WorldOptions,
  type RunInTest,
  type Turns,
} from '../../support/world.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import type { ApprovalRequest, RunStatus } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';

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

const rounds = 8;
const holds = ['one', 'two', 'three'];

/**
 * Plays a run of `team` with a nested run, tools that end while others wait, and three clients that send at the same
 * time: valid decisions, refused ones, unknown signals, policy changes and messages of the user, by update and by signal,
 * also while no worker is alive. Every other run is a session. Returns the workflow ids of the run and its nested run once the run has ended.
 */
async function playRandomRun(world: World, random: SeededRandom, name: string): Promise<string[]> {
  const held = (each: string) => ({ tool: 'hold', args: { name: `${name}-${each}` } });
  const nested = callOf('researcher', { calls: [pay(`${name}-nested`), pay(`${name}-nested`, 2)] }, last);
  const calls = random.shuffled([...holds.map(held), pay(`${name}-a`), pay(`${name}-b`), nested]);
  const turns = [{ calls }, { calls: [pay(`${name}-c`), pay(`${name}-d`)] }, last] as Turns;
  const policy = { ...rule('hold', 'allow'), approval: { timeout: random.pick(['1h', '1h', '4s']) } };
  const isSession = random.chance(0.5);
  const run = await world.start(turns, { policy, ...(isSession && { session: true }) });
  const inner = world.run(`${run.workflowId}/1.${calls.indexOf(nested) + 1}`);
  const unreleased = new Set(holds);
  const release = (each: string): void => {
    unreleased.delete(each);
    writeFileSync(join(world.folder, `release-${name}-${each}`), '');
  };
  await eventually(`the nested run of ${run.workflowId}`, () =>
    inner.handle.describe().then(
      () => true,
      () => false,
    ),
  );
  for (let round = 0; round < rounds; round++) {
    const messages = await Promise.all(
      Array.from({ length: random.whole(1, 4) }, () => randomMessage(random.chance(0.3) ? inner : run, random)),
    );
    if (unreleased.size > 0 && random.chance(0.3)) release(random.pick([...unreleased]));
    const isRestarted = random.chance(0.4);
    if (isRestarted) await world.stopWorker();
    // Refused and late messages are part of the play.
    const sent = Promise.allSettled(messages.map((send) => send()));
    await sleep(random.whole(0, 100));
    if (isRestarted) await world.startWorker();
    await sent;
  }
  for (const each of unreleased) release(each);
  await eventually(`the end of ${run.workflowId}`, async () => {
    for (const each of [inner, run]) {
      for (const { requestId } of await openOf(each)) {
        await each.handle.signal('decide', { requestId, approved: random.chance(0.5) }).catch(() => undefined);
      }
    }
    const isOpen = (await run.handle.describe()).status.name === 'RUNNING';
    if (isOpen && isSession && (await awaitsMessage(run))) await run.handle.signal('close').catch(() => undefined);
    return !isOpen;
  });
  return [run.workflowId, inner.workflowId];
}

async function awaitsMessage(run: RunInTest): Promise<boolean> {
  const status = await run.handle.query<RunStatus>('run').catch(() => undefined);
  return status?.awaitsMessage === true;
}

async function openOf(run: RunInTest): Promise<ApprovalRequest[]> {
  return run.handle.query<ApprovalRequest[]>('approvals').catch(() => []);
}

async function randomMessage(run: RunInTest, random: SeededRandom): Promise<() => Promise<unknown>> {
  const kind = random.weighted({ decide: 5, refused: 5, noise: 2, policy: 1, message: 3 });
  const byUpdate = kind !== 'noise' && random.chance(kind === 'refused' ? 0.8 : 0.5);
  const pause = random.whole(0, 60);
  const [name, message] = await messageOf(kind, run, random);
  return async () => {
    await sleep(pause);
    if (byUpdate) return run.handle.executeUpdate(name, { args: [message] });
    return run.handle.signal(name, message);
  };
}

async function messageOf(kind: string, run: RunInTest, random: SeededRandom): Promise<[name: string, message: object]> {
  if (kind === 'noise') return ['noise', {}];
  if (kind === 'policy') return ['setPolicy', { policy: rule('look', random.pick(['allow', 'ask'])) }];
  if (kind === 'message')
    return ['message', { content: `more ${random.whole(0, 3)}`, messageId: random.pick(['a', 'b', 'c']) }];
  const open = kind === 'refused' ? [] : await openOf(run);
  const requestId = open.length === 0 ? 'unknown' : random.pick(open).requestId;
  return ['decide', { requestId, approved: random.chance(0.6), reviewerId: 'ann' }];
}
