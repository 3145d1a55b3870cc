/** How often channels are told, and of what: counted in calls, because seconds depend on the machine. */
import { expect, test } from 'vitest';
import { activityNames, deliveriesName } from '../../../src/contract.ts';
import { openChannelStage } from './channel-stage.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { recordedChannel } from './recorded-channel.ts';
import { openWorld, type RunInTest } from '../../support/world.ts';

const stage = forAllTests(() => openChannelStage({ policy: { approval: { max_pending: 50 } } }));

async function calls(run: RunInTest, activity: string): Promise<number> {
  const { events = [] } = await stage.channelsOf(run).fetchHistory();
  return events!.filter((each) => each.activityTaskScheduledEventAttributes?.activityType?.name === activity).length;
}

test.concurrent('fifty requests of one message that are settled at once are told in a few calls', async () => {
  const team = recordedChannel({ resolves: false });
  const pays = Array.from({ length: 50 }, (_, amount) => ({ tool: 'pay', args: { to: 'ann', amount } }));
  const run = await stage.start({ team }, { turns: [{ calls: pays }, { text: 'done' }] });
  await run.open(50);
  const sent = (): string[] =>
    team.notified.flatMap(({ context }) => context.requests.map(({ requestId }) => requestId));
  await eventually('all are sent', () => sent().length === 50);
  const messages = team.notified.length;
  const looks = await calls(run, activityNames.lookAtRequests);
  await stage.world.client.decide(
    sent().map((requestId) => ({ requestId, approved: false, reviewerId: 'bob' })),
    { workflowId: run.workflowId },
  );
  await stage.ended(run);
  const told = team.settlements.flatMap(({ context }) => context.settled!.map(({ requestId }) => requestId));
  expect(told.toSorted()).toEqual(sent().toSorted());
  // One call for each message; another one if the decisions came in two parts.
  expect(team.settlements.length).toBeLessThanOrEqual(2 * messages);
  expect(await calls(run, activityNames.channelSettled)).toBe(team.settlements.length);
  expect((await calls(run, activityNames.lookAtRequests)) - looks).toBeLessThanOrEqual(2);
  expect(team.settlements.at(-1)!.context.requests.every(({ settled }) => settled !== undefined)).toBe(true);
});

test.concurrent('a channel that is switched off does not get what it was collecting', async ({ onTestFinished }) => {
  const [team, hall] = [recordedChannel({ resolves: false }), recordedChannel({ resolves: false })];
  const collecting = await openChannelStage({ batchMs: 600_000 });
  onTestFinished(() => collecting.close());
  const { client } = collecting.world;
  const run = await collecting.start({ team, hall }, { routes: { default: ['team'] } });
  const [request] = await run.open();
  const isCollecting = async (): Promise<boolean> =>
    // Its workflow begins a moment after the request.
    (
      await stage
        .channelsOf(run)
        .query<{ channels: string[] }[]>(deliveriesName)
        .catch(() => [])
    ).some(({ channels }) => channels.includes('team'));
  await eventually('the message collects', isCollecting);
  await client.setPolicy(run.workflowId, { channels: ['hall'] });
  await eventually('the other channel is told', () => hall.notified.length === 1);
  await eventually('nothing collects', async () => !(await isCollecting()));
  await client.decide({ requestId: request!.requestId, approved: true }, { workflowId: run.workflowId });
  await stage.ended(run);
  expect(team.notified).toHaveLength(0);
  expect(team.settlements).toHaveLength(0);
});

test.concurrent('a delegate hears of the request, and who gave it to them', async ({ onTestFinished }) => {
  const [desk, bob] = [recordedChannel({ resolves: false }), recordedChannel({ resolves: false })];
  const policy = { rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'] } }] };
  // The table comes from a directory, and is recorded when the run starts.
  let reads = 0;
  const routes = async () => {
    reads += 1;
    return { reviewers: { ann: ['desk'], bob: ['bob'] } };
  };
  const world = await openWorld({ channels: { desk, bob }, policy, routes });
  onTestFinished(() => world.close());
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 5 } }] }, { text: 'done' }]);
  const [request] = await run.open();
  const { requestId } = request!;
  await eventually('ann hears of it', () => desk.notified.length === 1);
  await world.client.delegate({ requestId, to: 'bob', by: 'ann' }, { workflowId: run.workflowId });
  await eventually('bob hears of it', () => bob.notified.length === 1);
  const [{ request: shown, context }] = bob.notified as [(typeof bob.notified)[number]];
  expect(context.step.kind).toBe('asked');
  expect(shown.delegations).toMatchObject([{ from: 'ann', to: 'bob' }]);
  await world.client.decide({ requestId, approved: true, reviewerId: 'bob' }, { workflowId: run.workflowId });
  await stage.ended(run);
  expect([desk.settlements.length, bob.settlements.length, reads]).toEqual([1, 1, 1]);
});

test.concurrent('a run whose id leaves no room for a prefix has channels, too', async () => {
  const workflowId = `run-${'x'.repeat(990)}${Date.now()}`.slice(-995);
  const run = await stage.start({ desk: recordedChannel({ resolve: () => true }) }, { workflowId });
  expect((await stage.ended(run)).output).toBe('paid 5 to ann');
});

test.concurrent('an error of a channel does not pass for a call that was not made', async () => {
  const resolve = (): never => {
    throw Object.assign(new Error('down'), { name: 'NotCalled' });
  };
  const run = await stage.start({ desk: recordedChannel({ resolve }) });
  expect((await run.result()).output).toBe('Denied: Approval handler error: Error.');
});
