/** What fails on its way to a channel, or from it, is tried until it has arrived. */
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { activityNames, channelsWorkflowId, type Receipt } from '../../../src/contract.ts';
import { type ActivityFaults, activityFaults } from './activity-faults.ts';
import { type ChannelStage, openChannelStage } from './channel-stage.ts';
import { eventually } from '../../support/eventually.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { recordedChannel } from './recorded-channel.ts';

const { announce, notify, channelDecide, channelSettled } = activityNames;

// Activities fail here on purpose.
installQuietRuntime({ errors: false });

let stage: ChannelStage;
let faults: ActivityFaults;
beforeAll(async () => {
  faults = activityFaults();
  stage = await openChannelStage({ interceptors: faults.interceptors });
});
afterAll(() => stage.close());

const ask = { reviewers: ['ann'], escalate: [{ after: '1s', to: ['boss'] }] };
const escalating = { rules: [{ pattern: 'pay', action: 'ask', ask }] };
const newId = (): string => `run-${randomUUID()}`;
const refuses = (): never => {
  throw ApplicationFailure.nonRetryable('not now', 'Quota');
};

test.concurrent('a settlement whose call an operator refuses reaches the channel later', async () => {
  const workflowId = newId();
  faults.set(channelsWorkflowId(workflowId), channelSettled, 2, refuses);
  const desk = recordedChannel({ resolve: () => true });
  await stage.ended(await stage.start({ desk }, { workflowId }));
  expect(faults.left(channelsWorkflowId(workflowId), channelSettled)).toBe(0);
  expect(desk.settlements).toHaveLength(1);
});

test.concurrent('a settlement at which the channel fails five times reaches it later, with the same key', async () => {
  const keys: string[] = [];
  const settled = (_request: unknown, _settlement: unknown, { key }: { key: string }): void => {
    keys.push(key);
    if (keys.length <= 5) throw ApplicationFailure.create({ message: 'down', nextRetryDelay: '1ms' });
  };
  await stage.ended(await stage.start({ desk: recordedChannel({ resolve: () => true, settled }) }));
  expect(keys).toHaveLength(6);
  expect(new Set(keys).size).toBe(1);
});

test.concurrent('a channel that refuses a settlement for good is called once', async () => {
  let calls = 0;
  const settled = (): never => {
    calls += 1;
    throw ApplicationFailure.nonRetryable('the message is gone');
  };
  await stage.ended(await stage.start({ desk: recordedChannel({ resolve: () => true, settled }) }));
  expect(calls).toBe(1);
});

test.concurrent.each<NonNullable<Receipt['code']>>(['rate_limited', 'internal', 'no_worker'])(
  'the denial of a channel that fails arrives after a receipt with %s',
  async (code) => {
    const workflowId = newId();
    const receipt = { requestId: '', accepted: false, code, message: 'not now' } satisfies Receipt;
    faults.set(channelsWorkflowId(workflowId), channelDecide, 2, () => receipt);
    const resolve = (): never => {
      throw new RangeError('down');
    };
    const run = await stage.start({ desk: recordedChannel({ resolve }) }, { workflowId });
    expect((await run.result()).output).toBe('Denied: Approval handler error: RangeError.');
  },
);

test.concurrent('an announcement that fails many times in a row is made later', async () => {
  const workflowId = newId();
  faults.set(workflowId, announce, 4, refuses);
  const desk = recordedChannel({ resolve: () => true });
  const run = await stage.start({ desk }, { workflowId });
  expect((await run.result()).output).toBe('paid 5 to ann');
  expect(desk.notified).toHaveLength(1);
});

test.concurrent('announcements that fail do not keep a run from its end', async () => {
  const workflowId = newId();
  faults.set(workflowId, announce, 1_000, refuses);
  const desk = recordedChannel({ resolve: () => true });
  const run = await stage.start({ desk }, { workflowId });
  const [request] = await run.open();
  await eventually('three have failed', () => faults.left(workflowId, announce) <= 997);
  await stage.world.client.decide({ requestId: request!.requestId, approved: true }, { workflowId });
  expect((await run.result()).output).toBe('paid 5 to ann');
  expect(desk.notified).toHaveLength(0);
});

test.concurrent('what was not announced is announced by the next execution', async ({ onTestFinished }) => {
  const continuing = await openChannelStage({
    interceptors: faults.interceptors,
    continueAsNewAfter: { historyEvents: 40 },
  });
  onTestFinished(() => continuing.close());
  const workflowId = newId();
  faults.set(workflowId, announce, 1_000, refuses);
  faults.set(workflowId, notify, 1_000, refuses);
  const hall = recordedChannel({ resolves: false });
  const run = await continuing.start({ hall }, { workflowId, policy: escalating });
  await eventually('it continues as new', async () => (await run.status()).executions > 1);
  faults.set(workflowId, announce, 0, refuses);
  faults.set(workflowId, notify, 0, refuses);
  const kinds = (): string[] => hall.notified.map(({ context }) => context.step.kind);
  await eventually('it is asked', () => kinds().includes('asked'));
  await eventually('it hears of the escalation', () => kinds().includes('escalated'));
  const { requestId } = hall.notified[0]!.request;
  await continuing.world.client.decide({ requestId, approved: true, reviewerId: 'boss' }, { workflowId });
  expect((await run.result()).output).toBe('paid 5 to ann');
});

test.concurrent('a step whose notification fails reaches the channel later', async () => {
  const workflowId = newId();
  faults.set(workflowId, notify, 2, refuses);
  const hall = recordedChannel({ resolves: false });
  const policy = {
    rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'], escalate: [{ after: '1s', to: ['boss'] }] } }],
  };
  const run = await stage.start({ hall }, { workflowId, policy });
  await eventually('it hears of the escalation', () =>
    hall.notified.some(({ context: { step } }) => step.kind === 'escalated' && step.to?.includes('boss') === true),
  );
  const { requestId } = hall.notified[0]!.request;
  await stage.world.client.decide({ requestId, approved: true, reviewerId: 'boss' }, { workflowId });
  expect((await run.result()).output).toBe('paid 5 to ann');
});
