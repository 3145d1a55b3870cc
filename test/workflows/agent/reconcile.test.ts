/** `reconcile` of a tool on real runs: what became of a call whose outcome is unknown (I7). */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, test } from 'vitest';
import { projectHistories } from '../../support/read-histories.ts';
import { eventually } from '../../support/eventually.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { killAll } from '../../support/ready-process.ts';
import { spawnWorker } from '../../support/worker-process.ts';
import { openWorld, testBundle, type RunInTest } from '../../support/world.ts';
import type { HistoryEvent } from '../replay/history-tasks.ts';
import { placementsOf, replayPlacements } from '../replay/placements.ts';
import { approve, previewed } from '../gate/bound-world.ts';
import { type PayArgs, reconcilingAgents } from './reconciling-agent.ts';

const allow = { version: 1, rules: [{ pattern: '*', action: 'allow' }] };
const world = forAllTests(() => openWorld({ agentsIn: reconcilingAgents, policy: allow }));

const set = (file: string): void => writeFileSync(join(world.folder, file), '');
const start = (name: string, how: PayArgs['how'] = 'breaks', tool = 'pay'): Promise<RunInTest> =>
  world.start([{ calls: [{ tool, args: { name, how } }] }, { text: '{{lastResult}}' }]);
const lines = (name: string, what: string): string[] =>
  world.ran().filter((line) => line.startsWith(`${what} ${name} `));
const unknown = 'Unknown: the tool was started but its outcome is not known. Do not assume that it did nothing.';

/** Its history replays, whichever empty tasks it has. */
async function replays(run: RunInTest): Promise<void> {
  const { events } = JSON.parse(historyToJSON(await run.handle.fetchHistory())) as { events: HistoryEvent[] };
  const placements = placementsOf(events, [1, 2, 3]);
  expect(placements.length).toBeGreaterThan(0);
  expect(await replayPlacements({ codePath: testBundle() }, placements)).toEqual(new Map());
}

test('it ran: the model gets the result, under the same idempotency key', async () => {
  const run = await start('ran');
  expect(await run.result()).toMatchObject({ output: 'paid ran', outcomes: [{ outcome: 'allowed', ran: 'yes' }] });
  expect(lines('ran', 'start')).toHaveLength(1);
  expect(lines('ran', 'look')[0]!.split(' ')[2]).toBe(lines('ran', 'start')[0]!.split(' ')[2]);
  await replays(run);
});

test('it ran, and the result is not known: the model is told not to repeat it', async () => {
  set('quiet.quiet');
  const run = await start('quiet');
  expect(await run.result()).toMatchObject({
    output: 'the tool ran; its result cannot be given (its worker was lost); do not repeat it',
    outcomes: [{ ran: 'yes' }],
  });
});

test('it did not run: it starts again, with the same idempotency key, and the journal has one end', async () => {
  set('undone.early');
  const run = await start('undone');
  expect(await run.result()).toMatchObject({ output: 'paid undone', outcomes: [{ outcome: 'allowed', ran: 'yes' }] });
  const keys = lines('undone', 'start').map((line) => line.split(' ')[2]);
  expect(keys).toHaveLength(2);
  expect(new Set(keys).size).toBe(1);
  const projected = projectHistories([await run.handle.fetchHistory()]);
  expect(projected).toMatchObject({ outcomes: [{ callId: '1.1', ran: 'yes' }], gaps: [] });
  await replays(run);
});

test('it says each time that it did not run: three starts, then an error', async () => {
  set('never.early');
  set('never.never');
  const run = await start('never');
  expect(await run.result()).toMatchObject({
    output: `Error: tool 'pay' was started 3 times, and says that it did not run`,
    outcomes: [{ ran: 'no' }],
  });
  expect(lines('never', 'start')).toHaveLength(3);
  await replays(run);
});

test('a service that is away is asked again', async () => {
  set('away.away');
  const run = await start('away');
  await eventually('it is asked twice', () => lines('away', 'look').length === 2);
  rmSync(join(world.folder, 'away.away'));
  expect((await run.result()).output).toBe('paid away');
  expect(lines('away', 'start')).toHaveLength(1);
});

test('a worker that stops in mid-call: the next one asks', async () => {
  const run = await start('stopped', 'hangs');
  await eventually('it runs', () => lines('stopped', 'start').length === 1);
  await world.stopWorker();
  await world.startWorker();
  expect((await run.result()).output).toBe('paid stopped');
  expect(lines('stopped', 'start')).toHaveLength(1);
});

