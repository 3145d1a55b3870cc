import { describe, expect, test } from 'vitest';
import { ApplicationFailure } from '@temporalio/common';
import { channelsWorkflowId } from '../../../src/contract.ts';
import { type ChannelStage, openChannelStage, payOnce } from './channel-stage.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import type { NotifyContext } from '../../../src/channels/channel.ts';
import { recordedChannel } from './recorded-channel.ts';
import { openWorld, type RunInTest } from '../../support/world.ts';

const stage = forAllTests(() => openChannelStage());

const start: ChannelStage['start'] = (channels, run) => stage.start(channels, run);
const ended: ChannelStage['ended'] = (run) => stage.ended(run);

const pay = { tool: 'pay', args: { to: 'ann', amount: 5 } };

async function decide(run: RunInTest, requestId: string, decision: { approved: boolean; reviewerId?: string }) {
  await stage.world.client.decide({ requestId, ...decision }, { workflowId: run.workflowId });
}

describe.concurrent('a channel that answers', () => {
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
    const run = await start({ desk: channel });
    await eventually('the channel is asked', () => channel.asked.length === 1);
    channel.answer(answer);
    expect((await ended(run)).output).toContain(output);
    expect(channel.notified).toHaveLength(1);
    expect(channel.settlements.map(({ context }) => context.sent)).toEqual([{ message: 1 }]);
  });

  test('has not seen what the user has written since: it is asked again, and no approval counts before', async () => {
    const channel = recordedChannel();
    const run = await start({ desk: channel }, { session: true });
    await eventually('the channel is asked', () => channel.asked.length === 1);
    await run.handle.executeUpdate('message', { args: [{ content: 'Wait.' }] });
    await eventually('the channel is told', () => channel.notified.length === 2);
    expect(channel.notified[1]).toMatchObject({
      request: { userMessages: { count: 1, last: ['Wait.'] } },
      context: { step: { kind: 'user_wrote' }, sent: { message: 1 } },
    });
    channel.answer({ approved: true, userMessages: 0 });
    await eventually('the channel is asked again', () => channel.asked.length === 2);
    expect(await run.status()).toMatchObject({ counts: { open: 1 } });
    channel.answer({ approved: true, userMessages: 1 });
    await run.awaitsUser();
    expect(stage.world.ran()).toContain('pay ann 5');
    await run.handle.signal('close');
    await ended(run);
    expect(channel.settlements).toHaveLength(1);
  });

  test('is asked once its message is sent, and gets what finds the message', async () => {
    const channel = recordedChannel({
      resolve: (_request, _signal, { sent }) => ({ approved: false, reason: JSON.stringify(sent) }),
    });
    const run = await start({ desk: channel });
    expect((await ended(run)).output).toBe('Denied: {"message":1}');
  });

  test('throws: the call is denied at once with the type of the error', async () => {
    const channel = recordedChannel();
    const run = await start({ desk: channel });
    await eventually('the channel is asked', () => channel.asked.length === 1);
    channel.fail(new RangeError('a secret detail'));
    const { output } = await ended(run);
    expect(output).toBe('Denied: Approval handler error: RangeError.');
    expect(channel.asked).toHaveLength(1);
  });

  test('throws beside another channel: the request stays open', async () => {
    const [broken, other] = [recordedChannel(), recordedChannel()];
    const run = await start({ desk: broken, other });
    await eventually('both are asked', () => broken.asked.length === 1 && other.asked.length === 1);
    broken.fail(new Error('down'));
    const handle = stage.channelsOf(run);
    await eventually('the failure is noted', async () => {
      const [delivered] = await handle.query<{ failures: string[] }[]>('deliveries');
      return delivered?.failures.some((text) => text.startsWith('desk: Error: down'));
    });
    other.answer(true);
    expect((await ended(run)).output).toBe('paid 5 to ann');
  });

  test('with retries: an error and a refused answer are asked about again', async () => {
    const channel = recordedChannel();
    const run = await start({ keen: channel });
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
    const run = await start({ desk: channel });
    await eventually('the channel is asked', () => channel.asked.length === 1);
    const { requestId } = channel.asked[0]!.request;
    await decide(run, requestId, { approved: false, reviewerId: 'bob' });
    await eventually('its signal aborts', () => channel.asked[0]!.signal.aborted);
    await ended(run);
    expect(channel.settlements).toMatchObject([{ settlement: { outcome: 'denied', reviewerId: 'bob' } }]);
  });

  test('answers after the deadline: nothing changes', async () => {
    const { played, seconds } = await inTime(8, async (timeoutS) => {
      const asked = recordedChannel();
      const started = await start({ desk: asked }, { policy: { approval: { timeout: `${timeoutS}s` } } });
      await eventually('the channel is asked', () => asked.asked.length === 1);
      return { channel: asked, run: started };
    });
    const { channel, run } = played;
    expect((await run.result()).output).toBe(`Denied: no decision within ${seconds}s`);
    channel.answer(true);
    expect((await ended(run)).outcomes).toMatchObject([{ outcome: 'expired', ran: 'no' }]);
    expect(channel.settlements).toMatchObject([{ settlement: { outcome: 'expired' } }]);
  });
});

