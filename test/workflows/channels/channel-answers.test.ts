import { afterAll, beforeAll, expect, test } from 'vitest';
import { channelsWorkflowId } from '../../../src/contract.ts';
import { type ChannelStage, openChannelStage } from './channel-stage.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import { recordedChannel } from './recorded-channel.ts';
import type { World } from '../../support/world.ts';

let stage: ChannelStage;
let world: World;
beforeAll(async () => {
  stage = await openChannelStage();
  ({ world } = stage);
});
afterAll(() => stage.close());

const asking = (ask: object): object => ({ rules: [{ pattern: 'pay', action: 'ask', ask }] });

test.concurrent('a channel whose request is extended is asked beyond the old deadline', async () => {
  const { played } = await inTime(8, async (seconds) => {
    const asked = recordedChannel();
    const started = await stage.start({ desk: asked }, { policy: asking({ timeout: `${seconds}s` }) });
    await eventually('the channel is asked', () => asked.asked.length === 1);
    const { requestId } = asked.asked[0]!.request;
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await world.client.extend({ requestId, until }, { workflowId: started.workflowId });
    return { channel: asked, run: started };
  });
  const { channel, run } = played;
  await eventually('it is asked again', () => channel.asked.length === 2);
  await eventually('the first call hears that its time is over', () => channel.asked[0]!.signal.aborted);
  channel.answer(true);
  channel.answer(true);
  expect((await run.result()).output).toBe('paid 5 to ann');
});

test.concurrent('a channel that is switched off answers no more', async () => {
  const [keen, hall] = [recordedChannel(), recordedChannel({ resolves: false })];
  const run = await stage.start({ keen, hall }, { routes: { default: ['keen'] } });
  await eventually('the channel is asked', () => keen.asked.length === 1);
  await world.client.setPolicy(run.workflowId, { channels: ['hall'] });
  await eventually('its call is cancelled', () => keen.asked[0]!.signal.aborted);
  keen.answer(true);
  const [request] = await run.open();
  await world.client.decide({ requestId: request!.requestId, approved: false }, { workflowId: run.workflowId });
  expect((await run.result()).output).toBe('Denied: User denied');
});

test.concurrent('a channel that fails once it has company denies nothing', async () => {
  const [desk, boss] = [recordedChannel(), recordedChannel({ resolves: false })];
  const policy = asking({ reviewers: ['ann'], escalate: [{ after: '1s', to: ['boss'] }] });
  const run = await stage.start({ desk, boss }, { policy, routes: { reviewers: { ann: ['desk'], boss: ['boss'] } } });
  await eventually('both have the request', () => desk.asked.length === 1 && boss.notified.length >= 1);
  desk.fail(new RangeError('gone'));
  const handle = stage.channelsOf(run);
  await eventually('the failure is noted', async () =>
    JSON.stringify(await handle.query('deliveries')).includes('RangeError'),
  );
  const [request] = await run.open();
  const { requestId } = request!;
  await world.client.decide({ requestId, approved: true, reviewerId: 'boss' }, { workflowId: run.workflowId });
  expect((await run.result()).output).toBe('paid 5 to ann');
});

test.concurrent(
  'an escalation reaches the channel that it adds as a request and as an escalation, whichever is first',
  async () => {
    const [hall, boss] = [recordedChannel({ resolves: false }), recordedChannel({ resolves: false })];
    const policy = asking({ reviewers: ['ann'], escalate: [{ after: '1s', to: ['boss'] }] });
    const run = await stage.start({ hall, boss }, { policy, routes: { reviewers: { ann: ['hall'], boss: ['boss'] } } });
    const kinds = (): string[] => boss.notified.map(({ context }) => context.step.kind);
    await eventually('both are sent', () => kinds().length === 2);
    expect(kinds()).toEqual(['asked', 'escalated']);
    expect(boss.notified[1]!.context).toMatchObject({ step: { to: ['boss'] }, sent: { message: 1 } });
    const keys = [hall, boss].flatMap(({ notified }) => notified.map(({ context }) => context.key));
    expect(new Set(keys).size).toBe(keys.length);
    const { requestId } = boss.notified[0]!.request;
    await world.client.decide({ requestId, approved: true, reviewerId: 'ann' }, { workflowId: run.workflowId });
    await stage.channelsOf(run).result();
  },
);

