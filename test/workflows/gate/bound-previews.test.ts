/** `bind: 'preview'` of a tool on real runs: an approved call runs only while its preview holds. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ApprovalDetails } from '../../../src/contract.ts';
import { cardOf } from '../../../src/card/card-of.ts';
import { renderMarkdown } from '../../../src/card/render-markdown.ts';
import { renderSlack } from '../../../src/card/render-slack.ts';
import { renderTerminal } from '../../../src/card/render-terminal.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { approve, decide, details, opened, openBoundWorld, previewed } from './bound-world.ts';

const world = forAllTests(() => openBoundWorld());

test('a call whose preview holds runs once, without a second question', async () => {
  const table = world.newTable('60 rows');
  const run = await world.startPurge(table);
  const request = await previewed(run);
  expect(request.preview).toMatchObject({ state: 'ready', bound: { facts: { rows: '60' } } });
  await approve(run, request);
  const { output, outcomes } = await run.result();
  expect(output).toBe('purged 60');
  expect(outcomes).toHaveLength(1);
  expect(world.ranAbout(table)).toEqual([`purge ${table} 60`]);
});

test('a call whose preview changed does not run: reviewers see what changed, and it runs once they approve that', async () => {
  const table = world.newTable('60 rows');
  const run = await world.startPurge(table);
  const first = await previewed(run);
  world.set(table, '90 rows');
  await approve(run, first);
  const second = await previewed(run, first);
  expect(world.ranAbout(table)).toEqual([]);
  expect(second.replaces).toEqual({ requestId: first.requestId, by: 'preview', changes: ['rows: 60 → 90'] });
  const card = cardOf(second);
  expect(card.warnings.join(' ')).toContain('rows: 60 → 90');
  const texts = [renderTerminal(card), renderMarkdown(card), JSON.stringify(renderSlack(card))];
  for (const text of texts) expect(text.replaceAll(/\s+/g, ' ')).toContain('rows: 60 → 90');
  expect((await details(run, first.requestId)).settled).toMatchObject({ outcome: 'approved' });
  await approve(run, second);
  expect(await run.result()).toMatchObject({
    output: 'purged 90',
    outcomes: [
      { callId: '1.1', outcome: 'approved', ran: 'no' },
      { callId: '1.1.2', outcome: 'approved', ran: 'yes' },
    ],
  });
  expect(world.ranAbout(table)).toEqual([`purge ${table} 90`]);
});

test('what the tool does not name as a fact does not ask again', async () => {
  const table = world.newTable('60 rows, read at noon');
  const run = await world.startPurge(table);
  const request = await previewed(run);
  world.set(table, '60 rows, read at one');
  await approve(run, request);
  expect((await run.result()).outcomes).toHaveLength(1);
  expect(world.ranAbout(table)).toEqual([`purge ${table} 60`]);
});

test('without facts, all changes count', async () => {
  const name = world.newTable('old');
  const run = await world.start([
    { calls: [{ tool: 'write_file', args: { name, content: 'new' } }] },
    { text: '{{lastResult}}' },
  ]);
  const first = await previewed(run);
  world.set(name, 'old\nand more');
  await approve(run, first);
  const second = await previewed(run, first);
  expect(second.replaces?.changes).toEqual([`${name}: 1 line → 2 lines, then 1 line`]);
  world.set(name, 'OLD\nAND MORE');
  await approve(run, second);
  const third = await previewed(run, second);
  expect(third.replaces?.changes).toEqual(['Something changed that these facts do not name: see what would change']);
  await approve(run, third);
  expect((await run.result()).output).toBe(`wrote ${name}`);
  expect(world.ranAbout(name)).toEqual([`write ${name} new`]);
});

test.each([
  ['fails', 'broken', ': the database is away'],
  ['takes too long', 'hangs', ': it took longer than 2000 ms'],
])('a preview that %s just before the start: nothing runs, and reviewers see why', async (_, how, why) => {
  const table = world.newTable('60 rows');
  const run = await world.startPurge(table);
  const first = await previewed(run);
  world.set(`${table}.${how}`, '');
  await approve(run, first);
  const second = await opened(run, first);
  expect(second.replaces?.changes).toEqual([`Just before the start, the tool could not say what would change${why}`]);
  expect(world.ranAbout(table)).toEqual([]);
  await decide(run, { requestId: second.requestId, approved: false });
  await run.result();
  expect(world.ranAbout(table)).toEqual([]);
});

test('a request whose preview failed can be approved, and asks again with the preview that works', async () => {
  const table = world.newTable('60 rows');
  world.set(`${table}.broken`, '');
  const run = await world.startPurge(table);
  const first = await previewed(run);
  expect(first.preview?.state).toBe('failed');
  rmSync(join(world.folder, `${table}.broken`));
  await approve(run, first);
  const second = await previewed(run, first);
  expect(second.replaces?.changes).toEqual(['The approval was given without a preview that it could bind']);
  expect(second.preview).toMatchObject({ bound: { facts: { rows: '60' } } });
  await approve(run, second);
  expect((await run.result()).output).toBe('purged 60');
});

test('a world that always changes ends with a sentence for the model', async () => {
  const table = world.newTable('1 row');
  const run = await world.startPurge(table);
  let last: ApprovalDetails | undefined;
  for (let times = 1; times <= 4; times++) {
    last = await previewed(run, last);
    world.set(table, `${times + 1} rows`);
    await approve(run, last);
  }
  const { output, outcomes } = await run.result();
  expect(output).toBe(
    `Error: tool 'purge' was not started: after each of 4 approvals, it would have changed something else than its reviewers saw`,
  );
  expect(outcomes.map(({ callId, ran: end }) => `${callId} ${end}`)).toEqual([
    '1.1 no',
    '1.1.2 no',
    '1.1.3 no',
    '1.1.4 no',
  ]);
  expect(world.ranAbout(table)).toEqual([]);
});

test('it costs no further activity', async () => {
  const table = world.newTable('60 rows');
  const run = await world.startPurge(table);
  await approve(run, await previewed(run));
  await run.result();
  const { events } = await run.handle.fetchHistory();
  const activities = events!.flatMap((each) => each.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
  expect(activities).toEqual([
    'countersign.loadAgent',
    'countersign.callModel',
    'countersign.preview',
    'purge',
    'countersign.callModel',
  ]);
  // The opened request, its finished preview, and its settlement.
  const upserts = events!.filter((each) => each.upsertWorkflowSearchAttributesEventAttributes != null);
  expect(upserts).toHaveLength(3);
});
