/** How often channels are told, and of what: counted in calls, because seconds depend on the machine. */
import { afterEach, expect, test } from 'vitest';
import { activityNames, channelsWorkflowId, deliveriesName } from '../../src/contract.ts';
import { eventually } from '../support/eventually.ts';
import { recordedChannel } from '../support/recorded-channel.ts';
import { openWorld, type RunInTest, type World } from '../support/world.ts';

let world: World;
afterEach(() => world.close());

const channelsOf = (run: RunInTest) =>
  world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));

async function calls(run: RunInTest, activity: string): Promise<number> {
  const { events = [] } = await channelsOf(run).fetchHistory();
  return events!.filter((each) => each.activityTaskScheduledEventAttributes?.activityType?.name === activity).length;
}

test('fifty requests of one message that are settled at once are told in a few calls', async () => {
  const team = recordedChannel({ resolves: false, batch: true });
  world = await openWorld({ channels: { team }, policy: { approval: { max_pending: 50 } } });
  const pays = Array.from({ length: 50 }, (_, amount) => ({ tool: 'pay', args: { to: 'ann', amount } }));
  const run = await world.start([{ calls: pays }, { text: 'done' }]);
  await run.open(50);
  const sent = (): string[] =>
    team.notified.flatMap(({ context }) => context.requests.map(({ requestId }) => requestId));
  await eventually('all are sent', () => sent().length === 50);
  const messages = team.notified.length;
  const looks = await calls(run, activityNames.lookAtRequests);
  await world.client.decide(
    sent().map((requestId) => ({ requestId, approved: false, reviewerId: 'bob' })),
    { workflowId: run.workflowId },
  );
  await run.result();
  await channelsOf(run).result();
  const told = team.settlements.flatMap(({ context }) => context.settled!.map(({ requestId }) => requestId));
  expect(told.toSorted()).toEqual(sent().toSorted());
  // One call for each message; another one if the decisions came in two parts.
  expect(team.settlements.length).toBeLessThanOrEqual(2 * messages);
  expect(await calls(run, activityNames.channelSettled)).toBe(team.settlements.length);
  expect((await calls(run, activityNames.lookAtRequests)) - looks).toBeLessThanOrEqual(2);
  expect(team.settlements.at(-1)!.context.requests.every(({ settled }) => settled !== undefined)).toBe(true);
});

test('a channel that is switched off does not get what it was collecting', async () => {
  const [desk, mail] = [recordedChannel({ resolves: false, batch: true }), recordedChannel({ resolves: false })];
  world = await openWorld({ channels: { desk, mail }, routes: { default: ['desk'] }, batchMs: 20_000 });
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 5 } }] }, { text: 'done' }]);
  const [request] = await run.open();
  const isCollecting = async (): Promise<boolean> =>
    (await channelsOf(run).query<{ channels: string[] }[]>(deliveriesName)).some(({ channels }) =>
      channels.includes('desk'),
    );
  await eventually('the message collects', isCollecting);
  await world.client.setPolicy(run.workflowId, { channels: ['mail'] });
  await eventually('the other channel is told', () => mail.notified.length === 1);
  expect(await isCollecting()).toBe(false);
  await world.client.decide({ requestId: request!.requestId, approved: true }, { workflowId: run.workflowId });
  await run.result();
  await channelsOf(run).result();
  expect(desk.notified).toHaveLength(0);
  expect(desk.settlements).toHaveLength(0);
});

test('a delegate hears of the request, and who gave it to them', async () => {
  const [desk, bob] = [recordedChannel({ resolves: false }), recordedChannel({ resolves: false })];
  const policy = { rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'] } }] };
  // The table comes from a directory, and is recorded when the run starts.
  let reads = 0;
  const routes = async () => {
    reads += 1;
    return { reviewers: { ann: ['desk'], bob: ['bob'] } };
  };
  world = await openWorld({ channels: { desk, bob }, policy, routes });
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
  await run.result();
  await channelsOf(run).result();
  expect([desk.settlements.length, bob.settlements.length, reads]).toEqual([1, 1, 1]);
});

test('a run whose id leaves no room for a prefix has channels, too', async () => {
  const desk = recordedChannel({ resolve: () => true });
  world = await openWorld({ channels: { desk } });
  const workflowId = `run-${'x'.repeat(990)}${Date.now()}`.slice(-995);
  const turns = [{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 5 } }] }, { text: '{{lastResult}}' }];
  const args = [{ agent: 'tester', input: JSON.stringify(turns) }];
  await world.client.session.client.workflow.start('agentRun', { workflowId, taskQueue: world.taskQueue, args });
  const run = world.run(workflowId);
  expect((await run.result()).output).toBe('paid 5 to ann');
  await channelsOf(run).result();
});

test('an error of a channel does not pass for a call that was not made', async () => {
  const resolve = (): never => {
    throw Object.assign(new Error('down'), { name: 'NotCalled' });
  };
  world = await openWorld({ channels: { desk: recordedChannel({ resolve }) } });
  const turns = [{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 5 } }] }, { text: '{{lastResult}}' }];
  const run = await world.start(turns);
  expect((await run.result()).output).toBe('Denied: Approval handler error: Error.');
});
