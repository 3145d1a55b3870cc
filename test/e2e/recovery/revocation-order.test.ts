import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { WorkerPlugin } from '@temporalio/worker';
import type { ApprovalRequest, Grant, Receipt } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import type { RunInTest, Turns, World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * A decision near its deadline waits until the time at which it was recorded is known. Meanwhile neither a revocation
 * nor a policy change overtakes it, and nothing overtakes these (I6).
 */

/** `near` expires after `nearS` seconds; the others wait longer. */
const policyOf = (nearS: number): JsonObject => ({
  version: 1,
  rules: [
    { pattern: 'pay', action: 'ask' },
    { pattern: 'pay:near', action: 'ask', ask: { timeout: `${nearS}s` } },
    { pattern: 'echo', action: 'ask' },
  ],
});
const turns: Turns = [
  {
    calls: [
      { tool: 'pay', args: { to: 'near', amount: 1 } },
      { tool: 'pay', args: { to: 'far', amount: 1 } },
      { tool: 'echo', args: {} },
    ],
  },
  { text: 'done' },
];

interface Asked {
  run: RunInTest;
  near: ApprovalRequest;
  far: ApprovalRequest;
  echo: ApprovalRequest;
}
let world: World;
const arbitration = { asked: 0, letGo: (): void => {} };
/** Makes arbitrations wait for the test. */
function slowArbitration(): WorkerPlugin {
  const isOpen = new Promise<void>((resolve) => (arbitration.letGo = resolve));
  return {
    name: 'slow-arbitration',
    configureWorker: (options) => ({
      ...options,
      interceptors: {
        ...options.interceptors,
        activity: [
          ...(options.interceptors?.activity ?? []),
          ({ info }) => ({
            inbound: {
              execute: async (input, next) => {
                if (info.activityType === 'countersign.arbitrate') {
                  arbitration.asked++;
                  await isOpen;
                }
                return next(input);
              },
            },
          }),
        ],
      },
    }),
  };
}

beforeAll(async () => {
  // Without a cache each step replays; the queue must be the same in every replay.
  world = await openWorld({ worker: false, maxCachedWorkflows: 0 });
});
afterEach(() => {
  arbitration.letGo();
  return world.stopWorker();
});
afterAll(() => world.close());

async function ask(nearS: number): Promise<Asked> {
  const run = await world.start(turns, { policy: policyOf(nearS) });
  // Without `near` once that has expired.
  const open = await run.open(2);
  const of = (tool: string, to?: string): ApprovalRequest =>
    open.find(({ toolName, arguments: args }) => toolName === tool && args['to'] === to)!;
  return { run, near: of('pay', 'near'), far: of('pay', 'far'), echo: of('echo') };
}
/**
 * Starts `count` runs with open requests, stops the worker, and sends; everything is sent before every deadline, even on a
 * busy machine.
 */
async function askAndStop(count: number, send: (all: Asked[]) => Promise<unknown>): Promise<[Asked, ...Asked[]]> {
  const missed: Asked[] = [];
  const { played } = await inTime(8, async (nearS) => {
    // A run whose moment was missed asks for an arbitration, too.
    for (const { run } of missed.splice(0)) await run.handle.terminate();
    await world.stopWorker();
    await world.startWorker();
    const all = await Promise.all(Array.from({ length: count }, () => ask(nearS)));
    missed.push(...all);
    await world.stopWorker();
    await send(all);
    return all as [Asked, ...Asked[]];
  });
  return played;
}
const signal = ({ run }: Asked, name: string, message: object): Promise<void> => run.handle.signal(name, message);
const update = ({ run }: Asked, name: string, message: object): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>(name, { args: [message] });
const approve = ({ requestId }: ApprovalRequest): object => ({ requestId, approved: true, always: true });
const grants = async ({ run }: Asked): Promise<string[]> =>
  (await run.handle.query<Grant[]>('grants')).map(({ grantId, tool }) => `${grantId} ${tool}`);
const settled = async ({ run }: Asked, { requestId }: ApprovalRequest) =>
  (
    await run.handle.query<{ settled?: { outcome: string; by?: string; runs: boolean } }, [unknown]>('approvals', {
      requestId,
    })
  ).settled;
const passed = ({ deadline }: ApprovalRequest): Promise<boolean> => {
  const atMs = Date.parse(deadline!) + 50;
  return eventually('the deadline passes', () => Date.now() > atMs);
};

/** No task of the run failed: the queue was the same in every replay. */
async function wentWell({ run }: Asked): Promise<void> {
  const { executions } = await world.client.historyChain(run.workflowId);
  const failed = executions
    .flatMap(({ events }) => events)
    .filter((event) => event.workflowTaskFailedEventAttributes != null);
  expect(failed).toEqual([]);
  // The run has ended already if all requests were decided.
  await run.handle.terminate().catch(() => {});
}

describe('sent before the deadline, handled after it', () => {
  const cases: [string, (asked: Asked) => Promise<unknown>, string[]][] = [
    [
      'always, then all are revoked',
      async (asked) => {
        await signal(asked, 'decide', approve(asked.near));
        await signal(asked, 'revoke', { grants: 'all' });
      },
      [],
    ],
    [
      'always, then that grant is revoked',
      async (asked) => {
        await signal(asked, 'decide', approve(asked.near));
        await signal(asked, 'revoke', { grants: ['grant-1'] });
      },
      [],
    ],
    [
      'denied for good, then all are revoked',
      async (asked) => {
        await signal(asked, 'decide', { ...approve(asked.near), approved: false });
        await signal(asked, 'revoke', { grants: 'all' });
      },
      [],
    ],
    [
      'all are revoked, then always',
      async (asked) => {
        await signal(asked, 'revoke', { grants: 'all' });
        await signal(asked, 'decide', approve(asked.near));
      },
      ['grant-1 pay'],
    ],
    [
      'always, all are revoked, and always for another request',
      async (asked) => {
        await signal(asked, 'decide', approve(asked.near));
        await signal(asked, 'revoke', { grants: 'all' });
        await signal(asked, 'decide', approve(asked.echo));
      },
      ['grant-2 echo'],
    ],
  ];

  test('applied in the order of arrival', async () => {
    const [byUpdate, ...all] = await askAndStop(cases.length + 1, ([first, ...others]) =>
      Promise.all([
        ...cases.map(([, send], index) => send(others[index]!)),
        signal(first!, 'decide', approve(first!.near)),
      ]),
    );
    await passed(byUpdate.near);
    const answer = update(byUpdate, 'revoke', { grants: ['grant-1'] });
    await world.startWorker();
    expect(await answer).toMatchObject({ accepted: true, message: 'revoked grant-1' });
    for (const [index, [name, , left]] of cases.entries()) {
      const asked = all[index]!;
      await eventually('it is decided', async () => (await settled(asked, asked.near)) !== undefined);
      expect([name, await grants(asked)]).toEqual([name, left]);
      expect([name, (await asked.run.status()).refused.last]).toEqual([name, []]);
      await wentWell(asked);
    }
    expect(await grants(byUpdate)).toEqual([]);
    await wentWell(byUpdate);
  });
});

describe('while the recorded time of a decision is being looked up', () => {
  const cases: [string, (asked: Asked) => Promise<unknown>, (asked: Asked) => Promise<void>][] = [
    [
      'all are revoked by signal, and another is decided for good after that',
      async (asked) => {
        await signal(asked, 'revoke', { grants: 'all' });
        await signal(asked, 'decide', approve(asked.echo));
      },
      async (asked) => {
        expect(await grants(asked)).toEqual(['grant-2 echo']);
        expect(await settled(asked, asked.far)).toMatchObject({ outcome: 'superseded', by: 'grant', runs: true });
      },
    ],
    [
      'the policy comes to deny everything: what the decision lets run came before that',
      (asked) => signal(asked, 'setPolicy', { mode: 'auto_deny' }),
      async (asked) => {
        expect(await settled(asked, asked.far)).toMatchObject({ outcome: 'superseded', by: 'grant', runs: true });
        expect(await settled(asked, asked.echo)).toMatchObject({ outcome: 'superseded', by: 'policy', runs: false });
      },
    ],
  ];

  test('nothing overtakes it that must not', async () => {
    const [byUpdate, ...all] = await askAndStop(cases.length + 1, (asked) =>
      Promise.all(asked.map((each) => signal(each, 'decide', approve(each.near)))),
    );
    await Promise.all([...all, byUpdate].map(({ near }) => passed(near)));
    await world.startWorker({ plugins: [slowArbitration()] });
    await eventually('all are being looked into', () => arbitration.asked === all.length + 1);
    await Promise.all(cases.map(([, send], index) => send(all[index]!)));
    const answer = update(byUpdate, 'revoke', { grants: ['grant-1'] });
    await eventually('the update is in history', async () =>
      ((await byUpdate.run.handle.fetchHistory()).events ?? []).some(
        (event) => event.workflowExecutionUpdateAcceptedEventAttributes != null,
      ),
    );
    for (const asked of [...all, byUpdate]) expect(await settled(asked, asked.near)).toBeUndefined();
    arbitration.letGo();
    expect(await answer).toMatchObject({ accepted: true, message: 'revoked grant-1' });
    expect(await grants(byUpdate)).toEqual([]);
    for (const [index, [, , check]] of cases.entries()) {
      const asked = all[index]!;
      await eventually('all are decided', async () => (await settled(asked, asked.echo)) !== undefined);
      await check(asked);
    }
    for (const asked of [...all, byUpdate]) await wentWell(asked);
  });
});
