import { afterAll, afterEach, expect, test } from 'vitest';
import { DefaultLogger, MetricsBuffer, Runtime, makeTelemetryFilterString } from '@temporalio/worker';
import type { GatedActivities } from '../../../src/core/policy/gated-activity.ts';
import { gated } from './gated-declarations.ts';
import { openGatedWorld, type GatedWorld } from '../../support/gated-world.ts';
import { hasBegun, resetTo } from '../../support/reset-to.ts';

/** Calls without a permit, while a gate comes into a system that runs (docs/deploy.md). */

const warnings: { message: string; meta?: Record<string, unknown> }[] = [];
const metrics = new MetricsBuffer();
// A worker that a file before has left would keep its runtime.
await Runtime.instance().shutdown();
Runtime.install({
  logger: new DefaultLogger('WARN', ({ message, meta }) => warnings.push({ message, ...(meta && { meta }) })),
  telemetryOptions: {
    logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) },
    metrics: { buffer: metrics },
  },
});

let world: GatedWorld;
afterEach(() => world.close());
// The SDK gives every later runtime of the process the options of the last one.
afterAll(async () => {
  await Runtime.instance().shutdown();
  Runtime.install({});
  await Runtime.instance().shutdown();
});

const later = '2099-01-01';
const latest = '2100-01-01';
const past = '2020-01-01T00:00:00Z';

const withWindow = (gatedSince: string, ungatedUntil: string): GatedActivities => {
  const window = { gatedSince, ungatedUntil };
  return { ...gated, pay: { ...gated.pay, ...window }, failsOnce: { ...gated.failsOnce, ...window } };
};

async function openWith(gatedSince: string, ungatedUntil: string): Promise<void> {
  world = await openGatedWorld({
    gated: withWindow(gatedSince, ungatedUntil),
    policy: {
      version: 1,
      rules: [
        { pattern: 'pay', action: 'ask' },
        { pattern: 'pay:mallory', action: 'deny', reason: 'Never' },
        // Whether it counts depends on what only a run knows.
        { pattern: 'pay:bob', action: 'deny', when: 'agent == "tester"' },
      ],
    },
  });
}

const bare = async (name: string, ...args: unknown[]): Promise<unknown> =>
  ((await world.run('trustedCalls', [{ name, args }])) as unknown[])[0];

test('an execution that started before the gate calls its activity as before, and each call is counted', async () => {
  await openWith(later, latest);
  expect(await bare('pay', 'ann', 7)).toEqual({ result: 'paid 7 to ann' });
  expect(await bare('pay', 'ann')).toEqual({ result: 'paid 5 to ann' });
  // The author's retries count; without a rule, its risk has nobody to ask.
  expect(await bare('failsOnce')).toEqual({ result: 'paid' });
  expect(world.ran()).toEqual(['pay ann 7', 'pay ann 5', 'failsOnce 1', 'failsOnce 2']);
  const told = warnings.filter(({ message }) => message.includes('runs without a permit'));
  expect(told.map(({ message }) => message)).toEqual([
    ...Array.from({ length: 2 }, () => `'pay' runs without a permit: its execution is older than its gate`),
    ...Array.from({ length: 2 }, () => `'failsOnce' runs without a permit: its execution is older than its gate`),
  ]);
  expect(told[0]!.meta).toMatchObject({ workflowType: 'trustedCalls', ungatedUntil: '2100-01-01T00:00:00.000Z' });
  const counted = [...metrics.retrieveUpdates()].flatMap(({ metric, attributes, value }) =>
    metric.name === 'countersign_ungated_calls'
      ? [[attributes['activityType'], attributes['workflowType'], value]]
      : [],
  );
  const once = (activity: string) => [activity, 'trustedCalls', 1];
  expect(counted).toEqual([once('pay'), once('pay'), once('failsOnce'), once('failsOnce')]);
});

test('what a rule of the ceiling denies does not run', async () => {
  await openWith(later, latest);
  expect(await bare('pay', 'mallory', 1)).toMatchObject({ cause: 'denied_by_policy' });
  expect(await bare('pay', 'bob', 1)).toMatchObject({ cause: 'denied_by_policy' });
  expect(world.ran()).toEqual([]);
});

test('an activity without such a window is refused', async () => {
  await openWith(later, latest);
  expect(await bare('order', { item: 'tea' })).toMatchObject({ cause: 'forbidden' });
});

test('a workflow with the gate asks as always', async () => {
  await openWith(later, latest);
  const handle = await world.start('calls', [{ name: 'pay', args: ['ann', 7] }]);
  const [request] = await world.open(handle);
  await handle.signal('decide', { requestId: request!.requestId, approved: false });
  expect(await handle.result()).toMatchObject([{ type: 'denied' }]);
  expect(world.ran()).toEqual([]);
});

test.each([
  ['an execution that started after it', past, latest, /its execution started at \S+, not before gatedSince, 2020-/],
  ['any execution once the time is over', past, '2020-01-02T00:00:00Z', /ungatedUntil, 2020-01-02T\S+, has passed$/],
])('%s is refused', async (_name, gatedSince, ungatedUntil, message) => {
  await openWith(gatedSince, ungatedUntil);
  const handle = await world.start('trustedCalls', [{ name: 'pay', args: ['ann', 7] }]);
  expect(await handle.result()).toMatchObject([{ cause: 'forbidden' }]);
  const { events } = await handle.fetchHistory();
  const failure = events!.find((event) => event.activityTaskFailedEventAttributes != null);
  expect(failure!.activityTaskFailedEventAttributes!.failure!.message).toMatch(message);
  expect(world.ran()).toEqual([]);
});

test('an execution that is reset later counts as new', async () => {
  await openWith(later, latest);
  const handle = await world.start('trustedCalls', [{ name: 'pay', args: ['ann', 7] }]);
  await handle.result();
  await world.stopWorker();
  await world.startWorker({ gated: withWindow(new Date().toISOString(), latest) });
  await resetTo(world, handle.workflowId, hasBegun);
  const reset = world.client.session.client.workflow.getHandle(handle.workflowId);
  expect(await reset.result()).toMatchObject([{ cause: 'forbidden' }]);
  expect(world.ran()).toEqual(['pay ann 7']);
});
