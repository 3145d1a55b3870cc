import { afterEach, expect, test } from 'vitest';
import type { Channel, ChannelFunction } from '../../src/channels/channel.ts';
import { conditional } from '../../src/channels/conditional.ts';
import { channelsWorkflowId } from '../../src/contract.ts';
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
const asking = (ask: object): object => ({ version: 1, rules: [{ pattern: 'pay', action: 'ask', ask }] });
const channelsOf = (run: RunInTest) =>
  world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));

test('a channel that is switched off answers no more', async () => {
  const [hook, desk] = [recordedChannel({ retries: true }), recordedChannel({ resolves: false })];
  await open({ hook, desk }, { routes: { default: ['hook'] } });
  const run = await world.start(turns);
  await eventually('the channel is asked', () => hook.asked.length === 1);
  await world.client.setPolicy(run.workflowId, { channels: ['desk'] });
  await eventually('its call is cancelled', () => hook.asked[0]!.signal.aborted);
  hook.answer(true);
  const [request] = await run.open();
  await world.client.decide({ requestId: request!.requestId, approved: false }, { workflowId: run.workflowId });
  expect((await run.result()).output).toBe('Denied: User denied');
});

test('a channel that fails once it has company denies nothing', async () => {
  const [desk, boss] = [recordedChannel(), recordedChannel({ resolves: false })];
  const policy = asking({ reviewers: ['ann'], escalate: [{ after: '1s', to: ['boss'] }] });
  await open({ desk, boss }, { policy, routes: { reviewers: { ann: ['desk'], boss: ['boss'] } } });
  const run = await world.start(turns);
  await eventually('both have the request', () => desk.asked.length === 1 && boss.notified.length >= 1);
  desk.fail(new RangeError('gone'));
  const handle = channelsOf(run);
  await eventually('the failure is noted', async () =>
    JSON.stringify(await handle.query('deliveries')).includes('RangeError'),
  );
  const [request] = await run.open();
  const { requestId } = request!;
  await world.client.decide({ requestId, approved: true, reviewerId: 'boss' }, { workflowId: run.workflowId });
  expect((await run.result()).output).toBe('paid 5 to ann');
});

test('an escalation reaches the channel that it adds as a request and as an escalation, whichever is first', async () => {
  const [desk, boss] = [recordedChannel({ resolves: false }), recordedChannel({ resolves: false })];
  const policy = asking({ reviewers: ['ann'], escalate: [{ after: '1s', to: ['boss'] }] });
  await open({ desk, boss }, { policy, routes: { reviewers: { ann: ['desk'], boss: ['boss'] } } });
  const run = await world.start(turns);
  const kinds = (): string[] => boss.notified.map(({ context }) => context.step.kind);
  await eventually('both are sent', () => kinds().length === 2);
  expect(kinds()).toEqual(['asked', 'escalated']);
  expect(boss.notified[1]!.context).toMatchObject({ step: { to: ['boss'] }, sent: { message: 1 } });
  const keys = [desk, boss].flatMap(({ notified }) => notified.map(({ context }) => context.key));
  expect(new Set(keys).size).toBe(keys.length);
  const { requestId } = boss.notified[0]!.request;
  await world.client.decide({ requestId, approved: true, reviewerId: 'ann' }, { workflowId: run.workflowId });
  await channelsOf(run).result();
});

test('a channel with retries is asked until a quorum is complete', async () => {
  const people = ['ann', 'bob'];
  const channel = recordedChannel({
    retries: true,
    resolve: (_request, _signal, { refused }) => ({
      approved: true,
      reviewerId: people[refused === undefined ? 0 : 1]!,
    }),
  });
  await open({ channel }, { policy: asking({ reviewers: people, quorum: 2 }) });
  const run = await world.start(turns);
  expect((await run.result()).output).toBe('paid 5 to ann');
});

test('an automatic approval that a rule does not admit is left to people', async () => {
  const desk = recordedChannel();
  await open({ desk: conditional({ below: 'critical', otherwise: desk }) }, { policy: asking({ reviewers: ['ann'] }) });
  const run = await world.start(turns);
  await eventually('people are asked', () => desk.asked.length === 1);
  expect(desk.notified).toHaveLength(1);
  desk.answer({ approved: true, reviewerId: 'ann' });
  expect((await run.result()).output).toBe('paid 5 to ann');
  await channelsOf(run).result();
  expect(desk.settlements).toHaveLength(1);
});

test('a channel whose request is extended is asked beyond the old deadline', async () => {
  const channel = recordedChannel();
  await open({ desk: channel }, { policy: asking({ timeout: '4s' }) });
  const run = await world.start(turns);
  await eventually('the channel is asked', () => channel.asked.length === 1);
  const { requestId } = channel.asked[0]!.request;
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await world.client.extend({ requestId, until }, { workflowId: run.workflowId });
  await eventually('it is asked again', () => channel.asked.length === 2, 30_000);
  await eventually('the first call hears that its time is over', () => channel.asked[0]!.signal.aborted);
  channel.answer(true);
  channel.answer(true);
  expect((await run.result()).output).toBe('paid 5 to ann');
});

test('a forged step names no reviewer, comes not before its time, and is taken once', async () => {
  const desk = recordedChannel({ resolves: false });
  const policy = asking({ reviewers: ['ann'], escalate: [{ after: '1h', to: ['boss'] }] });
  await open({ desk }, { policy });
  const run = await world.start(turns);
  await eventually('the message is sent', () => desk.notified.length === 1);
  const { requestId } = desk.notified[0]!.request;
  const handle = channelsOf(run);
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
  await eventually('the one that the run may have taken is sent', () => desk.notified.length === 2);
  await world.client.decide({ requestId, approved: false, reviewerId: 'ann' }, { workflowId: run.workflowId });
  await handle.result();
  expect(desk.notified.map(({ context }) => context.step)).toEqual([{ kind: 'asked' }, { kind: 'reminded' }]);
});

test.each([
  ['the id of another workflow', 'x:nobody', {}],
  [
    'state that no execution has handed over',
    channelsWorkflowId('nobody'),
    { carried: { requests: [], messages: [] } },
  ],
])('the workflow of channels is refused with %s', async (_name, workflowId, input) => {
  await open({ desk: recordedChannel() });
  const { workflow } = world.client.session.client;
  const started = workflow.execute('approvalChannels', {
    workflowId,
    taskQueue: world.taskQueue,
    args: [{ workflowId: 'nobody', ...input }],
  });
  await expect(started).rejects.toMatchObject({ cause: { type: 'forbidden' } });
});

test('the workflow of channels can be cancelled while a message waits', async () => {
  const [desk, loud] = [recordedChannel({ resolves: false, batch: true }), recordedChannel({ resolves: false })];
  await open({ desk, loud }, { batchMs: 600_000 });
  const run = await world.start(turns);
  await eventually('the other one is told', () => loud.notified.length === 1);
  const handle = channelsOf(run);
  await handle.cancel();
  await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  const { events } = await handle.fetchHistory();
  expect(events!.filter((each) => each.workflowTaskFailedEventAttributes != null)).toEqual([]);
  await world.client.cancel(run.workflowId);
  await run.result().catch(() => undefined);
});
