import { afterEach, describe, expect, test } from 'vitest';
import { ApplicationFailure } from '@temporalio/common';
import type { Channel, ChannelFunction } from '../../src/channels/channel.ts';
import { conditional } from '../../src/channels/conditional.ts';
import { channelsWorkflowId } from '../../src/contract.ts';
import type { RunResult } from '../../src/contract.ts';
import { eventually } from '../support/eventually.ts';
import { recordedChannel } from '../support/recorded-channel.ts';
import { openWorld, type RunInTest, type World, type WorldOptions } from '../support/world.ts';

let world: World;
afterEach(() => world.close());

async function open(channels: Record<string, Channel | ChannelFunction>, options: WorldOptions = {}): Promise<void> {
  world = await openWorld({ channels, ...options });
}

const pay = { tool: 'pay', args: { to: 'ann', amount: 5 } };
const turns = [{ calls: [pay] }, { text: '{{lastResult}}' }];

async function ended(run: RunInTest): Promise<RunResult> {
  const result = await run.result();
  const handle = world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
  await handle.result();
  return result;
}

describe('a channel that answers', () => {
  const cases: [string, unknown, string][] = [
    ['approves', { approved: true }, 'paid 5 to ann'],
    ['approves with a boolean', true, 'paid 5 to ann'],
    ['denies with a reason', { approved: false, reason: 'not today' }, 'Denied: not today'],
    ['denies with a boolean', false, 'Denied: User denied'],
    ['edits', { approved: true, modifiedArguments: { to: 'ann', amount: 3 } }, 'paid 3 to ann'],
    ['responds', { approved: false, response: 'paid already' }, 'paid already'],
    ['gives nonsense', { approve: 'yes' }, 'Denied: Approval handler error: InvalidAnswer.'],
    ['gives nothing', undefined, 'Denied: Approval handler error: InvalidAnswer.'],
    [
      'edits without a needed argument',
      { approved: true, modifiedArguments: {} },
      'Denied: Approval handler error: arguments_invalid.',
    ],
  ];
  test.each(cases)('%s', async (_case, answer, output) => {
    const channel = recordedChannel();
    await open({ desk: channel });
    const run = await world.start(turns);
    await eventually('the channel is asked', () => channel.asked.length === 1);
    channel.answer(answer);
    expect((await ended(run)).output).toContain(output);
    expect(channel.notified).toHaveLength(1);
    expect(channel.settlements.map(({ context }) => context.sent)).toEqual([{ message: 1 }]);
  });

  test('is asked once its message is sent, and gets what finds the message', async () => {
    const channel = recordedChannel({
      resolve: (_request, _signal, { sent }) => ({ approved: false, reason: JSON.stringify(sent) }),
    });
    await open({ desk: channel });
    const run = await world.start(turns);
    expect((await ended(run)).output).toBe('Denied: {"message":1}');
  });

  test('throws: the call is denied at once with the type of the error', async () => {
    const channel = recordedChannel();
    await open({ desk: channel });
    const run = await world.start(turns);
    await eventually('the channel is asked', () => channel.asked.length === 1);
    channel.fail(new RangeError('a secret detail'));
    const { output } = await ended(run);
    expect(output).toBe('Denied: Approval handler error: RangeError.');
    expect(channel.asked).toHaveLength(1);
  });

  test('throws beside another channel: the request stays open', async () => {
    const [broken, other] = [recordedChannel(), recordedChannel()];
    await open({ broken, other });
    const run = await world.start(turns);
    await eventually('both are asked', () => broken.asked.length === 1 && other.asked.length === 1);
    broken.fail(new Error('down'));
    const handle = world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
    await eventually('the failure is noted', async () => {
      const [delivered] = await handle.query<{ failures: string[] }[]>('deliveries');
      return delivered?.failures.some((text) => text.startsWith('broken: Error: down'));
    });
    other.answer(true);
    expect((await ended(run)).output).toBe('paid 5 to ann');
  });

  test('with retries: an error and a refused answer are asked about again', async () => {
    const channel = recordedChannel({ retries: true });
    await open({ desk: channel });
    const run = await world.start(turns);
    await eventually('the channel is asked', () => channel.asked.length === 1);
    channel.fail(new Error('no network'));
    await eventually('it is asked again', () => channel.asked.length === 2);
    channel.answer({ approved: true, modifiedArguments: { to: 1 } });
    await eventually('it is asked once more', () => channel.asked.length === 3);
    channel.answer(true);
    expect((await ended(run)).output).toBe('paid 5 to ann');
  });

  test('is told when the request is settled elsewhere', async () => {
    const channel = recordedChannel();
    await open({ desk: channel });
    const run = await world.start(turns);
    await eventually('the channel is asked', () => channel.asked.length === 1);
    const { requestId } = channel.asked[0]!.request;
    await world.client.decide({ requestId, approved: false, reviewerId: 'bob' }, { workflowId: run.workflowId });
    await eventually('its signal aborts', () => channel.asked[0]!.signal.aborted);
    await ended(run);
    expect(channel.settlements).toMatchObject([{ settlement: { outcome: 'denied', reviewerId: 'bob' } }]);
  });

  test('answers after the deadline: nothing changes', async () => {
    const channel = recordedChannel();
    await open({ desk: channel }, { policy: { approval: { timeout: '2s' } } });
    const run = await world.start(turns);
    await eventually('the channel is asked', () => channel.asked.length === 1);
    expect((await run.result()).output).toBe('Denied: no decision within 2s');
    channel.answer(true);
    expect((await ended(run)).outcomes).toMatchObject([{ outcome: 'expired', ran: 'no' }]);
    expect(channel.settlements).toMatchObject([{ settlement: { outcome: 'expired' } }]);
  });
});

