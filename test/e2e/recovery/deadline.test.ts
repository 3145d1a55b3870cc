import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApprovalRequest } from '../../../src/contract.ts';
import type { DevServer } from '../../../packages/cli/src/dev-server/start-dev-server.ts';
import { startDevServer } from '../../../packages/cli/src/dev-server/start-dev-server.ts';
import { activityFaults } from '../../workflows/channels/activity-faults.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import type { RunInTest, World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';
import { startAgain } from '../../support/start-on.ts';

/**
 * Exact deadlines (I6). A decision recorded in time counts, however late it is handled; one recorded late does not,
 * however early the timer event appears.
 */

// Long enough to open five requests and stop a worker.
const leastSeconds = 8;
const brief = (seconds: number) => ({ policy: { version: 1, approval: { timeout: `${seconds}s` } } });
const turns = (to: string) => [{ calls: [{ tool: 'pay', args: { to, amount: 1 } }] }, { text: '{{lastResult}}' }];
const expired = (seconds: number): string => `Denied: no decision within ${seconds}s`;

const passed = (deadline: string | null): Promise<boolean> =>
  eventually('the deadline passes', () => Date.now() > Date.parse(deadline!) + 50);

async function arbitrations(run: RunInTest): Promise<number> {
  const { events } = await run.handle.fetchHistory();
  return (events ?? []).filter(
    ({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name === 'countersign.arbitrate',
  ).length;
}

describe('the worker is down at the deadline', () => {
  const world = forAllTests(() => openWorld({ worker: false }));

  const cases = [
    { name: 'approved before', before: true, after: undefined, to: 'before', paid: true, asked: 1 },
    { name: 'approved after', before: undefined, after: true, to: 'after', asked: 1 },
    { name: 'approved before, denied after', before: true, after: false, to: 'both', paid: true, asked: 1 },
    { name: 'denied before, approved after', before: false, after: true, to: 'opposite', denied: true, asked: 1 },
    { name: 'nobody', before: undefined, after: undefined, to: 'none', asked: 0 },
  ];

  test('a decision recorded in time counts, a late one does not', async () => {
    const send = async (run: RunInTest, request: ApprovalRequest, approved: boolean | undefined): Promise<void> =>
      approved === undefined ? undefined : run.handle.signal('decide', { requestId: request.requestId, approved });
    const { played, seconds } = await inTime(leastSeconds, async (timeoutS) => {
      await world.stopWorker();
      await world.startWorker();
      const runs = await Promise.all(
        cases.map(async ({ to, ...each }) => {
          const run = await world.start(turns(`${to}-${timeoutS}`), brief(timeoutS));
          return { ...each, to: `${to}-${timeoutS}`, run, request: (await run.open())[0]! };
        }),
      );
      await world.stopWorker();
      await Promise.all(runs.map(({ run, request, before }) => send(run, request, before)));
      return runs;
    });
    await Promise.all(played.map(({ request }) => passed(request.deadline)));
    await Promise.all(played.map(({ run, request, after }) => send(run, request, after)));
    await world.startWorker();
    for (const { name, to, paid, denied, run, asked } of played) {
      const output = paid ? `paid 1 to ${to}` : denied ? 'Denied: User denied' : expired(seconds);
      expect([name, (await run.result()).output]).toEqual([name, output]);
      expect([name, await arbitrations(run)]).toEqual([name, asked]);
      expect(world.ran().filter((line) => line === `pay ${to} 1`)).toHaveLength(paid ? 1 : 0);
    }
  });
});

describe('the time of a decision cannot be read', () => {
  const faults = activityFaults();
  let world: World;
  beforeAll(async () => {
    // Only a ceiling lets a call run that nobody decides on, after the longest of all time-outs.
    const approval = { on_timeout: 'allow', timeout: '1s' };
    world = await openWorld({ worker: false, policy: { approval, rules: [] }, interceptors: faults.interceptors });
  });
  afterAll(() => world.close());

  test('where silence lets the call run, what stops it or puts it off counts, and an approval does not', async () => {
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const cases = [
      { sent: { approved: false }, output: 'Denied: User denied', outcome: 'denied', ran: 'no' },
      { sent: { approved: false, response: 'look up' }, output: 'look up', outcome: 'responded', ran: 'no' },
      { sent: { approved: true }, output: 'saw sky', outcome: 'expired', ran: 'yes' },
      { sent: { until: later }, output: 'Denied: User denied', outcome: 'denied', ran: 'no' },
    ];
    const { played } = await inTime(leastSeconds, async (timeoutS) => {
      await world.stopWorker();
      await world.startWorker();
      const runs = await Promise.all(
        cases.map(async (each) => {
          const policy = {
            rules: [{ pattern: 'look', action: 'ask' }],
            approval: { timeout: `${timeoutS}s`, on_timeout: 'allow' },
          };
          const looks = [{ calls: [{ tool: 'look', args: { what: 'sky' } }] }, { text: '{{lastResult}}' }];
          const run = await world.start(looks, { policy });
          faults.set(run.workflowId, 'countersign.arbitrate', 1, () => {
            throw ApplicationFailure.nonRetryable('failed by hand');
          });
          return { ...each, run, request: (await run.open())[0]! };
        }),
      );
      await world.stopWorker();
      for (const { run, request, sent } of runs) {
        await run.handle.signal('until' in sent ? 'extend' : 'decide', { requestId: request.requestId, ...sent });
      }
      return runs;
    });
    for (const { request } of played) await passed(request.deadline);
    await world.startWorker();
    for (const { run, request, sent, output, outcome, ran } of played) {
      if ('until' in sent) {
        const put = await eventually('the deadline is put off', async () => {
          const [open] = await run.open();
          return open?.deadline === request.deadline ? undefined : open;
        });
        expect(put.deadline).toBe(later);
        await run.handle.signal('decide', { requestId: request.requestId, approved: false });
      }
      expect(await run.result()).toMatchObject({ output, outcomes: [{ outcome, ran }] });
      expect(await arbitrations(run)).toBe(1);
    }
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
  let within: string;
  const worlds: World[] = [];
  const closeWorlds = async (): Promise<void> => {
    for (const each of worlds.splice(0)) await each.close();
  };
  const play = async (timeoutS: number): Promise<Played> => {
    const world = await openWorld({ address: server.address });
    worlds.push(world);
    const runs = await Promise.all(['before', 'after'].map((to) => world.start(turns(to), brief(timeoutS))));
    const requests = await Promise.all(runs.map(async (run) => (await run.open())[0]!));
    return { world, before: runs[0]!, after: runs[1]!, requests };
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'countersign-server-'));
    const dbFile = join(folder, 'temporal.db');
    server = await startDevServer({ uiPort: null, dbFile });
    const { played, seconds } = await inTime(leastSeconds, async (timeoutS) => {
      await closeWorlds();
      const both = await Promise.all([play(timeoutS), play(timeoutS)]);
      const [{ world, before, requests }] = both;
      await world.stopWorker();
      await before.handle.signal('decide', { requestId: requests[0]!.requestId, approved: true });
      return both;
    });
    [withoutWorker, withWorker] = played;
    within = expired(seconds);
    server.kill();
    await server.ended;
    const all = [withoutWorker, withWorker];
    for (const each of all) await passed(each.requests[1]!.deadline);
    server = await startAgain(server, { uiPort: null, dbFile });
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
    await closeWorlds();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('and so is the worker: a decision recorded before the deadline counts, one after it does not', async () => {
    expect((await withoutWorker.after.result()).output).toBe(within);
    expect((await withoutWorker.before.result()).output).toBe('paid 1 to before');
  });

  test('and the worker waits for it: a decision after the deadline does not count', async () => {
    expect((await withWorker.after.result()).output).toBe(within);
    expect((await withWorker.before.result()).output).toBe(within);
  });
});
