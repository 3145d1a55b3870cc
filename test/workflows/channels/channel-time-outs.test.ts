/**
 * Which time-outs of a channel's activities are the channel's own. They take a minute or more, so a stored failure is
 * replaced by each of them: the history replays if the workflow goes on in the same way.
 */
import { ApplicationFailure } from '@temporalio/common';
import proto, { type temporal } from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { activityNames, channelsWorkflowId } from '../../../src/contract.ts';
import { activityFaults } from './activity-faults.ts';
import { type ChannelStage, openChannelStage } from './channel-stage.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { recordedChannel } from './recorded-channel.ts';
import { testBundle } from '../../support/world.ts';

const { channelNotify, channelResolve } = activityNames;
const { EventType, TimeoutType } = proto.temporal.api.enums.v1;
type History = temporal.api.history.v1.IHistory;
type TimeOut = keyof typeof TimeoutType;

// Activities fail, and replays too, on purpose.
installQuietRuntime({ errors: false });

const workflowId = 'run-times-out';
/** A worker that is lost: the workflow waits, and calls the channel again. */
const lost = {
  [channelNotify]: () => Promise.reject(ApplicationFailure.nonRetryable('not now', 'Quota')),
  [channelResolve]: () => Promise.reject(ApplicationFailure.nonRetryable('the worker was shut down', 'WorkerShutdown')),
};
type Lost = keyof typeof lost;

let stage: ChannelStage;
const recorded = new Map<string, History>();
beforeAll(async () => {
  const faults = activityFaults();
  stage = await openChannelStage({ interceptors: faults.interceptors });
  for (const activity of Object.keys(lost) as Lost[]) {
    const id = `${workflowId}-${stage.world.taskQueue}-${activity}`;
    faults.set(channelsWorkflowId(id), activity, 1, lost[activity]);
    const run = await stage.start({ desk: recordedChannel({ resolve: () => true }) }, { workflowId: id });
    await stage.ended(run);
    recorded.set(activity, await stage.channelsOf(run).fetchHistory());
  }
});
afterAll(() => stage.close());

/** The history in which the failed attempt of the activity has timed out in this way. */
function timedOut({ events }: History, type: TimeOut): History {
  const changed = events!.map((event) => {
    const { activityTaskFailedEventAttributes: failed, ...rest } = event;
    if (failed == null) return event;
    const { scheduledEventId, startedEventId, retryState } = failed;
    const failure = { message: 'it timed out', timeoutFailureInfo: { timeoutType: TimeoutType[type] } };
    return {
      ...rest,
      eventType: EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
      activityTaskTimedOutEventAttributes: { scheduledEventId, startedEventId, retryState, failure },
    };
  });
  return { events: changed };
}

async function goesOnAsIfLost(history: History): Promise<boolean> {
  const id = history.events![0]!.workflowExecutionStartedEventAttributes!.workflowId!;
  const workflowBundle = { codePath: testBundle() };
  for await (const { error } of Worker.runReplayHistories({ workflowBundle }, [{ workflowId: id, history }])) {
    if (error === undefined) return true;
    // The SDK does not take every other command for a violation.
    if (error.name === DeterminismViolationError.name || /workflow machines/.test(error.message)) return false;
    throw error;
  }
  throw new Error('nothing was replayed');
}

test.each<[Lost, TimeOut, boolean, string]>([
  [channelNotify, 'TIMEOUT_TYPE_HEARTBEAT', true, 'its worker was lost'],
  [channelNotify, 'TIMEOUT_TYPE_SCHEDULE_TO_START', true, 'no worker took it'],
  [channelNotify, 'TIMEOUT_TYPE_START_TO_CLOSE', true, 'the channel took too long: the message is sent again'],
  [channelResolve, 'TIMEOUT_TYPE_HEARTBEAT', true, 'its worker was lost'],
  [channelResolve, 'TIMEOUT_TYPE_START_TO_CLOSE', false, 'the channel used all its time: the run is asked'],
  [channelResolve, 'TIMEOUT_TYPE_SCHEDULE_TO_CLOSE', false, 'the channel used all its time: the run is asked'],
])('%s, %s: called again as after a lost worker: %s, because %s', async (activity, type, isAgain) => {
  expect(await goesOnAsIfLost(timedOut(recorded.get(activity)!, type))).toBe(isAgain);
});
