import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { RecordedEvent, RunEvent } from '../../../src/events/run-event.ts';
import { startDevServer } from '../../../packages/cli/src/dev-server/start-dev-server.ts';
import { type CliResult, type RunningCli, startCli } from '../../adapters/cli/support.ts';
import { eventually } from '../../support/eventually.ts';
import { killAll } from '../../support/ready-process.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { spawnWorker } from '../../support/worker-process.ts';
import { type World, openWorld } from '../../support/world.ts';
import { startAgain } from '../../support/start-on.ts';

/** Viewers of one run, with the crashes of a real day: all of them see the same. */

let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: false });
});
afterEach(killAll);
afterAll(() => world.close());

const pay = (amount: number) => ({ calls: [{ tool: 'pay', args: { to: 'ann', amount } }] });

/** The events on standard output without the text that was streamed. A line that was cut off is none. */
function transcript(stdout: string): RecordedEvent[] {
  const lines = stdout.split('\n').slice(0, -1);
  const events = lines.map((line) => JSON.parse(line) as RunEvent);
  return events.filter((event) => event.type !== 'RawResponseEvent');
}

test('three terminals, the worker killed in between, one stream interrupted and resumed: the transcripts are equal', async () => {
  const worker = () => spawnWorker({ address: sharedAddress(), taskQueue: world.taskQueue, folder: world.folder });
  const watch = (workflowId: string, ...more: string[]): RunningCli =>
    startCli(['watch', workflowId, '--json', '--address', sharedAddress(), ...more]);
  const asked = (viewers: RunningCli[], count: number) =>
    Promise.all(
      viewers.map((viewer) =>
        eventually(`${count} requests on each screen`, () => {
          const events = transcript(viewer.stdout());
          return events.filter(({ type }) => type === 'ApprovalRequestEvent').length >= count;
        }),
      ),
    );

  const first = await worker();
  const run = await world.start([pay(1), pay(2), { text: '{{lastResult}}' }]);
  const viewers = [watch(run.workflowId), watch(run.workflowId), watch(run.workflowId, '--no-tokens')];
  const [one] = await run.open();
  await asked(viewers, 1);

  await first.kill();
  await world.client.decide({ requestId: one!.requestId, approved: true }, { workflowId: run.workflowId });
  const interrupted = viewers.shift()!;
  interrupted.child.kill('SIGKILL');
  const seen = transcript((await interrupted.ended).stdout);
  expect(seen.at(-1)).toMatchObject({ type: 'ApprovalRequestEvent' });

  await worker();
  const resumed = watch(run.workflowId, '--after', seen.at(-1)!.id);
  const [two] = await run.open();
  expect(two!.requestId).not.toBe(one!.requestId);
  await asked(viewers, 2);
  await asked([resumed], 1);
  await world.client.decide({ requestId: two!.requestId, approved: false, reason: 'enough' });

  const results: CliResult[] = await Promise.all([...viewers, resumed].map(({ ended }) => ended));
  for (const { code, stderr } of results) expect([code, stderr]).toEqual([0, '']);
  const [left, right, rest] = results.map(({ stdout }) => transcript(stdout));
  expect(left!.at(-1)).toMatchObject({ type: 'RunCompleteEvent', status: 'completed', output: 'Denied: enough' });
  expect(right).toEqual(left);
  expect([...seen, ...rest!]).toEqual(left);
  expect(world.ran()).toEqual(['pay ann 1']);
});

test('a stream survives a restart of the server', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-watch-'));
  const options = { dbFile: join(folder, 'temporal.db'), uiPort: null };
  let server = await startDevServer(options);
  const { address } = server;
  const ours = await openWorld({ address });
  const run = await ours.start([pay(1), { text: 'done' }]);
  const [request] = await run.open();
  const events: RunEvent[] = [];
  const watching = (async () => {
    for await (const event of ours.client.events(run.workflowId)) events.push(event);
  })();
  await eventually('the request', () => events.some(({ type }) => type === 'ApprovalRequestEvent'));
  await ours.stopWorker();
  await server.stop();
  server = await startAgain(server, options);
  await ours.startWorker();
  await eventually('the decision', () =>
    ours.client.decide({ requestId: request!.requestId, approved: true }, { workflowId: run.workflowId }).then(
      () => true,
      () => false,
    ),
  );
  await watching;
  const late: RunEvent[] = [];
  for await (const event of ours.client.events(run.workflowId)) late.push(event);
  expect(events.filter(({ type }) => type !== 'RawResponseEvent')).toEqual(late);
  expect(late.at(-1)).toMatchObject({ type: 'RunCompleteEvent', output: 'done' });
  await ours.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});
