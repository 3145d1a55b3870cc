import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { readPage } from '../../src/client/history/history-chain.ts';
import { untilAborted } from '../../src/client/server/session.ts';
import { grpcStatus, grpcStatusOf } from '../../src/connection/server-error.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { openWorld } from '../support/world.ts';
import { eventually } from '../support/eventually.ts';

const world = forAllTests(() => openWorld());

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

test('a signal holds no call, and so no answer, once the call is over', async () => {
  const run = await world.start([{ text: 'done' }]);
  await run.result();
  const { signal } = new AbortController();
  for await (const event of world.client.events(run.workflowId, { signal, follow: false })) void event;
  for await (const event of world.client.events(run.workflowId, { signal })) void event;
  const missing = { workflowId: run.workflowId, runId: '00000000-0000-4000-8000-000000000000' };
  await expect(readPage(world.client.session, missing, { signal })).rejects.toThrow();
  expect(listenersOf(signal)).toBe(0);
});

test('a signal that aborts ends a call that waits; one that has aborted, before it is made', async () => {
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'a', amount: 1 } }] }, { text: 'done' }]);
  const [request] = await run.open();
  const { session } = world.client;
  const stop = new AbortController();
  const ended = untilAborted(session, stop.signal, () =>
    session.client.workflow.getHandle(run.workflowId).result(),
  ).catch((error: Error) => error);
  await eventually('the call listens', async () => listenersOf(stop.signal) === 1);
  stop.abort(new Error('stopped'));
  expect(grpcStatusOf(await ended)).toBe(grpcStatus.CANCELLED);
  expect(listenersOf(stop.signal)).toBe(0);
  let calls = 0;
  await expect(untilAborted(session, stop.signal, async () => (calls += 1))).rejects.toThrow('stopped');
  expect(calls).toBe(0);
  await world.client.decide({ requestId: request!.requestId, approved: false });
  await run.result();
});
