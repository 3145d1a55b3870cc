import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApprovalRequest } from '../../../src/contract.ts';
import type { DevServer } from '../../../packages/cli/src/dev-server/start-dev-server.ts';
import { startDevServer } from '../../../packages/cli/src/dev-server/start-dev-server.ts';
import { eventually } from '../../support/eventually.ts';
import type { RunInTest, World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * Exact deadlines (I6). A decision recorded in time counts, however late it is handled; one recorded late does not,
 * however early the timer event appears.
 */

// Long enough to open five requests and stop a worker on a busy machine.
const timeoutS = 8;
const brief = { version: 1, approval: { timeout: `${timeoutS}s` } };
const turns = (to: string) => [{ calls: [{ tool: 'pay', args: { to, amount: 1 } }] }, { text: '{{lastResult}}' }];
const expired = `Denied: no decision within ${timeoutS}s`;

const passed = (deadline: string | null): Promise<boolean> =>
  eventually('the deadline passes', () => Date.now() > Date.parse(deadline!) + 50);

async function arbitrations(run: RunInTest): Promise<number> {
  const { events } = await run.handle.fetchHistory();
  return (events ?? []).filter(
    ({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name === 'countersign.arbitrate',
  ).length;
}

describe('the worker is down at the deadline', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ worker: false });
  });
  afterAll(() => world.close());

  const cases = [
    { name: 'approved before', before: true, after: undefined, output: 'paid 1 to before', asked: 1 },
    { name: 'approved after', before: undefined, after: true, output: expired, asked: 1 },
    { name: 'approved before, denied after', before: true, after: false, output: 'paid 1 to both', asked: 1 },
    { name: 'denied before, approved after', before: false, after: true, output: 'Denied: User denied', asked: 1 },
    { name: 'nobody', before: undefined, after: undefined, output: expired, asked: 0 },
  ];

  test('a decision recorded in time counts, a late one does not', async () => {
    await world.startWorker();
    const names = ['before', 'after', 'both', 'opposite', 'none'];
    const runs = await Promise.all(names.map((name) => world.start(turns(name), { policy: brief })));
    const requests = await Promise.all(runs.map(async (run) => (await run.open())[0]!));
    await world.stopWorker();
    const send = async (index: number, approved: boolean | undefined): Promise<void> =>
      approved === undefined
        ? undefined
        : runs[index]!.handle.signal('decide', { requestId: requests[index]!.requestId, approved });
    await Promise.all(cases.map(({ before }, index) => send(index, before)));
    await Promise.all(requests.map(({ deadline }) => passed(deadline)));
    await Promise.all(cases.map(({ after }, index) => send(index, after)));
    await world.startWorker();
    for (const [index, { name, output, asked }] of cases.entries()) {
      const result = await runs[index]!.result();
      expect([name, result.output]).toEqual([name, output]);
      expect([name, await arbitrations(runs[index]!)]).toEqual([name, asked]);
    }
    expect(world.ran().filter((line) => line === 'pay before 1')).toHaveLength(1);
    expect(world.ran()).not.toContain('pay after 1');
  });
});

describe('the server is down at the deadline', () => {
  interface Played {
    world: World;
    before: RunInTest;
    after: RunInTest;
    requests: ApprovalRequest[];
  }
  let server: DevServer;
  let folder: string;
  let withoutWorker: Played;
  let withWorker: Played;
  const play = async (): Promise<Played> => {
    const world = await openWorld({ address: server.address });
    const runs = await Promise.all(['before', 'after'].map((to) => world.start(turns(to), { policy: brief })));
    const requests = await Promise.all(runs.map(async (run) => (await run.open())[0]!));
    return { world, before: runs[0]!, after: runs[1]!, requests };
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'countersign-server-'));
    const dbFile = join(folder, 'temporal.db');
    server = await startDevServer({ uiPort: null, dbFile });
    [withoutWorker, withWorker] = await Promise.all([play(), play()]);
    await withoutWorker.world.stopWorker();
    const { before, requests } = withoutWorker;
    await before.handle.signal('decide', { requestId: requests[0]!.requestId, approved: true });
    server.kill();
    await server.ended;
    const all = [withoutWorker, withWorker];
    for (const each of all) await passed(each.requests[1]!.deadline);
    server = await startDevServer({ uiPort: null, port: Number(server.address.split(':')[1]), dbFile });
    for (const { after, requests } of all) {
      await eventually('the server takes signals again', () =>
        after.handle.signal('decide', { requestId: requests[1]!.requestId, approved: true }).then(
          () => true,
          // A worker that waited for the server may have completed the run already.
          (error: Error) => /already completed/.test(error.message),
        ),
      );
    }
    await withoutWorker.world.startWorker();
  });
  afterAll(async () => {
    for (const { world } of [withoutWorker, withWorker]) await world.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('and so is the worker: a decision recorded before the deadline counts, one after it does not', async () => {
    expect((await withoutWorker.after.result()).output).toBe(expired);
    expect((await withoutWorker.before.result()).output).toBe('paid 1 to before');
  });

  test('and the worker waits for it: a decision after the deadline does not count', async () => {
    expect((await withWorker.after.result()).output).toBe(expired);
    expect((await withWorker.before.result()).output).toBe(expired);
  });
});
