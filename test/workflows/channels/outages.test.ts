/** An outage of a channel is outlasted, costs a bounded number of events, and shows while it lasts. */
import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import type { NotifyContext } from '../../../src/channels/channel.ts';
import { NotTaken, PartlySent } from '../../../src/channels/outgoing/not-taken.ts';
import { activityNames, type Delivered, deliveriesName } from '../../../src/contract.ts';
import { openChannelStage } from './channel-stage.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { recordedChannel } from './recorded-channel.ts';
import type { RunInTest } from '../../support/world.ts';

// Channels fail here on purpose.
installQuietRuntime({ errors: false });

const stage = forAllTests(() => openChannelStage());

/** An error after which the server waits so long, whatever its own pauses are. */
const down = (nextRetryDelay: '1ms' | '1s' | '1h' = '1ms'): ApplicationFailure =>
  ApplicationFailure.create({ message: 'down', type: 'Down', nextRetryDelay });

/** A channel that is away for so many attempts. */
function away(attempts: number) {
  const calls: NotifyContext[] = [];
  const notify = (_: unknown, context: NotifyContext): { message: number } => {
    calls.push(context);
    if (calls.length <= attempts) throw down();
    return { message: calls.length };
  };
  return { calls, channel: recordedChannel({ resolves: false, notify }) };
}

const deny = async (run: RunInTest): Promise<void> => {
  const [request] = await run.open();
  const decision = { requestId: request!.requestId, approved: false, reviewerId: 'bob' };
  await stage.world.client.decide(decision, { workflowId: run.workflowId });
};

const deliveryOf = async (run: RunInTest): Promise<Delivered | undefined> =>
  (await stage.channelsOf(run).query<Delivered[]>(deliveriesName))[0];

/** How many events of each kind the sending of one message has added to the history of the channels' workflow. */
async function eventsOf(run: RunInTest): Promise<Record<string, number>> {
  const { events } = await stage.channelsOf(run).fetchHistory();
  const calls = events!.filter(
    (each) => each.activityTaskScheduledEventAttributes?.activityType?.name === activityNames.channelNotify,
  );
  const isOfCall = ({ scheduledEventId }: { scheduledEventId?: unknown } = {}): boolean =>
    calls.some(({ eventId }) => String(eventId) === String(scheduledEventId));
  const ends = events!.filter((each) => {
    const { activityTaskCompletedEventAttributes: completed, activityTaskFailedEventAttributes: failed } = each;
    return isOfCall(completed ?? failed ?? {});
  });
  // The other timers look at the request from time to time.
  const pauses = events!.filter((each) => Number(each.timerStartedEventAttributes?.startToFireTimeout?.seconds) === 1);
  const marks = events!.filter((each) => each.upsertWorkflowSearchAttributesEventAttributes != null);
  return { calls: calls.length, ends: ends.length, pauses: pauses.length, marks: marks.length };
}

test.concurrent.each([2, 12])(
  'an outage of %i attempts costs two calls, a pause and two marks in history',
  async (attempts) => {
    const { calls, channel } = away(attempts);
    const run = await stage.start({ hall: channel });
    await eventually('the message arrives', () => calls.length > attempts);
    expect(calls.map(({ attempt }) => attempt)).toEqual(Array.from({ length: attempts + 1 }, (_, index) => index + 1));
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
    await eventually('it is known', async () => (await deliveryOf(run))?.undelivered === undefined);
    // Ten events beside workflow tasks, with the starts of the calls and the end of the pause. The server makes all other
    // attempts.
    expect(await eventsOf(run)).toEqual({ calls: 2, ends: 2, pauses: 1, marks: 2 });
    await deny(run);
    await stage.ended(run);
    expect(calls).toHaveLength(attempts + 1);
    expect(channel.settlements).toMatchObject([{ context: { sent: { message: attempts + 1 } } }]);
  },
);

test.concurrent('while it lasts, the run says so, and lists, too', async () => {
  let isBack = false;
  let calls = 0;
  const notify = (): string => {
    calls += 1;
    if (!isBack) throw down('1s');
    return 'sent';
  };
  const run = await stage.start({ hall: recordedChannel({ resolves: false, notify }) });
  const [request] = await run.open();
  await eventually('it is sent', () => calls > 0);
  await eventually('it shows', async () => (await deliveryOf(run))?.undelivered === true);
  const rowOf = async () =>
    (await stage.world.client.approvals.list({ limit: Infinity })).approvals.find(
      ({ requestId }) => requestId === request!.requestId,
    );
  await eventually('the list shows it', async () => (await rowOf())?.undelivered === true);
  isBack = true;
  await eventually('it is over', async () => (await deliveryOf(run))?.undelivered === undefined);
  await eventually('the list knows', async () => (await rowOf())?.undelivered === undefined);
  await deny(run);
  await stage.ended(run);
});