/** The time of day, in UTC, in so many minutes. */
const soon = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);

describe('one truth on all channels', () => {
  test('ten requests of one turn go out in one message, and each is told once that it is settled, with all of them', async () => {
    const channel = recordedChannel({ batch: true, resolves: false });
    await open({ team: channel });
    const calls = Array.from({ length: 10 }, (_, amount) => ({ tool: 'pay', args: { to: 'ann', amount } }));
    const run = await world.start([{ calls }, { text: 'done' }]);
    await eventually('the message is sent', () => channel.notified.length === 1);
    const { requests } = channel.notified[0]!.context;
    expect(requests).toHaveLength(10);
    const [first, second, third, ...rest] = requests.map(({ requestId }) => requestId);
    for (const requestId of [first!, second!, third!]) {
      await world.client.decide({ requestId, approved: true, reviewerId: 'bob' }, { workflowId: run.workflowId });
    }
    const told = (): string[] =>
      channel.settlements.flatMap(({ context }) => (context.settled ?? []).map(({ requestId }) => requestId));
    await eventually('three are told', () => told().length === 3);
    const settled = (): number[] =>
      channel.settlements.map(({ context }) => context.requests.filter((each) => each.settled !== undefined).length);
    expect(settled().at(-1)).toBe(3);
    expect(channel.settlements.every(({ context }) => context.requests.length === 10)).toBe(true);
    await world.client.decide(
      rest.map((requestId) => ({ requestId, approved: false })),
      { workflowId: run.workflowId },
    );
    await ended(run);
    expect(channel.notified).toHaveLength(1);
    expect(told().toSorted()).toEqual(requests.map(({ requestId }) => requestId).toSorted());
    expect(settled().at(-1)).toBe(10);
    // One announcement for all that an activation changes: ten requests open, three are settled, then the rest at once.
    const { events } = await run.handle.fetchHistory();
    const types = events!.map((each) => each.activityTaskScheduledEventAttributes?.activityType?.name);
    expect(types.filter((type) => type === 'countersign.announce').length).toBeLessThanOrEqual(5);
  });

  test('what comes while a message collects goes out with it, once; what is settled meanwhile does not', async () => {
    const channel = recordedChannel({ batch: true, resolves: false });
    await open({ team: channel }, { batchMs: 3_000 });
    const calls = ['ann', 'bob'].map((to) => ({ tool: 'pay', args: { to, amount: 1 } }));
    const run = await world.start([{ calls }, { calls: [pay] }, { text: 'done' }]);
    const [first, second] = await run.open(2);
    const decide = (requestId: string) =>
      world.client.decide({ requestId, approved: true }, { workflowId: run.workflowId });
    await decide(first!.requestId);
    await eventually('the message is sent', () => channel.notified.length > 0);
    const idsOf = ({ context }: { context: { requests: readonly { requestId: string }[] } }): string[] =>
      context.requests.map(({ requestId }) => requestId);
    expect(channel.notified.map(idsOf)).toEqual([[second!.requestId]]);
    await decide(second!.requestId);
    const third = await eventually('the next request', async () =>
      (await run.open()).find(({ requestId }) => requestId !== second!.requestId),
    );
    await eventually('its message is sent', () => channel.notified.length > 1);
    await decide(third.requestId);
    await ended(run);
    expect(channel.notified.map(idsOf)).toEqual([[second!.requestId], [third.requestId]]);
    expect(channel.settlements.map(({ request }) => request.requestId)).toEqual([second!.requestId, third.requestId]);
    const handle = world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
    const { events } = await handle.fetchHistory();
    const types = events!.map((each) => each.activityTaskScheduledEventAttributes?.activityType?.name);
    expect(types.filter((type) => type === 'countersign.channelNotify')).toHaveLength(2);
  });

  test('an urgent request does not wait for the end of the quiet hours beside others', async () => {
    const channel = recordedChannel({ batch: true, resolves: false });
    const quietHours = { from: soon(-60), to: soon(60), timeZone: 'UTC', above: 'medium' as const };
    const policy = { version: 1, rules: [{ pattern: '*', action: 'ask' }] };
    await open({ team: channel }, { batchMs: 0, quietHours, policy });
    const run = await world.start([{ calls: [pay, { tool: 'wipe', args: {} }] }, { text: 'done' }]);
    const requests = await run.open(2);
    const urgent = requests.find(({ toolName }) => toolName === 'wipe')!;
    await eventually('the urgent one is sent', () => channel.notified.length > 0);
    expect(channel.notified.map(({ context }) => context.requests.map(({ requestId }) => requestId))).toEqual([
      [urgent.requestId],
    ]);
    for (const { requestId } of requests)
      await world.client.decide({ requestId, approved: false }, { workflowId: run.workflowId });
    await ended(run);
    expect(channel.notified).toHaveLength(1);
    expect(channel.settlements.map(({ request }) => request.requestId)).toEqual([urgent.requestId]);
  });

  test('a reminder that waits for the end of the quiet hours holds no settlement up', async () => {
    const channel = recordedChannel({ resolves: false });
    // They begin with a minute, in ten seconds at the earliest: the request is sent before.
    const from = soon(new Date().getUTCSeconds() < 50 ? 1 : 2);
    const quietHours = { from, to: soon(60), timeZone: 'UTC' };
    const ask = { remind: '20s', timeout: '1h' };
    const policy = { version: 1, rules: [{ pattern: 'pay', action: 'ask', ask }] };
    await open({ desk: channel }, { quietHours, policy });
    const run = await world.start(turns);
    const [request] = await run.open();
    await eventually('the message is sent', () => channel.notified.length > 0);
    const handle = world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
    await eventually('a reminder waits', async () => {
      const { events } = await handle.fetchHistory();
      const seconds = events!.map((each) => Number(each.timerStartedEventAttributes?.startToFireTimeout?.seconds ?? 0));
      return seconds.some((each) => each > 1_800);
    });
    const before = channel.notified.length;
    await world.client.decide({ requestId: request!.requestId, approved: true }, { workflowId: run.workflowId });
    await ended(run);
    expect(channel.settlements).toHaveLength(1);
    expect(channel.notified).toHaveLength(before);
  });

  test('an automatic answer does not wait for the end of the quiet hours, and nobody is told', async () => {
    const desk = recordedChannel();
    const quietHours = { from: soon(-60), to: soon(60), timeZone: 'UTC', above: 'critical' as const };
    await open({ desk: conditional({ below: 'critical', otherwise: desk }) }, { quietHours });
    const run = await world.start(turns);
    expect((await ended(run)).output).toBe('paid 5 to ann');
    expect([desk.notified, desk.asked, desk.settlements]).toEqual([[], [], []]);
  });

  test('a settlement is told within two seconds of it', async () => {
    const channel = recordedChannel({ resolves: false });
    await open({ team: channel });
    const run = await world.start(turns);
    await eventually('the message is sent', () => channel.notified.length === 1);
    const { requestId } = channel.notified[0]!.request;
    await world.client.decide({ requestId, approved: true, reviewerId: 'bob' }, { workflowId: run.workflowId });
    await eventually('the settlement is told', () => channel.settlements.length === 1, 10_000);
    expect(channel.settlements[0]).toMatchObject({ settlement: { outcome: 'approved', reviewerId: 'bob' } });
    await ended(run);
  });

  test.each([
    ['closed', (run: RunInTest) => world.client.closeRun(run.workflowId, { reason: 'enough' })],
    ['cancelled', (run: RunInTest) => world.client.cancel(run.workflowId)],
  ])('a run that is %s says so on its channels', async (_case, end) => {
    const channel = recordedChannel({ resolves: false });
    await open({ team: channel });
    const run = await world.start(turns);
    await eventually('the message is sent', () => channel.notified.length === 1);
    await end(run);
    await eventually('the end is told', () => channel.settlements.length === 1, 10_000);
    expect(channel.settlements).toMatchObject([{ settlement: { outcome: 'cancelled' } }]);
    const handle = world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
    await handle.result();
  });

  test('a message that fails is tried again and noted, and denies nothing', async () => {
    let attempts = 0;
    const notify = (): never => {
      attempts += 1;
      throw new Error('no route to the desk');
    };
    const channel = recordedChannel({ notify });
    await open({ desk: channel });
    const run = await world.start(turns);
    await eventually('the channel is asked', () => channel.asked.length === 1);
    expect(attempts).toBe(5);
    channel.answer(true);
    expect((await run.result()).output).toBe('paid 5 to ann');
  });

  test('a message whose call failed for good may have been sent: the channel hears how its request was settled', async () => {
    const calls: string[] = [];
    const channel = recordedChannel({
      resolves: false,
      notify: () => {
        calls.push('sent, then failed');
        throw ApplicationFailure.nonRetryable('the answer was lost', 'Lost');
      },
      settled: (_request, { outcome }, { sent }) => {
        calls.push(`${outcome}, sent ${JSON.stringify(sent)}`);
      },
    });
    await open({ pager: channel });
    const run = await world.start(turns);
    const [request] = await run.open();
    await eventually('the message is sent', () => calls.length > 0);
    const { requestId } = request!;
    await world.client.decide({ requestId, approved: false }, { workflowId: run.workflowId });
    await ended(run);
    expect(calls).toEqual(['sent, then failed', 'denied, sent undefined']);
  });
});