test('a tool without it stays unknown, with the same events as before', async () => {
  const run = await start('plain', 'breaks', 'plain');
  expect(await run.result()).toMatchObject({ output: unknown, outcomes: [{ ran: 'unknown' }] });
  const { events } = await run.handle.fetchHistory();
  const activities = events!.flatMap((each) => each.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
  expect(activities).not.toContain('countersign.reconcile');
});

test('its result passes the check of the tool', async () => {
  const run = await start('checked', 'breaks', 'checked');
  expect(await run.result()).toMatchObject({
    output: 'the tool ran; what it gave is withheld (it names a customer); do not repeat it',
    outcomes: [{ ran: 'yes', withheld: true }],
  });
});

test('a run that is closed meanwhile asks nothing more', async () => {
  const run = await start('closed', 'hangs');
  await eventually('it runs', () => lines('closed', 'start').length === 1);
  await run.handle.signal('close', { reason: 'enough' });
  await eventually('it is closing', async () => (await run.status()).counts !== undefined);
  await world.stopWorker();
  await world.startWorker();
  await run.result();
  expect(lines('closed', 'look')).toEqual([]);
});

test.each([
  ['nothing', null],
  ['another answer', { ran: 'maybe' }],
  ['a text', 'no'],
])('an operator who completes the question with %s starts nothing again', async (what, forged) => {
  const name = `forged-${what.replaceAll(' ', '-')}`;
  set(`${name}.away`);
  const run = await start(name);
  const pending = await eventually('it is asked', async () => {
    const { raw } = await run.handle.describe();
    return raw.pendingActivities!.find(({ activityType }) => activityType!.name === 'countersign.reconcile');
  });
  const { client } = world.client.session;
  await client.activity.complete({ workflowId: run.workflowId, activityId: pending.activityId! }, forged);
  const [request] = await run.open();
  expect(request!.replaces).toEqual({ by: 'unknown' });
  expect(lines(name, 'start')).toHaveLength(1);
  await run.handle.terminate();
});

test('a call that starts again passes the second gate again: a bound preview that has changed asks again', async () => {
  set('shifted.early');
  set('shifted.shifts');
  const ask = { version: 1, rules: [{ pattern: 'bound', action: 'ask' }] };
  const run = await world.start(
    [{ calls: [{ tool: 'bound', args: { name: 'shifted', how: 'breaks' } }] }, { text: '{{lastResult}}' }],
    { policy: ask },
  );
  const first = await previewed(run);
  await approve(run, first);
  const second = await previewed(run, first);
  expect(second.replaces).toMatchObject({ requestId: first.requestId, by: 'preview' });
  expect(lines('shifted', 'start')).toHaveLength(1);
  await approve(run, second);
  expect(await run.result()).toMatchObject({ output: 'paid shifted', outcomes: [{ ran: 'no' }, { ran: 'yes' }] });
  await replays(run);
});

test('kill -9 in mid-call: the next worker asks, and nothing runs twice', async () => {
  const own = await openWorld({ agentsIn: reconcilingAgents, policy: allow, worker: false });
  const worker = () => {
    return spawnWorker({ address: sharedAddress(), taskQueue: own.taskQueue, folder: own.folder, reconciling: true });
  };
  try {
    const first = await worker();
    const policy = { rules: [{ pattern: 'pay', action: 'ask' }] };
    const call = (name: string) => [
      { calls: [{ tool: 'pay', args: { name, how: 'hangs' } }] },
      { text: '{{lastResult}}' },
    ];
    writeFileSync(join(own.folder, 'undone.early'), '');
    const runs = [await own.start(call('done'), { policy }), await own.start(call('undone'), { policy })];
    for (const run of runs) {
      const [request] = await run.open();
      await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
    }
    await eventually('both run', () => own.ran().filter((line) => line.startsWith('start ')).length === 2);
    await first.kill();
    await worker();
    expect((await runs[0]!.result()).output).toBe('paid done');
    expect((await runs[1]!.result()).output).toBe('paid undone');
    const starts = (name: string) => own.ran().filter((line) => line.startsWith(`start ${name} `));
    expect([starts('done').length, starts('undone').length]).toEqual([1, 2]);
  } finally {
    await killAll();
    await own.close();
  }
});