test.concurrent('a channel that has the request makes up for one that fails', async () => {
  const { channel } = away(Infinity);
  const hall = recordedChannel({ resolves: false });
  const run = await stage.start({ ann: channel, hall });
  await eventually('one is told', () => hall.notified.length === 1);
  await eventually('the other fails', async () => (await deliveryOf(run))?.failures.length === 1);
  expect(await deliveryOf(run)).not.toHaveProperty('undelivered');
  await deny(run);
  await stage.ended(run);
});

test.concurrent('what is settled meanwhile is sent to no channel afterwards, and the wait for it ends', async () => {
  let calls = 0;
  const notify = (): never => {
    calls += 1;
    throw down(calls === 1 ? '1ms' : '1h');
  };
  const channel = recordedChannel({ resolves: false, notify });
  const run = await stage.start({ hall: channel });
  await eventually('it waits for an hour', () => calls === 2);
  await deny(run);
  await stage.ended(run);
  expect(calls).toBe(2);
  // It may have reached people.
  expect(channel.settlements).toMatchObject([{ settlement: { outcome: 'denied' }, context: { sent: undefined } }]);
});

test.concurrent('a receiver is left alone for as long as it says, from the first refusal on', async () => {
  const calls: number[] = [];
  const notify = (): void => {
    calls.push(Date.now());
    if (calls.length > 2) return;
    throw new NotTaken({ code: 'rate_limited', message: 'slowly' }, { retryAfterMs: 4_000 });
  };
  const run = await stage.start({ hall: recordedChannel({ resolves: false, notify }) });
  await eventually('it arrives', () => calls.length === 3);
  for (const [index, atMs] of calls.slice(1).entries()) expect(atMs - calls[index]!).toBeGreaterThanOrEqual(3_900);
  await deny(run);
  await stage.ended(run);
});

test.concurrent(
  'a message that has reached some of its people is sent to the others, and keeps no reminder back',
  async () => {
    const steps: string[] = [];
    const notify = (_: unknown, { step, sent }: NotifyContext): { reached: number } => {
      steps.push(`${step.kind} ${JSON.stringify(sent ?? null)}`);
      if (step.kind !== 'asked') return { reached: 1 };
      const { reached = 0 } = (sent ?? {}) as { reached?: number };
      if (reached < 3) throw new PartlySent({ reached: reached + 1 }, new Error('one is missing'));
      return { reached };
    };
    const channel = recordedChannel({ resolves: false, notify });
    const run = await stage.start({ hall: channel });
    await eventually('all have it', () => steps.length === 4);
    expect(steps).toEqual(['asked null', 'asked {"reached":1}', 'asked {"reached":2}', 'asked {"reached":3}']);
    await deny(run);
    await stage.ended(run);
    expect(channel.settlements).toMatchObject([{ context: { sent: { reached: 3 } } }]);
  },
);

test.concurrent('reminders that come during an outage do not follow each other after it', async () => {
  const steps: string[] = [];
  let isBack = false;
  const notify = (_: unknown, { step }: NotifyContext): void => {
    if (step.kind !== 'asked' && !isBack) throw down('1s');
    steps.push(step.kind);
  };
  const policy = { rules: [{ pattern: 'pay', action: 'ask', ask: { remind: '1s', timeout: '1h' } }] };
  const run = await stage.start({ hall: recordedChannel({ resolves: false, notify }) }, { policy });
  const due = async (): Promise<number> => {
    const { events } = await run.handle.fetchHistory();
    return events!.filter(
      (each) => each.activityTaskScheduledEventAttributes?.activityType?.name === activityNames.notify,
    ).length;
  };
  await eventually('three reminders are due', async () => (await due()) >= 3);
  expect(steps).toEqual(['asked']);
  isBack = true;
  await eventually('one arrives', () => steps.length > 1);
  await deny(run);
  await stage.ended(run);
  expect(steps.filter((kind) => kind === 'reminded').length).toBeLessThan(await due());
});
