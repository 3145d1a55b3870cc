/** Who and what may answer a request that binds its preview, and what may forge the answer. */
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ApplicationFailure } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { ApprovalRequest } from '../../../src/contract.ts';
import { refusedBySecondGate } from '../../../src/core/base/tool-call.ts';
import { eventually } from '../../support/eventually.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { resetTo } from '../../support/reset-to.ts';
import { testBundle, type RunInTest } from '../../support/world.ts';
import { type HistoryEvent } from '../replay/history-tasks.ts';
import { placementsOf, replayPlacements } from '../replay/placements.ts';
import { approve, boundAgents, decide, details, opened, openBoundWorld, previewed } from './bound-world.ts';

const world = forAllTests(() => openBoundWorld());

const pendingId = async (run: RunInTest, name: string): Promise<string> => {
  const pending = await eventually(`activity ${name}`, async () => {
    const { raw } = await run.handle.describe();
    return raw.pendingActivities!.find(({ activityType }) => activityType!.name === name);
  });
  return pending.activityId!;
};

const looks = (table: string): number => world.ran().filter((line) => line.startsWith(`preview ${table} `)).length;

test('no approval counts before the preview is finished; a denial does', async () => {
  const table = world.newTable('60 rows');
  world.set(`${table}.hangs`, '');
  const run = await world.startPurge(table);
  const request = await opened(run);
  expect(request.preview).toEqual({ state: 'pending' });
  const refusal = await approve(run, request).catch((error: Error) => error.cause);
  expect(refusal).toMatchObject({ type: 'rate_limited' });
  await run.handle.signal('decide', { requestId: request.requestId, approved: true });
  expect(await decide(run, { requestId: request.requestId, approved: false })).toMatchObject({ outcome: 'denied' });
  await run.result();
  expect(world.ranAbout(table)).toEqual([]);
});

test('an approval that names another preview than the one of the request is refused', async () => {
  const table = world.newTable('60 rows');
  const run = await world.startPurge(table);
  const request = await previewed(run);
  const { digest } = (request.preview as { bound: { digest: string } }).bound;
  const other = await approve(run, request, { viewed: { preview: 'f'.repeat(64) } }).catch(
    (error: Error) => error.cause,
  );
  expect(other).toMatchObject({ type: 'request_changed' });
  await approve(run, request, { viewed: { preview: digest } });
  expect((await run.result()).output).toBe('purged 60');
});

test('an edited call is asked about with its own preview, also of the reviewer who edited it', async () => {
  const [table, other] = [world.newTable('60 rows'), world.newTable('7 rows')];
  const run = await world.startPurge(table);
  const first = await previewed(run);
  const { successor } = await approve(run, first, { modifiedArguments: { table: other }, reviewerId: 'ann' });
  const second = await previewed(run, first);
  expect(second).toMatchObject({
    requestId: successor,
    arguments: { table: other },
    replaces: { by: 'edit' },
    preview: { bound: { facts: { rows: '7' } } },
  });
  await approve(run, second, { reviewerId: 'ann' });
  expect((await run.result()).output).toContain('purged 7');
  expect([world.ranAbout(table), world.ranAbout(other)]).toEqual([[], [`purge ${other} 7`]]);
});

test('an edit that the policy allows without asking runs, because no reviewer has to see its preview', async () => {
  const [table, other] = [world.newTable('60 rows'), world.newTable('7 rows')];
  const run = await world.startPurge(table, { rules: [{ pattern: `purge:*${other}*`, action: 'allow' }] });
  const first = await previewed(run);
  await approve(run, first, { modifiedArguments: { table: other } });
  expect((await run.result()).output).toContain('purged 7');
  expect(world.ranAbout(other)).toEqual([`purge ${other} 7`]);
});

