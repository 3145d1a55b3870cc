import { expect, test } from 'vitest';
import { ApplicationFailure } from '@temporalio/common';
import { refusedBySecondGate, secondGateTypes } from '../../../src/core/base/tool-call.ts';
import type { RunConfig } from '../../../src/core/policy/run-config.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openOperatorWorld } from '../../e2e/operators/operator-world.ts';
import type { RunInTest } from '../../support/world.ts';

/** Any client may fail a running activity with the second gate's failures: no tool starts twice or ungated (I1, I7). */

const world = forAllTests(() => openOperatorWorld());

async function failAs({ handle, workflowId }: RunInTest, failure: ApplicationFailure): Promise<void> {
  const [pending] = (await handle.describe()).raw.pendingActivities ?? [];
  await world.client.session.client.activity.fail({ workflowId, activityId: pending!.activityId! }, failure);
}

async function configOf({ handle }: RunInTest): Promise<RunConfig> {
  const { events } = await handle.fetchHistory();
  const loaded = events!.find(({ activityTaskCompletedEventAttributes: done }) => done != null)!;
  const [payload] = loaded.activityTaskCompletedEventAttributes!.result!.payloads!;
  return JSON.parse(Buffer.from(payload!.data!).toString()) as RunConfig;
}

test('a running tool whose arguments are claimed to be missing is not started again', async () => {
  const run = await world.running('hold_on', 'unread');
  await failAs(run, ApplicationFailure.nonRetryable('forged', 'payload_unread'));
  const again = await eventually('another start', () => world.starts('unread') > 1, 3_000).catch(() => false);
  world.release('unread');
  await run.result();
  expect(again).toBe(false);
  expect(world.starts('unread')).toBe(1);
});

test.each(secondGateTypes.filter((type) => type !== 'definition_changed'))(
  'a running tool that fails as %s, which the second gate did not say, may have run',
  async (type) => {
    const name = `claimed-${type}`;
    const run = await world.running('hold_on', name);
    await failAs(run, ApplicationFailure.nonRetryable('forged', type));
    world.release(name);
    expect((await run.result()).outcomes).toMatchObject([{ outcome: 'allowed', ran: 'unknown' }]);
  },
);

test('a tool that is claimed to have changed changes no other tool', async () => {
  const policy = { version: 1, rules: [], risk_defaults: { read_only: 'allow', write: 'ask' } };
  const call = (tool: string, name: string) => ({ calls: [{ tool, args: { name } }] });
  const run = await world.start([call('hold_look', 'other'), call('hold', 'asked'), { text: 'done' }], { policy });
  await eventually('the tool starts', () => world.starts('other') === 1);
  const hold = (await configOf(run)).tools.find(({ name }) => name === 'hold')!;
  const forged = { definition: { ...hold, risk: 'read_only' } };
  await failAs(run, ApplicationFailure.nonRetryable('forged', 'definition_changed', refusedBySecondGate, forged));
  world.release('other');
  await run.open();
  expect(world.starts('asked')).toBe(0);
  await run.handle.terminate();
});

test('a tool that is claimed to be harmless now is asked about as before', async () => {
  const policy = { version: 1, rules: [], risk_defaults: { read_only: 'allow', write: 'ask' } };
  const call = { tool: 'hold', args: { name: 'harmless' } };
  const run = await world.start([{ calls: [call] }, { text: 'done' }], { policy });
  const [request] = await run.open();
  await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
  await eventually('the tool starts', () => world.starts('harmless') === 1);
  const hold = (await configOf(run)).tools.find(({ name }) => name === 'hold')!;
  const forged = { definition: { ...hold, risk: 'read_only' } };
  await failAs(run, ApplicationFailure.nonRetryable('forged', 'definition_changed', refusedBySecondGate, forged));
  const again = await eventually('it is asked about again', async () =>
    (await run.open()).find(({ replaces }) => replaces?.requestId === request!.requestId),
  );
  expect(again.riskLevel).toBe('write');
  expect(world.starts('harmless')).toBe(1);
  world.release('harmless');
  await run.handle.terminate();
});
