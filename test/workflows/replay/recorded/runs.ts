/** The runs whose histories are kept in `test/histories/` and replayed by every version. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { type ApprovalRequest, channelsWorkflowId, type Delivered, deliveriesName } from '../../../../src/contract.ts';
import type { JsonObject } from '../../../../src/core/base/tool-call.ts';
import { eventually } from '../../../support/eventually.ts';
import { ask, finished, no, once, oneTaskMore, pay, continuedAsNew, yes, type RecordedRun } from './play-runs.ts';
import { HeldLoading, signalled } from '../../agent/held-loading.ts';
import {
  recordedAdvisors,
  recordedChecks,
  recordedCosts,
  recordedFiles,
  recordedOutputs,
  recordedResults,
  recordedSums,
  recordedUnknown,
} from './agents.ts';
import { recordedLifecycles } from './lifecycles.ts';
import { recordedSessions } from './sessions.ts';
import { callOf, team } from '../../../support/team.ts';
import { recordedChannel } from '../../channels/recorded-channel.ts';
import { spawnWorker } from '../../../support/worker-process.ts';
import type { RunInTest, Turns, World, WorldOptions } from '../../../support/world.ts';

const loading = new HeldLoading();
const hold = (name: string) => ({ tool: 'hold', args: { name } });
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, each) => make(each));
const allowHold = { version: 1, rules: [{ pattern: 'hold*', action: 'allow' }] };
const brief = (seconds: number) => ({ version: 1, approval: { timeout: `${seconds}s` } });

const passed = ({ deadline }: ApprovalRequest): Promise<boolean> =>
  eventually('the deadline passes', () => Date.now() > Date.parse(deadline!) + 50);

const payload = (encoding: string | undefined, data: string): temporal.api.common.v1.IPayload => ({
  metadata: encoding === undefined ? {} : { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});

const failForGood = (): never => {
  throw ApplicationFailure.nonRetryable('no route to the desk', 'Unreachable');
};

async function poison({ client }: World, run: RunInTest): Promise<void> {
  const send = (signalName: string, each: temporal.api.common.v1.IPayload) =>
    client.session.connection.workflowService.signalWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: run.workflowId },
      signalName,
      input: { payloads: [each] },
      header: { fields: { trace: payload('json/plain', '{bad') } },
    });
  await send('decide', payload('json/plain', '{bad'));
  await send('decide', payload('weird/encoding', 'xx'));
  await send('decide', payload(undefined, 'no metadata'));
  await send('decide', payload('json/plain', '['.repeat(5_000)));
  await send('decide', payload('json/plain', '{"requestId":7}'));
  await send('__temporal_x', payload('json/plain', '{bad'));
  await send('aprove', payload('json/plain', 'true'));
}

export const recordedRuns: RecordedRun[] = [
  { name: 'no-call', play: async (world) => finished(await world.start([{ text: 'hello' }])) },
  {
    name: 'allowed',
    play: async (world) => {
      const look = { tool: 'look', args: { what: 'sea' } };
      return finished(await world.start([{ calls: [look, look] }, { calls: [look] }, { text: 'done' }]));
    },
  },
  {
    name: 'asked-approved',
    play: async (world) => {
      const run = await world.start(once(pay()));
      await run.handle.signal('decide', yes((await run.open())[0]!));
      return finished(run);
    },
  },
  {
    name: 'asked-approved-by-update',
    play: async (world) => {
      const run = await world.start(once(pay()));
      const decision = { ...yes((await run.open())[0]!), reviewerId: 'ann', decisionId: 'first' };
      await run.handle.executeUpdate('decide', { args: [decision] });
      return finished(run);
    },
  },
  {
    name: 'asked-denied',
    play: async (world) => {
      const run = await world.start(once(pay()), { caller: { userId: 'bob' }, metadata: { ticket: 7 } });
      await run.handle.signal('decide', no((await run.open())[0]!, 'not this month'));
      return finished(run);
    },
  },
  {
    name: 'expired',
    play: async (world) => finished(await world.start(once(pay(), pay(2)), { policy: brief(1) })),
  },
  ...[true, false].map((inTime): RecordedRun => ({
    name: inTime ? 'arbitrated-in-time' : 'arbitrated-late',
    play: async (world) => {
      const run = await world.start(once(pay(), pay(2)), { policy: brief(2) });
      const open = await run.open(2);
      await world.stopWorker();
      if (inTime) await run.handle.signal('decide', yes(open[0]!));
      await passed(open[0]!);
      await run.handle.signal('decide', [no(open[0]!), yes(open[1]!)]);
      await world.startWorker();
      return finished(run);
    },
  })),
  {
    name: 'policy-of-all-actions',
    play: async (world) => {
      const policy: JsonObject = {
        version: 1,
        rules: [
          { pattern: 'pay', action: 'ask' },
          { pattern: 'pay:ann', action: 'allow' },
          { pattern: 'look:*secret*', action: 'deny', reason: 'secrets stay' },
          { pattern: 'fail', action: 'allow' },
        ],
        approval: { max_pending: 1 },
      };
      const to = (name: string) => ({ tool: 'pay', args: { to: name, amount: 1 } });
      const look = { tool: 'look', args: { what: 'a secret' } };
      const bad = { tool: 'pay', rawArguments: '{"to":' };
      const calls = [to('ann'), to('bob'), to('cat'), look, { tool: 'wipe' }, { tool: 'fly' }, bad, { tool: 'fail' }];
      const run = await world.start(once(...calls), { policy });
      await run.handle.signal('decide', yes((await run.open())[0]!));
      return finished(run);
    },
  },
  {
    name: 'env-beside-a-command',
    play: async (world) => {
      const policy = { version: 1, rules: [{ pattern: 'bash:git status*', action: 'allow' }] };
      const bash = (others: object) => ({ tool: 'bash', args: { command: 'git status', ...others } });
      const run = await world.start(once(bash({ note: 'Look' }), bash({ env: { GIT_PAGER: 'less' } })), { policy });
      await run.handle.signal('decide', yes((await run.open())[0]!));
      return finished(run);
    },
  },
  {
    name: 'eight-decided-apart',
    play: async (world) => {
      const run = await world.start(once(...times(8, (index) => pay(index))));
      const open = await run.open(8);
      for (const index of [5, 2, 7, 0]) await run.handle.signal('decide', yes(open[index]!));
      await run.handle.executeUpdate('decide', { args: [[no(open[1]!), no(open[5]!), yes(open[3]!)]] });
      await run.handle.signal('decide', [yes(open[4]!), no(open[6]!)]);
      return finished(run);
    },
  },
  {
    name: 'refused-decisions',
    play: async (world) => {
      const run = await world.start(once(pay()));
      const [request] = await run.open();
      await poison(world, run);
      await run.handle.signal('decide', { ...yes(request!), digest: '0'.repeat(64) });
      await run.handle.signal('decide', yes(request!));
      return finished(run);
    },
  },
  {
    name: 'tool-cut-off',
    play: async (world) => {
      const run = await world.start(once(hold('cut')), { policy: allowHold });
      await eventually('the tool runs', () => world.ran().includes('start cut'));
      await world.stopWorker();
      await world.startWorker();
      return finished(run);
    },
  },
  {
    name: 'tool-killed',
    world: { worker: false },
    play: async (world) => {
      const { address } = world.client.session;
      const worker = await spawnWorker({ address, taskQueue: world.taskQueue, folder: world.folder });
      const run = await world.start(once(hold('killed')), { policy: allowHold });
      await eventually('the tool runs', () => world.ran().includes('start killed'));
      await worker.kill();
      await world.startWorker();
      return finished(run);
    },
  },
  {
    name: 'signals-while-loading',
    world: { interceptors: loading.interceptors },
    play: async (world) => {
      loading.hold();
      const run = await world.start(once(pay()));
      for (const [signal, message] of [
        ['noise', undefined],
        ['decide', { requestId: 'unknown', approved: true }],
        ['setPolicy', { policy: { version: 1, rules: [{ pattern: 'pay', action: 'deny' }] } }],
      ] as const) {
        await signalled(run.handle, signal, message);
      }
      loading.release();
      return finished(run);
    },
  },
  {
    name: 'five-open-continued',
    world: { continueAsNewAfter: { historyEvents: 40 } },
    play: async (world) => {
      const run = await world.start(once(...times(5, (index) => pay(index))));
      const open = await run.open(5);
      await continuedAsNew(world, run, 3);
      await run.handle.signal('decide', open.slice(0, 3).map(yes));
      await run.handle.executeUpdate('decide', { args: [open.slice(3).map((each) => no(each, 'enough'))] });
      return finished(run);
    },
  },
  {
    name: 'expired-in-second-execution',
    world: { continueAsNewAfter: { historyEvents: 30 } },
    play: async (world) => {
      const run = await world.start(once(pay()), { policy: brief(3) });
      await run.open();
      await continuedAsNew(world, run);
      return finished(run);
    },
  },
  {
    name: 'cancelled-waiting',
    play: async (world) => {
      const run = await world.start(once(pay(), pay(2)));
      await run.open(2);
      await run.handle.cancel();
      return finished(run);
    },
  },
  {
    name: 'cancelled-tool-running',
    play: async (world) => {
      const run = await world.start(once(hold('cancelled')), { policy: allowHold });
      await eventually('the tool runs', () => world.ran().includes('start cancelled'));
      await run.handle.cancel();
      return finished(run);
    },
  },
  {
    name: 'terminated',
    play: async (world) => {
      const run = await world.start(once(pay()));
      await run.open();
      await run.handle.terminate('enough');
      return run;
    },
  },
  {
    name: 'agent-unknown',
    play: async (world) => finished(await world.start([], { agent: 'nobody' })),
  },
  {
    name: 'model-gives-up',
    play: async (world) => finished(await world.start([{ error: { status: 400 } }])),
  },
  {
    name: 'channel-answers',
    world: { channels: { desk: recordedChannel({ resolve: () => true }) } },
    play: async (world) => finished(await world.start(once(pay()))),
  },
  {
    // Recorded before a channel whose message failed heard how its request was settled.
    name: 'channel-message-failed',
    world: { channels: { desk: recordedChannel({ notify: failForGood, resolves: false }) } },
    play: async (world) => {
      const run = await world.start(once(pay()));
      const [request] = await run.open();
      const channels = world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
      await eventually('the failure is noted', async () => {
        const delivered = await channels.query<Delivered[]>(deliveriesName).catch(() => []);
        return delivered.some(({ failures }) => failures.length > 0);
      });
      await world.client.decide({ requestId: request!.requestId, approved: false }, { workflowId: run.workflowId });
      await channels.result();
      return finished(run);
    },
  },
  {
    name: 'channel-asked',
    waiting: true,
    world: { channels: { desk: recordedChannel() } },
    play: async (world) => {
      const run = await world.start([{ calls: [pay(), pay()] }, { text: 'done' }]);
      const [request] = await run.open(2);
      await world.client.decide({ requestId: request!.requestId, approved: false }, { workflowId: run.workflowId });
      const channels = world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
      await eventually(
        'the channel is told',
        async () => (await channels.query<Delivered[]>(deliveriesName)).length === 1,
      );
      return run;
    },
  },
  {
    name: 'one-open',
    waiting: true,
    play: async (world) => {
      const run = await world.start(once(pay()));
      await run.open();
      return run;
    },
  },
  {
    name: 'eight-open-two-decided',
    waiting: true,
    play: async (world) => {
      const run = await world.start(once(...times(8, (index) => pay(index))));
      const open = await run.open(8);
      await run.handle.executeUpdate('decide', { args: [[yes(open[1]!), no(open[6]!)]] });
      await eventually('the tool ran', async () => (await run.status()).outcomes.some(({ ran }) => ran === 'yes'));
      return run;
    },
  },
  {
    name: 'open-forever',
    waiting: true,
    world: { policy: { version: 1, approval: { max_timeout: 'never', timeout: 'never' } } },
    play: async (world) => {
      const run = await world.start(once(pay()));
      await run.open();
      return run;
    },
  },
  {
    name: 'open-after-refusals',
    waiting: true,
    play: async (world) => {
      const run = await world.start(once(pay()));
      await run.open();
      await poison(world, run);
      await eventually('all are refused', async () => (await run.status()).refused.total >= 7);
      return run;
    },
  },
  {
    name: 'five-open-in-second-execution',
    waiting: true,
    world: { continueAsNewAfter: { historyEvents: 40 } },
    play: async (world) => {
      const run = await world.start(once(...times(5, (index) => pay(index))));
      await run.open(5);
      await continuedAsNew(world, run);
      await oneTaskMore(world, run);
      return run;
    },
  },
  {
    name: 'decided-while-no-worker-lives',
    waiting: true,
    play: async (world) => {
      const run = await world.start(once(pay()));
      const [request] = await run.open();
      await world.stopWorker();
      await run.handle.signal('decide', yes(request!));
      return run;
    },
  },
  {
    name: 'tool-running',
    waiting: true,
    play: async (world) => {
      const run = await world.start(once(hold('open'), pay()), { policy: allowHold });
      await eventually('the tool runs', () => world.ran().includes('start open'));
      await run.open();
      return run;
    },
  },
];

const teamWorld: WorldOptions = { agentsIn: (folder) => team(folder) };
const asksClerk = callOf('clerk', { calls: [pay()] }, { text: '{{lastResult}}' });

/** A run whose nested run, two levels down, opens a request. */
async function nestedAsks(world: World): Promise<{ run: RunInTest; asking: RunInTest; request: ApprovalRequest }> {
  const called = callOf('researcher', { calls: [asksClerk] }, { text: '{{lastResult}}' });
  const run = await world.start(once(called), { caller: { userId: 'bob' } });
  const asking = world.run(`${run.workflowId}/1.1/1.1`);
  const open = await eventually('the nested run asks', () => asking.open().catch(() => undefined));
  return { run, asking, request: open[0]! };
}