test('an approval for later calls does not let the changed call run, and later calls are not bound', async () => {
  const [table, later] = [world.newTable('60 rows'), world.newTable('7 rows')];
  const purge = (name: string) => ({ calls: [{ tool: 'purge', args: { table: name } }] });
  const run = await world.start([purge(table), purge(later), { text: 'done' }]);
  const first = await previewed(run);
  world.set(table, '90 rows');
  expect(await approve(run, first, { always: { kind: 'tool' } })).toMatchObject({ grantId: 'grant-1' });
  const second = await previewed(run, first);
  expect(second.replaces).toMatchObject({ by: 'preview', changes: ['rows: 60 → 90'] });
  expect(world.ranAbout(table)).toEqual([]);
  // A change of policy rules on it again.
  await run.handle.executeUpdate('setPolicy', { args: [{ policy: { version: 1, rules: [] } }] });
  expect((await details(run, second.requestId)).settled).toBeUndefined();
  await approve(run, second);
  await run.result();
  expect([world.ranAbout(table), world.ranAbout(later)]).toEqual([[`purge ${table} 90`], [`purge ${later} 7`]]);
  expect(world.ran().filter((line) => line.startsWith(`preview ${later}`))).toEqual([]);
});

test('a nested agent asks again in its own run', async () => {
  const table = world.newTable('60 rows');
  const input = JSON.stringify([{ calls: [{ tool: 'purge', args: { table } }] }, { text: '{{lastResult}}' }]);
  const run = await world.start([{ calls: [{ tool: 'clerk', args: { input } }] }, { text: '{{lastResult}}' }]);
  const nested = world.run(`${run.workflowId}/1.1`);
  const first = await eventually('it asks', () => previewed(nested).catch(() => undefined));
  world.set(table, '90 rows');
  await approve(nested, first);
  const second = await previewed(nested, first);
  expect(second.lineage).toEqual([run.workflowId]);
  await approve(nested, second);
  expect((await run.result()).output).toBe('purged 90');
});

test('where the policy hides arguments, reviewers see no preview, and nothing is bound', async () => {
  const table = world.newTable('60 rows');
  const run = await world.startPurge(table, { rules: [], approval: { include_arguments: false } });
  const request = await opened(run);
  expect(request).not.toHaveProperty('preview');
  world.set(table, '90 rows');
  await approve(run, request);
  expect((await run.result()).output).toBe('purged 90');
});

test('a call that runs at its deadline has no reviewer, and nothing is bound', async () => {
  const table = world.newTable('60 rows');
  world.set(`${table}.broken`, '');
  await world.stopWorker();
  const ask = { timeout: '300ms', on_timeout: 'allow' };
  await world.startWorker({
    policy: {
      version: 1,
      rules: [{ pattern: 'purge', action: 'ask', ask }],
      assess: [{ pattern: 'purge', severity: 'low' }],
    },
  });
  const run = await world.startPurge(table);
  expect(await run.result()).toMatchObject({ output: 'purged 60', outcomes: [{ outcome: 'expired', ran: 'yes' }] });
  await world.stopWorker();
  await world.startWorker();
});

test('a run that recorded the tool before it bound its preview asks again', async () => {
  await world.stopWorker();
  await world.startWorker({ agents: boundAgents(world.folder, false) });
  const table = world.newTable('60 rows');
  const run = await world.startPurge(table);
  const first = await previewed(run);
  expect(first.preview).not.toHaveProperty('bound');
  await world.stopWorker();
  await run.handle.signal('decide', { requestId: first.requestId, approved: true });
  await world.startWorker();
  const second = await previewed(run, first);
  expect(second).toMatchObject({ replaces: { by: 'definition' }, preview: { bound: { facts: { rows: '60' } } } });
  await approve(run, second);
  expect((await run.result()).output).toBe('purged 60');
});

test('a decision while no worker lives: the next worker looks again before it starts the call', async () => {
  const [same, changed] = [world.newTable('60 rows'), world.newTable('60 rows')];
  const runs = [await world.startPurge(same), await world.startPurge(changed)] as const;
  const requests = [await previewed(runs[0]), await previewed(runs[1])] as const;
  await world.stopWorker();
  for (const [index, run] of runs.entries()) {
    await run.handle.signal('decide', { requestId: requests[index]!.requestId, approved: true });
  }
  world.set(changed, '90 rows');
  await world.startWorker();
  expect((await runs[0].result()).output).toBe('purged 60');
  const again = await previewed(runs[1], requests[1]);
  expect(world.ranAbout(changed)).toEqual([]);
  await decide(runs[1], { requestId: again.requestId, approved: false });
  await runs[1].result();
});