test.concurrent('a channel with retries is asked until a quorum is complete', async () => {
  const people = ['ann', 'bob'];
  const channel = recordedChannel({
    resolve: (_request, _signal, { refused }) => ({
      approved: true,
      reviewerId: people[refused === undefined ? 0 : 1]!,
    }),
  });
  const run = await stage.start({ keen: channel }, { policy: asking({ reviewers: people, quorum: 2 }) });
  expect((await run.result()).output).toBe('paid 5 to ann');
});

test.concurrent('an automatic approval that a rule does not admit is left to people', async () => {
  const desk = recordedChannel();
  const run = await stage.start({ careful: desk }, { policy: asking({ reviewers: ['ann'] }) });
  await eventually('people are asked', () => desk.asked.length === 1);
  expect(desk.notified).toHaveLength(1);
  desk.answer({ approved: true, reviewerId: 'ann' });
  expect((await run.result()).output).toBe('paid 5 to ann');
  await stage.channelsOf(run).result();
  expect(desk.settlements).toHaveLength(1);
});

test.concurrent('a forged step names no reviewer, comes not before its time, and is taken once', async () => {
  const hall = recordedChannel({ resolves: false });
  const policy = asking({ reviewers: ['ann'], escalate: [{ after: '1h', to: ['boss'] }] });
  const run = await stage.start({ hall }, { policy });
  await eventually('the message is sent', () => hall.notified.length === 1);
  const { requestId } = hall.notified[0]!.request;
  const handle = stage.channelsOf(run);
  const past = new Date(Date.now() - 60_000).toISOString();
  const steps = [
    { kind: 'escalated', to: ['eve'], dueAt: past },
    { kind: 'escalated', to: [], dueAt: past },
    { kind: 'escalated', to: { 0: 'ann' }, dueAt: past },
    { kind: 'reminded', dueAt: new Date(Date.now() + 3_600_000).toISOString() },
    { kind: 'reminded', dueAt: 'soon' },
    ...Array.from({ length: 30 }, () => ({ kind: 'reminded', dueAt: past, to: ['eve'] })),
  ];
  for (const step of steps) await handle.signal('changed', { requestIds: [requestId], step });
  await eventually('the one that the run may have taken is sent', () => hall.notified.length === 2);
  await world.client.decide({ requestId, approved: false, reviewerId: 'ann' }, { workflowId: run.workflowId });
  await handle.result();
  expect(hall.notified.map(({ context }) => context.step)).toEqual([{ kind: 'asked' }, { kind: 'reminded' }]);
});

test.concurrent.each([
  ['the id of another workflow', 'x:nobody', {}],
  [
    'state that no execution has handed over',
    channelsWorkflowId('nobody'),
    { carried: { requests: [], messages: [] } },
  ],
])('the workflow of channels is refused with %s', async (_name, workflowId, input) => {
  const { workflow } = world.client.session.client;
  const started = workflow.execute('approvalChannels', {
    workflowId,
    taskQueue: world.taskQueue,
    args: [{ workflowId: 'nobody', ...input }],
  });
  await expect(started).rejects.toMatchObject({ cause: { type: 'forbidden' } });
});

test.concurrent('the workflow of channels can be cancelled while a message waits', async ({ onTestFinished }) => {
  const collecting = await openChannelStage({ batchMs: 600_000 });
  onTestFinished(() => collecting.close());
  const [team, hall] = [recordedChannel({ resolves: false }), recordedChannel({ resolves: false })];
  const run = await collecting.start({ team, hall });
  await eventually('the other one is told', () => hall.notified.length === 1);
  const handle = collecting.channelsOf(run);
  await handle.cancel();
  await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  const { events } = await handle.fetchHistory();
  expect(events!.filter((each) => each.workflowTaskFailedEventAttributes != null)).toEqual([]);
  await collecting.world.client.cancel(run.workflowId);
  await run.result().catch(() => undefined);
});
