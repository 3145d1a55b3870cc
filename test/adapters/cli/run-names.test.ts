/** Runs by name on a terminal: what they do, for whom, short ids, and what a reviewer changed in their calls. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { namedRun, runName, shortRunIds } from '../../../packages/cli/src/base/named-run.ts';
import { editsOf, eventPrinter, renderRun } from '../../../packages/cli/src/runs/run-views.ts';
import { renderRuns } from '../../../packages/cli/src/runs/runs.ts';
import type { ListedRun } from '../../../src/client/inbox/list-runs.ts';
import { eventually } from '../../support/eventually.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openWorld } from '../../support/world.ts';
import { cli, terminal } from './support.ts';

const world = forAllTests(() => openWorld());
const nowMs = Date.parse('2026-11-29T12:00:00.000Z');
const listed: ListedRun = {
  workflowId: 'key-0d220fc6464a00909abe5e7495405c2b271a1237',
  workflowType: 'agentRun',
  status: 'waiting',
  agent: 'support',
  callerUserId: 'ann',
  task: 'Order 7 came broken, and I want my money back before the end of the week.',
  open: 2,
  startedAt: '2026-11-29T10:00:00.000Z',
};

test.each([80, 120])('at %i columns the table has short ids, times and what each run does', (width) => {
  const nested = { ...listed, workflowId: `${listed.workflowId}/1.1` };
  const other = { ...listed, workflowId: 'key-0d220fff464a00909abe5e7495405c2b271a1237', open: 0 };
  const lines = renderRuns(terminal(width), [listed, nested, other], nowMs).split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  expect(lines.map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
    ['RUN', 'STATUS'],
    ['key-0d220fc6', 'waiting (2)'],
    ['key-0d220fc6/1.1', 'waiting (2)'],
    ['key-0d220fff', 'waiting'],
  ]);
  expect(lines[1]).toMatch(/ {2}\d\d:\d\d {2,}support for ann: Order 7 came broken,/);
});

test('no text of a run reaches the terminal unescaped', () => {
  const hostile = 'x\u202e\u001b[2J\u200b\u0007\u{e0041}';
  const run = { ...listed, workflowId: hostile, agent: hostile, callerUserId: hostile, task: hostile };
  expect(renderRuns(terminal(), [run], nowMs)).toMatch(/^[\x20-\x7e\n]+$/);
  expect(runName({ ...listed, task: hostile, workflowType: hostile })).toMatch(/^[\x20-\x7e\n]+$/);
});

test('the list knows the first words of the task and the caller, without personal data', async () => {
  const text = `Write to ann@acme.com. ${'x'.repeat(200)}`;
  const run = await world.start([{ text }], { caller: { userId: 'carl' } });
  const row = await eventually('the run', async () => {
    for await (const each of world.client.runs()) if (each.workflowId === run.workflowId) return each;
    return undefined;
  });
  expect(row).toMatchObject({
    agent: 'tester',
    callerUserId: 'carl',
    task: expect.stringContaining('Write to [EMAIL'),
  });
  expect(row.task).not.toContain('ann@acme.com');
  expect(row.task!.length).toBeLessThanOrEqual(121);
});

test('a run is named by the first characters of its id', async () => {
  const prefix = randomUUID().slice(0, 13);
  const [one, other] = [`${prefix}-one`, `${prefix}-two`];
  for (const workflowId of [one, other])
    await (await world.client.start('tester', '[{"text":"x"}]', { workflowId })).result();
  const named = (name: string) => namedRun(world.client, name);
  await eventually('both are listed', () =>
    named(prefix).then(
      () => false,
      (error: Error) => error.message.includes('several'),
    ),
  );
  expect(await named(one)).toBe(one);
  expect(await named(`${prefix}-t`)).toBe(other);
  expect(await named(shortRunIds([one, other])(one))).toBe(one);
  await expect(named(prefix)).rejects.toMatchObject({
    code: 'run_not_found',
    message: expect.stringMatching(new RegExp(`^'${prefix}' is the start of several runs: .*${prefix}-(one|two)`)),
  });
  for (const name of [`${prefix}-three`, `${prefix}-t/1.1`, `${prefix}"`, prefix.slice(0, 3)]) {
    await expect(named(name)).rejects.toMatchObject({ code: 'run_not_found' });
  }
});

test('every command that takes a run takes the first characters of its id', async () => {
  const workflowId = `short-${randomUUID()}`;
  const script = JSON.stringify([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 5 } }] }, { text: 'done' }]);
  const policy = { rules: [{ pattern: '*', action: 'ask' }] };
  await world.client.start('tester', script, { workflowId, policy, session: true });
  await world.run(workflowId).open();
  const { address } = world.client.session;
  const short = workflowId.slice(0, 14);
  for (const words of [
    ['show', short],
    ['show', short, '--events'],
    ['audit', short],
    ['grants', 'list', short],
    ['policy', 'apply', short, '--mode', 'plan'],
    ['message', short, 'Go on.'],
    ['cancel', short],
    ['watch', short],
  ]) {
    const { code, stdout, stderr } = await cli([...words, '--address', address]);
    expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
    if (['show', 'audit', 'cancel', 'watch'].includes(words[0]!)) expect(stdout).toContain(workflowId);
  }
});

test('an edited call says what was asked and what ran', async () => {
  const policy = { rules: [{ pattern: '*', action: 'ask' }] };
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 89 } }] }, { text: 'done' }], {
    policy,
  });
  const [request] = await run.open();
  await world.client.decide({
    requestId: request!.requestId,
    approved: true,
    modifiedArguments: { to: 'ann', amount: 50 },
  });
  await run.result();
  const { workflowId } = run;
  const view = await world.client.show(workflowId);
  const shown = renderRun(terminal(), view, nowMs, await editsOf(world.client, workflowId, view.outcomes));
  expect(shown).toContain('\n1.1   pay   approved with an edit: amount 89 → 50  yes\n');
  expect(shown).toContain('calls       1 call · 1 approved\n');
  const lines: string[] = [];
  const print = eventPrinter({ ...terminal(), line: (text) => void lines.push(text) }, {}, world.client);
  for await (const event of world.client.events(workflowId, { follow: false })) await print(event);
  expect(lines).toContain('decided   1.1 pay approved with an edit: amount 89 → 50');
});