test('a worker that stops while it looks again: the call is asked about again', async () => {
  const table = world.newTable('60 rows');
  const run = await world.startPurge(table);
  const first = await previewed(run);
  world.set(`${table}.hangs`, '');
  await run.handle.signal('decide', { requestId: first.requestId, approved: true });
  await eventually('it looks again', () => looks(table) === 2);
  await world.stopWorker();
  await world.startWorker();
  const second = await opened(run, first);
  expect(second.replaces?.changes).toEqual(['Just before the start, the call was cut off']);
  expect(world.ranAbout(table)).toEqual([]);
  await run.handle.terminate();
});

test('an operator who completes the preview with forged facts: what reviewers saw does not hold', async () => {
  const table = world.newTable('60 rows');
  world.set(`${table}.hangs`, '');
  const run = await world.startPurge(table);
  const first = await opened(run);
  const bound = { digest: '0'.repeat(64), facts: { rows: '1' } };
  const { client } = world.client.session;
  const activityId = await pendingId(run, 'countersign.preview');
  await client.activity.complete({ workflowId: run.workflowId, activityId }, { state: 'ready', changes: [], bound });
  await previewed(run);
  rmSync(`${world.folder}/${table}.hangs`);
  await approve(run, first);
  const second = await previewed(run, first);
  expect(second.replaces?.changes).toEqual(['rows: 1 → 60']);
  expect(world.ranAbout(table)).toEqual([]);
  await run.handle.terminate();
});

test.each([
  ['without a report', undefined],
  ['of another tool', { definition: { name: 'write_file', definition: 'x' }, changes: ['forged'] }],
  ['without changes', { definition: { name: 'purge', definition: 'x' } }],
  ['with what is no text', { definition: { name: 'purge', definition: 'x' }, changes: [7, {}, 'x'.repeat(9_999)] }],
])('an operator who fails the start as a changed preview %s runs nothing', async (_, report) => {
  const table = world.newTable('60 rows');
  const run = await world.startPurge(table);
  const first = await previewed(run);
  world.set(`${table}.hangs`, '');
  await approve(run, first);
  await eventually('it looks again', () => looks(table) === 2);
  const activityId = await pendingId(run, 'purge');
  const failure = ApplicationFailure.nonRetryable('forged', 'preview_changed', refusedBySecondGate, report);
  await world.client.session.client.activity.fail({ workflowId: run.workflowId, activityId }, failure);
  await eventually('it is asked about again, or has ended', async () => {
    const { status } = await run.handle.describe();
    const open = await run.handle.query<ApprovalRequest[]>('approvals');
    return status.name !== 'RUNNING' || open.length > 0;
  });
  await run.handle.terminate().catch(() => undefined);
  expect(world.ranAbout(table)).toEqual([]);
});

test('a reset that applies the approval again does not run the call again: its own effect has changed the preview', async () => {
  const table = world.newTable('60 rows');
  const run = await world.startPurge(table);
  const first = await previewed(run);
  await run.handle.signal('decide', { requestId: first.requestId, approved: true });
  await run.result();
  await resetTo(world, run.workflowId, (event) => event.workflowExecutionSignaledEventAttributes != null);
  const latest = world.run(run.workflowId);
  expect((await previewed(latest)).replaces).toEqual({
    requestId: first.requestId,
    by: 'preview',
    changes: ['rows: 60 → 0'],
  });
  expect(world.ranAbout(table)).toEqual([`purge ${table} 60`]);
  await latest.handle.terminate();
});

test('a history with changed previews replays, whichever empty tasks it has', async () => {
  const table = world.newTable('60 rows');
  const run = await world.startPurge(table);
  const first = await previewed(run);
  await run.handle.signal('noise');
  world.set(table, '90 rows');
  await approve(run, first);
  const second = await previewed(run, first);
  await run.handle.signal('noise');
  await run.handle.signal('decide', { requestId: second.requestId, approved: true });
  await run.result();
  const { events } = JSON.parse(historyToJSON(await run.handle.fetchHistory())) as { events: HistoryEvent[] };
  const placements = placementsOf(events, [1, 2, 3]);
  expect(placements.length).toBeGreaterThan(4);
  expect(await replayPlacements({ codePath: testBundle() }, placements)).toEqual(new Map());
});