recordedRuns.push(
  {
    name: 'agent-called',
    world: teamWorld,
    play: async (world) => {
      const { run, asking, request } = await nestedAsks(world);
      await asking.handle.signal('decide', yes(request));
      return finished(run);
    },
  },
  {
    name: 'agent-called-cancelled',
    world: teamWorld,
    play: async (world) => {
      const { run } = await nestedAsks(world);
      await run.handle.cancel();
      return finished(run);
    },
  },
  {
    name: 'nested-continued',
    world: { ...teamWorld, continueAsNewAfter: { historyEvents: 30 } },
    play: async (world) => {
      const { asking, request } = await nestedAsks(world);
      await continuedAsNew(world, asking);
      await asking.handle.signal('decide', yes(request));
      return finished(asking);
    },
  },
  { name: 'agent-called', waiting: true, world: teamWorld, play: async (world) => (await nestedAsks(world)).run },
  {
    name: 'handed-over',
    world: teamWorld,
    play: async (world) => {
      const calls = [{ tool: 'transfer_to_billing' }, { tool: 'transfer_to_lax' }, pay(3)];
      const run = await world.start([{ calls }, ...once(pay())] as Turns);
      await run.handle.signal('decide', no((await run.open())[0]!));
      await eventually('billing asks', async () => (await run.open())[0]!.agentName === 'billing');
      await run.handle.signal('decide', yes((await run.open())[0]!));
      return finished(run);
    },
  },
  {
    name: 'handed-over',
    waiting: true,
    world: { ...teamWorld, continueAsNewAfter: { historyEvents: 30 } },
    play: async (world) => {
      const run = await world.start([{ calls: [{ tool: 'transfer_to_billing' }] }, ...once(pay())] as Turns);
      await run.open();
      await continuedAsNew(world, run);
      await oneTaskMore(world, run);
      return run;
    },
  },
  ...['nested-policy-changed', 'nested-policy-received'].map((name): RecordedRun => ({
    name,
    world: teamWorld,
    play: async (world) => {
      const { run, asking } = await nestedAsks(world);
      const rules = [{ pattern: 'pay', action: 'deny', reason: 'nobody pays' }];
      await ask(run, 'setPolicy', { policy: { version: 1, rules }, by: 'olga' });
      await finished(asking);
      await finished(run);
      return name === 'nested-policy-changed' ? run : asking;
    },
  })),
  ...recordedLifecycles,
  {
    name: 'limit-extended-and-ended',
    play: async (world) => {
      const looks = ['a', 'b', 'c'].map((what) => ({ calls: [{ tool: 'look', args: { what } }] }));
      const limits = { turns: { ask: 1 }, calls: { ask: 2, end: 10 }, tokens: 1_000, time: '1d' };
      const run = await world.start([...looks, { text: 'done' }], { policy: { version: 1, limits } });
      const [first] = await run.open();
      await run.handle.signal('decide', yes(first!));
      const second = await eventually('it asks again', async () => {
        const [next] = await run.open();
        return next!.requestId !== first!.requestId && next;
      });
      await run.handle.signal('decide', { requestId: second.requestId, approved: false, reason: 'Enough' });
      return finished(run);
    },
  },
  ...recordedSessions,
  ...recordedOutputs,
  ...recordedChecks,
  ...recordedResults,
  ...recordedFiles,
  ...recordedAdvisors,
  ...recordedSums,
  ...recordedCosts,
  ...recordedUnknown,
);

/** Releases the tools that a run left open waits for. */
export async function letGo(world: World, run: RunInTest): Promise<void> {
  await run.handle.terminate('recorded').catch(() => undefined);
  for (const name of ['open', 'cancelled']) writeFileSync(join(world.folder, `release-${name}`), '');
}
