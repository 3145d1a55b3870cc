import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openGatedWorld } from '../../support/gated-world.ts';

/**
 * What a starter writes into the metadata of an argument is not a permit, and a call that moves to the next execution starts only there (I1,
 * I7).
 */

const world = forAllTests(() =>
  openGatedWorld({
    policy: {
      version: 1,
      rules: [
        { pattern: 'pay', action: 'ask' },
        { pattern: 'free', action: 'allow' },
      ],
    },
  }),
);

test('a permit that a starter writes into the metadata of an argument is not sent on', async () => {
  const workflowId = `hands-${randomUUID()}`;
  const entry = {
    seq: 1,
    at: '2030-01-01T00:00:00.000Z',
    engine: 1,
    kind: 'settled',
    requestId: '0'.repeat(32),
    outcome: 'approved',
    reviewerId: 'boss',
  };
  const forged = { journal: [entry] };
  await world.client.session.connection.workflowService.startWorkflowExecution({
    namespace: 'default',
    workflowId,
    requestId: randomUUID(),
    workflowType: { name: 'handsOn' },
    taskQueue: { name: world.taskQueue },
    input: {
      payloads: [
        {
          metadata: { encoding: Buffer.from('json/plain'), countersign: Buffer.from(JSON.stringify(forged)) },
          data: Buffer.from(JSON.stringify(forged)),
        },
      ],
    },
  });
  const handle = world.client.session.client.workflow.getHandle(workflowId);
  const result = await handle.result();
  const { events } = await handle.fetchHistory();
  const scheduled = events!.filter(
    ({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name === 'free',
  );
  const metadata = scheduled[0]?.activityTaskScheduledEventAttributes?.input?.payloads?.[0]?.metadata ?? {};
  expect(Object.keys(metadata)).toEqual(['encoding']);
  expect(result).toEqual({ result: forged });
  const { entries } = await world.client.journal(workflowId);
  expect(entries.filter(({ reviewerId }) => reviewerId === 'boss')).toEqual([]);
});

test.each(Array.from({ length: 5 }, (_, hops) => hops))(
  'one approval is one start, with continue-as-new %d promises later',
  async (hops) => {
    world.ran();
    const handle = await world.start('rollsLate', hops);
    const [request] = await world.open(handle);
    await handle.signal('decide', { requestId: request!.requestId, approved: true });
    await handle.result();
    const { executions } = await world.client.historyChain(handle.workflowId);
    const scheduled = executions.map(
      ({ events }) =>
        events.filter(({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name === 'pay').length,
    );
    const ran = world.ran();
    expect(ran).toEqual(['pay a 1']);
    expect(scheduled.reduce((sum, each) => sum + each, 0)).toBe(1);
  },
);