describe.concurrent('one truth on all channels', () => {
  test('a message that fails is sent again until it arrives, and denies nothing; then the channel may answer', async () => {
    const attempts: number[] = [];
    const notify = (_: unknown, { attempt }: NotifyContext): string => {
      attempts.push(attempt);
      // More than the first call and the one that follows it.
      if (attempts.length < 5) throw ApplicationFailure.create({ message: 'no route', nextRetryDelay: '1ms' });
      return 'sent';
    };
    const channel = recordedChannel({ notify });
    const run = await start({ desk: channel });
    await eventually('the channel is asked', () => channel.asked.length === 1);
    expect(attempts).toEqual([1, 2, 3, 4, 5]);
    channel.answer(true);
    expect((await run.result()).output).toBe('paid 5 to ann');
  });

  test('a message that its receiver refuses for good is not sent again, and the channel may answer', async () => {
    let attempts = 0;
    const notify = (): never => {
      attempts += 1;
      throw ApplicationFailure.nonRetryable('no such desk');
    };
    const channel = recordedChannel({ notify });
    const run = await start({ desk: channel });
    await eventually('the channel is asked', () => channel.asked.length === 1);
    expect(attempts).toBe(1);
    channel.answer(true);
    expect((await run.result()).output).toBe('paid 5 to ann');
  });

  test('ten requests of one turn go out in one message, and each is told once that it is settled, with all of them', async () => {
    const channel = recordedChannel({ resolves: false });
    const calls = Array.from({ length: 10 }, (_, amount) => ({ tool: 'pay', args: { to: 'ann', amount } }));
    const run = await start({ team: channel }, { turns: [{ calls }, { text: 'done' }] });
    await eventually('the message is sent', () => channel.notified.length === 1);
    const { requests } = channel.notified[0]!.context;
    expect(requests).toHaveLength(10);
    const [first, second, third, ...rest] = requests.map(({ requestId }) => requestId);
    for (const requestId of [first!, second!, third!])
      await decide(run, requestId, { approved: true, reviewerId: 'bob' });
    const told = (): string[] =>
      channel.settlements.flatMap(({ context }) => (context.settled ?? []).map(({ requestId }) => requestId));
    await eventually('three are told', () => told().length === 3);
    const settled = (): number[] =>
      channel.settlements.map(({ context }) => context.requests.filter((each) => each.settled !== undefined).length);
    expect(settled().at(-1)).toBe(3);
    expect(channel.settlements.every(({ context }) => context.requests.length === 10)).toBe(true);
    await stage.world.client.decide(
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

  test('what comes while a message collects goes out with it, once; what is settled meanwhile does not', async ({
    onTestFinished,
  }) => {
    const calls = ['ann', 'bob'].map((to) => ({ tool: 'pay', args: { to, amount: 1 } }));
    const { played } = await inTime(8, async (seconds) => {
      const team = recordedChannel({ resolves: false });
      const collecting = await openChannelStage({ batchMs: seconds * 1_000 });
      onTestFinished(() => collecting.close());
      const started = await collecting.start({ team }, { turns: [{ calls }, ...payOnce] });
      const [first, second] = await started.open(2);
      await decide(started, first!.requestId, { approved: true });
      return { channel: team, run: started, second };
    });
    const { channel, run, second } = played;
    await eventually('the message is sent', () => channel.notified.length > 0);
    const idsOf = ({ context }: { context: { requests: readonly { requestId: string }[] } }): string[] =>
      context.requests.map(({ requestId }) => requestId);
    expect(channel.notified.map(idsOf)).toEqual([[second!.requestId]]);
    await decide(run, second!.requestId, { approved: true });
    const third = await eventually('the next request', async () =>
      (await run.open()).find(({ requestId }) => requestId !== second!.requestId),
    );
    await eventually('its message is sent', () => channel.notified.length > 1);
    await decide(run, third.requestId, { approved: true });
    await ended(run);
    expect(channel.notified.map(idsOf)).toEqual([[second!.requestId], [third.requestId]]);
    expect(channel.settlements.map(({ request }) => request.requestId)).toEqual([second!.requestId, third.requestId]);
    const handle = stage.channelsOf(run);
    const { events } = await handle.fetchHistory();
    const types = events!.map((each) => each.activityTaskScheduledEventAttributes?.activityType?.name);
    expect(types.filter((type) => type === 'countersign.channelNotify')).toHaveLength(2);
  });

  test('a channel that only tells hears of a decision, and whose it was', async () => {
    const channel = recordedChannel({ resolves: false });
    const run = await start({ hall: channel });
    await eventually('the message is sent', () => channel.notified.length === 1);
    const { requestId } = channel.notified[0]!.request;
    await decide(run, requestId, { approved: true, reviewerId: 'bob' });
    await eventually('the settlement is told', () => channel.settlements.length === 1);
    expect(channel.settlements[0]).toMatchObject({ settlement: { outcome: 'approved', reviewerId: 'bob' } });
    await ended(run);
  });

  test.each([
    ['closed', (run: RunInTest) => stage.world.client.closeRun(run.workflowId, { reason: 'enough' })],
    ['cancelled', (run: RunInTest) => stage.world.client.cancel(run.workflowId)],
  ])('a run that is %s says so on its channels', async (_case, end) => {
    const channel = recordedChannel({ resolves: false });
    const run = await start({ hall: channel });
    await eventually('the message is sent', () => channel.notified.length === 1);
    await end(run);
    await eventually('the end is told', () => channel.settlements.length === 1);
    expect(channel.settlements).toMatchObject([{ settlement: { outcome: 'cancelled' } }]);
    await stage.channelsOf(run).result();
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
    const run = await start({ hall: channel });
    const [request] = await run.open();
    await eventually('the message is sent', () => calls.length > 0);
    const { requestId } = request!;
    await decide(run, requestId, { approved: false });
    await ended(run);
    expect(calls).toEqual(['sent, then failed', 'denied, sent undefined']);
  });
});

/** The time of day, in UTC, in so many minutes. */
const soon = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);

describe.concurrent('quiet hours', () => {
  const above = 'medium' as const;
  const quiet = forAllTests(() =>
    openChannelStage({ quietHours: { from: soon(-60), to: soon(60), timeZone: 'UTC', above } }),
  );

  test('an urgent request does not wait for the end of the quiet hours beside others', async () => {
    const channel = recordedChannel({ resolves: false });
    const calls = [pay, { tool: 'wipe', args: {} }];
    const policy = { rules: [{ pattern: '*', action: 'ask' }], approval: { timeout: '3h' } };
    const run = await quiet.start({ team: channel }, { turns: [{ calls }, { text: 'done' }], policy });
    const requests = await run.open(2);
    const urgent = requests.find(({ toolName }) => toolName === 'wipe')!;
    await eventually('the urgent one is sent', () => channel.notified.length > 0);
    expect(channel.notified.map(({ context }) => context.requests.map(({ requestId }) => requestId))).toEqual([
      [urgent.requestId],
    ]);
    for (const { requestId } of requests) await decide(run, requestId, { approved: false });
    await ended(run);
    expect(channel.notified).toHaveLength(1);
    expect(channel.settlements.map(({ request }) => request.requestId)).toEqual([urgent.requestId]);
  });

  test('a request that ends before the quiet hours do is sent at once', async () => {
    const channel = recordedChannel({ resolves: false });
    const run = await quiet.start({ team: channel });
    const [request] = await run.open();
    await eventually('it is sent', () => channel.notified.length > 0);
    await decide(run, request!.requestId, { approved: false });
    await ended(run);
  });

  test('an automatic answer does not wait for the end of the quiet hours, and nobody is told', async () => {
    const desk = recordedChannel();
    const run = await quiet.start({ careful: desk });
    expect((await ended(run)).output).toBe('paid 5 to ann');
    expect([desk.notified, desk.asked, desk.settlements]).toEqual([[], [], []]);
  });

  test('a reminder that waits for the end of the quiet hours holds no settlement up', async ({ onTestFinished }) => {
    const channel = recordedChannel({ resolves: false });
    const quietHours = { from: soon(120), to: soon(180), timeZone: 'UTC' };
    const later = await openChannelStage({ quietHours });
    onTestFinished(() => later.close());
    const ask = { remind: '3s', timeout: '3h' };
    const run = await later.start({ hall: channel }, { policy: { rules: [{ pattern: 'pay', action: 'ask', ask }] } });
    const [request] = await run.open();
    await eventually('the message is sent', () => channel.notified.length > 0);
    // They begin.
    Object.assign(quietHours, { from: soon(-60), to: soon(60) });
    const handle = later.channelsOf(run);
    await eventually('a reminder waits', async () => {
      const { events } = await handle.fetchHistory();
      const seconds = events!.map((each) => Number(each.timerStartedEventAttributes?.startToFireTimeout?.seconds ?? 0));
      return seconds.some((each) => each > 1_800);
    });
    const before = channel.notified.length;
    await decide(run, request!.requestId, { approved: true });
    await ended(run);
    expect(channel.settlements).toHaveLength(1);
    expect(channel.notified).toHaveLength(before);
  });
});

describe.concurrent('crashes and forgeries', () => {
  test('a worker is shut down: a message is not sent again, a channel that thinks is asked again, and nothing is denied', async ({
    onTestFinished,
  }) => {
    const crashing = await openChannelStage();
    onTestFinished(() => crashing.close());
    const { world } = crashing;
    const telling = recordedChannel({ resolves: false });
    const told = await crashing.start({ hall: telling });
    const thinkers = await Promise.all(
      (['desk', 'keen'] as const).map(async (name) => {
        const channel = recordedChannel();
        return { channel, run: await crashing.start({ [name]: channel }) };
      }),
    );
    await eventually('the message is sent', () => telling.notified.length === 1);
    for (const { channel } of thinkers) await eventually('the channel is asked', () => channel.asked.length === 1);
    await world.stopWorker();
    const { requestId } = telling.notified[0]!.request;
    await told.handle.signal('decide', { requestId, approved: true });
    await world.startWorker();
    expect((await crashing.ended(told)).output).toBe('paid 5 to ann');
    expect([telling.notified.length, telling.settlements.length]).toEqual([1, 1]);
    for (const { channel, run } of thinkers) {
      await eventually('it is asked again', () => channel.asked.length === 2);
      channel.fail(new Error('too late'));
      channel.answer(true);
      expect((await crashing.ended(run)).output).toBe('paid 5 to ann');
      expect(channel.notified).toHaveLength(1);
    }
  });

  test('a run continues as new while its channels wait: nothing is sent twice', async ({ onTestFinished }) => {
    const continuing = await openChannelStage({ continueAsNewAfter: { historyEvents: 20 } });
    onTestFinished(() => continuing.close());
    const channel = recordedChannel();
    const turns = [{ calls: [{ tool: 'look', args: { what: 'a' } }] }, ...payOnce];
    const run = await continuing.start({ desk: channel }, { turns });
    await eventually('the channel is asked', () => channel.asked.length === 1);
    await eventually('the run continued', async () => (await run.status()).executions > 1);
    channel.answer(true);
    expect((await continuing.ended(run)).output).toBe('paid 5 to ann');
    expect(channel.notified).toHaveLength(1);
  });

  test('forged signals name no channel, open nothing and break nothing', async () => {
    const [hall, desk] = [recordedChannel({ resolves: false }), recordedChannel()];
    const run = await start({ hall, desk }, { routes: { default: ['hall'] } });
    await eventually('the message is sent', () => hall.notified.length === 1);
    const { requestId } = hall.notified[0]!.request;
    const handle = stage.channelsOf(run);
    const forged = [
      { requestIds: [requestId], channels: ['desk'] },
      { requestIds: ['f'.repeat(32)] },
      { requestIds: 'all' },
      { requestIds: [requestId], step: { kind: 'asked', dueAt: 'x' } },
      null,
      7,
    ];
    for (const changed of forged) await handle.signal('changed', changed);
    await decide(run, requestId, { approved: false });
    await ended(run);
    expect(hall.notified).toHaveLength(1);
    expect(desk.asked).toHaveLength(0);
  });

  test('a workflow of this name for a run that does not exist ends', async () => {
    const { client, taskQueue } = stage.world;
    await client.session.client.workflow.execute('approvalChannels', {
      workflowId: channelsWorkflowId('nobody'),
      taskQueue,
      args: [{ workflowId: 'nobody' }],
    });
  });
});

describe.concurrent('the channels of a run', () => {
  test('are those of the reviewers who are asked; an escalation adds others', async () => {
    const [desk, ann, boss] = [
      recordedChannel({ resolves: false }),
      recordedChannel({ resolves: false }),
      recordedChannel({ resolves: false }),
    ];
    const ask = { reviewers: ['ann'], escalate: [{ after: '1s', to: ['boss'] }], remind: '2s' };
    const policy = { rules: [{ pattern: 'pay', action: 'ask', ask }] };
    const routes = { default: ['hall'], reviewers: { ann: ['ann'], boss: ['boss'] } };
    const run = await start({ hall: desk, ann, boss }, { policy, routes });
    await eventually('both are asked', () => ann.notified.length >= 1 && boss.notified.length >= 1);
    await eventually('both are reminded', () =>
      [ann, boss].every(({ notified }) => notified.some(({ context }) => context.step.kind === 'reminded')),
    );
    expect(desk.notified).toHaveLength(0);
    const { requestId } = ann.notified[0]!.request;
    expect(await stage.world.client.approvals.get(requestId, { workflowId: run.workflowId })).toMatchObject({
      channels: ['ann', 'boss'],
    });
    await decide(run, requestId, { approved: true, reviewerId: 'boss' });
    await ended(run);
    expect([ann, boss].map(({ settlements }) => settlements.length)).toEqual([1, 1]);
  });

  test('are switched while it waits', async () => {
    const [hall, desk] = [recordedChannel({ resolves: false }), recordedChannel()];
    const run = await start({ hall, desk }, { routes: { default: ['hall'] } });
    await eventually('the hall is told', () => hall.notified.length === 1);
    const { client } = stage.world;
    await expect(client.setPolicy(run.workflowId, { channels: ['fax'] })).rejects.toMatchObject({
      code: 'policy_invalid',
    });
    await client.setPolicy(run.workflowId, { channels: ['desk'] });
    await eventually('the other one is asked', () => desk.asked.length === 1);
    desk.answer(true);
    expect((await ended(run)).output).toBe('paid 5 to ann');
    expect(hall.settlements).toHaveLength(1);
  });

  test('a channel of its own time-out ends the request as expired', async () => {
    const run = await start({ brief: recordedChannel() });
    expect((await ended(run)).outcomes).toMatchObject([{ outcome: 'expired' }]);
  });

  test('cost a run six events for each change of its open requests, and none if there are none', async ({
    onTestFinished,
  }) => {
    const counted = async (run: RunInTest): Promise<number> => {
      const [request] = await run.open();
      await decide(run, request!.requestId, { approved: true });
      await run.result();
      const { historyLength } = await run.handle.describe();
      return historyLength;
    };
    const withoutChannels = await openWorld();
    onTestFinished(() => withoutChannels.close());
    const without = await counted(await withoutChannels.start(payOnce));
    const withOne = await counted(await start({ hall: recordedChannel({ resolves: false }) }));
    expect(withOne - without).toBeLessThanOrEqual(12);
  });
});