describe('crashes and forgeries', () => {
  test('a worker is lost between the message and the answer: the message is not sent again, the answer counts', async () => {
    const channel = recordedChannel({ resolves: false });
    await open({ team: channel });
    const run = await world.start(turns);
    await eventually('the message is sent', () => channel.notified.length === 1);
    await world.stopWorker();
    const { requestId } = channel.notified[0]!.request;
    await run.handle.signal('decide', { requestId, approved: true });
    await world.startWorker();
    expect((await ended(run)).output).toBe('paid 5 to ann');
    expect(channel.notified).toHaveLength(1);
    expect(channel.settlements).toHaveLength(1);
  });

  test.each([false, true])(
    'a worker is shut down while a channel thinks (retries: %s): the next one asks again, and nothing is denied',
    async (retries) => {
      const channel = recordedChannel({ retries });
      await open({ desk: channel });
      const run = await world.start(turns);
      await eventually('the channel is asked', () => channel.asked.length === 1);
      await world.stopWorker();
      await world.startWorker();
      await eventually('it is asked again', () => channel.asked.length === 2);
      channel.fail(new Error('too late'));
      channel.answer(true);
      expect((await ended(run)).output).toBe('paid 5 to ann');
      expect(channel.notified).toHaveLength(1);
    },
  );

  test('a run continues as new while its channels wait: nothing is sent twice', async () => {
    const channel = recordedChannel();
    await open({ desk: channel }, { continueAsNewAfter: { historyEvents: 20 } });
    const run = await world.start([{ calls: [{ tool: 'look', args: { what: 'a' } }] }, ...turns]);
    await eventually('the channel is asked', () => channel.asked.length === 1);
    await eventually('the run continued', async () => (await run.status()).executions > 1);
    channel.answer(true);
    expect((await ended(run)).output).toBe('paid 5 to ann');
    expect(channel.notified).toHaveLength(1);
  });

  test('forged signals name no channel, open nothing and break nothing', async () => {
    const [desk, auto] = [recordedChannel({ resolves: false }), recordedChannel()];
    await open({ desk, auto }, { routes: { default: ['desk'] } });
    const run = await world.start(turns);
    await eventually('the message is sent', () => desk.notified.length === 1);
    const { requestId } = desk.notified[0]!.request;
    const handle = world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
    const forged = [
      { requestIds: [requestId], channels: ['auto'] },
      { requestIds: ['f'.repeat(32)] },
      { requestIds: 'all' },
      { requestIds: [requestId], step: { kind: 'asked', dueAt: 'x' } },
      null,
      7,
    ];
    for (const changed of forged) await handle.signal('changed', changed);
    await world.client.decide({ requestId, approved: false }, { workflowId: run.workflowId });
    await ended(run);
    expect(desk.notified).toHaveLength(1);
    expect(auto.asked).toHaveLength(0);
  });

  test('a workflow of this name for a run that does not exist ends', async () => {
    await open({ desk: recordedChannel() });
    const workflowId = channelsWorkflowId('nobody');
    await world.client.session.client.workflow.execute('approvalChannels', {
      workflowId,
      taskQueue: world.taskQueue,
      args: [{ workflowId: 'nobody' }],
    });
  });
});

