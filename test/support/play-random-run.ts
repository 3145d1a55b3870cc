import { setTimeout as sleep } from 'node:timers/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApprovalRequest, RunStatus } from '../../src/contract.ts';
import { eventually } from './eventually.ts';
import type { SeededRandom } from './seeded-random.ts';
import { callOf, last, pay, rule } from './team.ts';
import type { RunInTest, Turns, World } from './world.ts';

const rounds = 8;
const holds = ['one', 'two', 'three'];

/**
 * Plays a run of `team` with a nested run, tools that end while others wait, and three clients that send at the same
 * time: valid decisions, refused ones, unknown signals, policy changes and messages of the user, by update and by signal,
 * also while no worker is alive. Every other run is a session. Returns the workflow ids of the run and its nested run once the run has ended.
 */
export async function playRandomRun(world: World, random: SeededRandom, name: string): Promise<string[]> {
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
