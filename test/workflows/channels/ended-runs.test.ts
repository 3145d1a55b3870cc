/** Runs that end without a word: their channels hear of it all the same. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { httpTemplateChannel } from '../../../src/adapters/on-call/http-template-channel.ts';
import { lookForEndedRuns } from '../../../src/channels/activities/look-for-ended-runs.ts';
import { changedName, endedRunsWorkflowId } from '../../../src/contract.ts';
import { type ChannelStage, openChannelStage } from './channel-stage.ts';
import { eventually } from '../../support/eventually.ts';
import { type HttpServiceInTest, openHttpService } from '../../support/http-service.ts';
import { pagerDutyTemplate } from '../../adapters/on-call/pager-duty.ts';
import { recordedChannel } from './recorded-channel.ts';
import type { RunInTest, World } from '../../support/world.ts';

let stage: ChannelStage;
let world: World;
let pager: HttpServiceInTest;
beforeAll(async () => {
  [stage, pager] = await Promise.all([openChannelStage(), openHttpService()]);
  ({ world } = stage);
  pager.answer = { status: 202, body: '{}' };
});
afterAll(async () => {
  await stage?.close();
  await pager?.stop();
});

const pagerChannel = () => httpTemplateChannel({ ...pagerDutyTemplate(pager.url), allowAddresses: ['127.0.0.1'] });
const eventsOf = (requestId: string): unknown[] =>
  pager.requests
    .map(({ body }) => JSON.parse(body) as { event_action: string; dedup_key: string })
    .filter(({ dedup_key: key }) => key.endsWith(requestId))
    .map(({ event_action: action }) => action);
const handleOf = ({ workflowId }: RunInTest) => world.client.session.client.workflow.getHandle(workflowId);

async function remove(workflowId: string): Promise<void> {
  const { connection, namespace } = world.client.session;
  await connection.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
}

async function isListed(workflowId: string, status: string): Promise<boolean> {
  const query = `WorkflowId = '${workflowId.replaceAll("'", "''")}' AND ExecutionStatus = '${status}'`;
  const { executions } = await world.client.session.connection.workflowService.listWorkflowExecutions({
    namespace: world.client.session.namespace,
    query,
  });
  return executions.length > 0;
}

/** How often the channels of a run were signalled. */
async function signals(run: RunInTest): Promise<number> {
  const { events = [] } = await stage.channelsOf(run).fetchHistory();
  return events!.filter((each) => each.workflowExecutionSignaledEventAttributes?.signalName === changedName).length;
}

const ways: [string, string, (run: RunInTest) => Promise<unknown>, string | RegExp][] = [
  ['terminated', 'Terminated', (run) => handleOf(run).terminate(), 'the run has ended'],
  ['deleted', 'Deleted', ({ workflowId }) => remove(workflowId), 'The run is gone.'],
];

test.concurrent.each(ways)('a run that is %s: one look retires all copies', async (_, status, end, reason) => {
  const [hall, team] = [recordedChannel({ resolves: false }), recordedChannel({ resolves: false })];
  const run = await stage.start({ hall, team, boss: pagerChannel() });
  await eventually('all are sent', () => hall.notified.length === 1 && team.notified.length === 1);
  const [{ request }] = hall.notified as [(typeof hall.notified)[number]];
  await eventually('the incident is open', () => eventsOf(request.requestId).length === 1);
  await end(run);
  await eventually('the index knows', async () =>
    status === 'Deleted' ? !(await isListed(run.workflowId, 'Running')) : isListed(run.workflowId, status),
  );
  const { open } = await lookForEndedRuns(world.client.session, world.taskQueue);
  expect(open).toBeGreaterThan(0);
  await stage.channelsOf(run).result();
  expect(eventsOf(request.requestId)).toEqual(['trigger', 'resolve']);
  for (const { settlements } of [hall, team]) {
    expect(settlements).toMatchObject([
      {
        request: { requestId: request.requestId, workflowId: run.workflowId, toolName: 'pay', agentName: 'tester' },
        settlement: { outcome: 'cancelled', runs: false, reason },
        context: { sent: { message: 1 } },
      },
    ]);
  }
});

test.concurrent(
  'a run that goes on is left alone, whatever its id, and one that has ended is signalled once',
  async () => {
    const hall = recordedChannel({ resolves: false });
    const ids = ["it's", 'a"b', 'a\\b', 'x'.repeat(985)].map((id) => `${randomUUID()}${id}`.slice(0, 1_000));
    const runs = await Promise.all(ids.map((workflowId) => stage.start({ hall }, { workflowId })));
    await eventually('all are sent', () => hall.notified.length === runs.length);
    const { connection, namespace } = world.client.session;
    const query = `TaskQueue = '${world.taskQueue}' AND ExecutionStatus = 'Running' AND WorkflowType = 'agentRun'`;
    await eventually('the index has them', async () => {
      const { executions } = await connection.workflowService.listWorkflowExecutions({ namespace, query });
      return ids.every((id) => executions.some(({ execution }) => execution?.workflowId === id));
    });
    await lookForEndedRuns(world.client.session, world.taskQueue);
    expect(await Promise.all(runs.map(signals))).toEqual([1, 1, 1, 1]);
    await Promise.all(runs.map((run) => handleOf(run).terminate()));
    const stays = recordedChannel({
      resolves: false,
      settled: () => {
        throw new Error('down');
      },
    });
    const kept = await stage.start({ boss: stays });
    await eventually('it is sent', () => stays.notified.length === 1);
    await handleOf(kept).terminate();
    await eventually('the index knows', () => isListed(kept.workflowId, 'Terminated'));
    await lookForEndedRuns(world.client.session, world.taskQueue);
    await eventually('its request is not followed any more', async () => {
      const followed = await stage.channelsOf(kept).query<unknown[]>('deliveries');
      return followed.length === 0;
    });
    await lookForEndedRuns(world.client.session, world.taskQueue);
    expect(await signals(kept)).toBe(2);
    await Promise.all(runs.map((run) => stage.channelsOf(run).result()));
    await stage.channelsOf(kept).terminate();
  },
);

test.concurrent(
  'one workflow of the task queue looks each minute, and settles what has ended',
  async ({ onTestFinished }) => {
    const alone = await openChannelStage();
    onTestFinished(() => alone.close());
    const { client, taskQueue } = alone.world;
    const [one, other] = [recordedChannel({ resolves: false }), recordedChannel({ resolves: false })];
    const runs = await Promise.all([alone.start({ hall: one }), alone.start({ hall: other })]);
    await eventually('both are sent', () => one.notified.length === 1 && other.notified.length === 1);
    await remove(runs[0].workflowId);
    await alone.channelsOf(runs[0]).result();
    expect(one.settlements).toMatchObject([{ settlement: { outcome: 'cancelled', reason: 'The run is gone.' } }]);
    expect(other.settlements).toEqual([]);
    const { events = [] } = await client.session.client.workflow
      .getHandle(endedRunsWorkflowId(taskQueue))
      .fetchHistory();
    const timers = events!.flatMap((each) => each.timerStartedEventAttributes?.startToFireTimeout?.seconds ?? []);
    expect(new Set(timers.map(String))).toEqual(new Set(['60']));
    const looks = events!.filter((each) => each.activityTaskScheduledEventAttributes != null);
    // One look for both runs after each minute that has passed.
    expect(looks.length).toBe(events!.filter((each) => each.timerFiredEventAttributes != null).length);
    await alone.world.client.session.client.workflow.getHandle(runs[1].workflowId).terminate();
  },
);