describe('the channels of a run', () => {
  test('are those of the reviewers who are asked; an escalation adds others', async () => {
    const [desk, ann, boss] = [
      recordedChannel({ resolves: false }),
      recordedChannel({ resolves: false }),
      recordedChannel({ resolves: false }),
    ];
    const ask = { reviewers: ['ann'], escalate: [{ after: '1s', to: ['boss'] }], remind: '2s' };
    const rule = { pattern: 'pay', action: 'ask', ask };
    await open(
      { desk, ann, boss },
      { policy: { rules: [rule] }, routes: { reviewers: { ann: ['ann'], boss: ['boss'] } } },
    );
    const run = await world.start(turns);
    await eventually('both are asked', () => ann.notified.length >= 1 && boss.notified.length >= 1);
    await eventually('both are reminded', () =>
      [ann, boss].every(({ notified }) => notified.some(({ context }) => context.step.kind === 'reminded')),
    );
    expect(desk.notified).toHaveLength(0);
    const { requestId } = ann.notified[0]!.request;
    expect(await world.client.approvals.get(requestId, { workflowId: run.workflowId })).toMatchObject({
      channels: ['ann', 'boss'],
    });
    await world.client.decide({ requestId, approved: true, reviewerId: 'boss' }, { workflowId: run.workflowId });
    await ended(run);
    expect([ann, boss].map(({ settlements }) => settlements.length)).toEqual([1, 1]);
  });

  test('are switched while it waits', async () => {
    const [desk, mail] = [recordedChannel({ resolves: false }), recordedChannel()];
    await open({ desk, mail }, { routes: { default: ['desk'] } });
    const run = await world.start(turns);
    await eventually('the desk is told', () => desk.notified.length === 1);
    await expect(world.client.setPolicy(run.workflowId, { channels: ['fax'] })).rejects.toMatchObject({
      code: 'policy_invalid',
    });
    await world.client.setPolicy(run.workflowId, { channels: ['mail'] });
    await eventually('the other one is asked', () => mail.asked.length === 1);
    mail.answer(true);
    expect((await ended(run)).output).toBe('paid 5 to ann');
    expect(desk.settlements).toHaveLength(1);
  });

  test('a channel of its own time-out ends the request as expired', async () => {
    await open({ console: recordedChannel({ timeoutMs: 1_000 }) });
    const run = await world.start(turns);
    expect((await ended(run)).outcomes).toMatchObject([{ outcome: 'expired' }]);
  });

  test('cost a run six events for each change of its open requests, and none if there are none', async () => {
    const counted = async (channels: Record<string, Channel>): Promise<number> => {
      await open(channels);
      const run = await world.start(turns);
      const [request] = await run.open();
      await world.client.decide({ requestId: request!.requestId, approved: true }, { workflowId: run.workflowId });
      await run.result();
      const { historyLength } = await run.handle.describe();
      return historyLength;
    };
    const without = await counted({});
    await world.close();
    const withOne = await counted({ desk: recordedChannel({ resolves: false }) });
    expect(withOne - without).toBeLessThanOrEqual(12);
  });
});
