/** What an approval binds of a preview, carried through continue-as-new. */
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import type { RunInTest } from '../../support/world.ts';
import { approve, details, opened, openBoundWorld, previewed } from './bound-world.ts';

const world = forAllTests(() => openBoundWorld({ continueAsNewAfter: { historyEvents: 60 } }));

const continued = (run: RunInTest): Promise<unknown> =>
  eventually('the run continues as new', async () => {
    await run.handle.signal('noise');
    return (await run.status()).executions >= 2;
  });
const looks = (table: string): number => world.ran().filter((line) => line.startsWith(`preview ${table} `)).length;

test('the next execution binds what reviewers saw in the one before', async () => {
  const [same, changed] = [world.newTable('60 rows'), world.newTable('60 rows')];
  const runs = [await world.startPurge(same), await world.startPurge(changed)] as const;
  const requests = [await previewed(runs[0]), await previewed(runs[1])] as const;
  for (const run of runs) await continued(run);
  expect([looks(same), looks(changed)]).toEqual([1, 1]);
  world.set(changed, '90 rows');
  await approve(runs[0], requests[0]);
  await approve(runs[1], requests[1]);
  expect((await runs[0].result()).output).toBe('purged 60');
  const again = await previewed(runs[1], requests[1]);
  expect(again.replaces?.changes).toEqual(['rows: 60 → 90']);
  expect(world.ranAbout(changed)).toEqual([]);
  await runs[1].handle.terminate();
});

test('a preview that is not carried is taken again, and binds nothing if it differs from the first', async () => {
  // Too large to be carried.
  const noise = 'x'.repeat(40_000);
  const [same, changed] = [world.newTable(`60 rows ${noise}`), world.newTable(`60 rows ${noise}`)];
  const calls = [same, changed].map((table) => ({ tool: 'purge', args: { table } }));
  const run = await world.start([{ calls }, { text: 'done' }]);
  const requests = await eventually('both previews', async () => {
    const open = await Promise.all((await run.open(2)).map(({ requestId }) => details(run, requestId)));
    return open.every(({ preview }) => preview?.state === 'ready') && open;
  });
  const [first, second] = requests as [(typeof requests)[0], (typeof requests)[0]];
  world.set(changed, '90 rows');
  await continued(run);
  await eventually('one is taken again', () => looks(same) + looks(changed) === 3);
  await eventually('and is finished', async () => {
    const open = await Promise.all(requests.map(({ requestId }) => details(run, requestId)));
    return open.every(({ preview }) => preview?.state === 'ready');
  });
  for (const request of [first, second]) await approve(run, request);
  await eventually('the unchanged one runs', () => world.ranAbout(same).length === 1);
  const again = await previewed(run, second);
  expect(again.arguments).toEqual({ table: changed });
  expect(again.replaces?.changes).toEqual(['The approval was given without a preview that it could bind']);
  expect(world.ranAbout(changed)).toEqual([]);
  await run.handle.terminate();
});

test('a run that continues as new while its preview is taken waits for the next one', async () => {
  const table = world.newTable('60 rows');
  world.set(`${table}.hangs`, '');
  const run = await world.startPurge(table);
  const request = await opened(run);
  await continued(run);
  expect(await approve(run, request).catch((error: Error) => error.cause)).toMatchObject({ type: 'rate_limited' });
  rmSync(`${world.folder}/${table}.hangs`);
  await approve(run, await previewed(run));
  expect((await run.result()).output).toBe('purged 60');
});
