import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WorkflowHandle } from '@temporalio/client';
import type { Receipt, RunResult } from '../../../src/contract.ts';
import { HeldLoading, signalled } from './held-loading.ts';
import type { World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** Messages that arrive while `countersign.loadAgent` runs, before the policies of a first execution are known. */

const loading = new HeldLoading();
let world: World;
beforeAll(async () => {
  world = await openWorld({ interceptors: loading.interceptors });
});
afterAll(async () => {
  loading.release();
  await world.close();
});

const turns = [{ calls: [{ tool: 'pay', args: { to: 'slow', amount: 1 } }] }, { text: 'done' }];

/** Starts a run whose agent is not loaded before `release` is called. */
function startHeld(): Promise<WorkflowHandle> {
  loading.hold();
  return world.client.session.client.workflow.start('agentRun', {
    workflowId: `run-${randomUUID()}`,
    taskQueue: world.taskQueue,
    args: [{ agent: 'tester', input: JSON.stringify(turns) }],
  });
}

/** The model may answer while the policy is read: then the policy denies the open request. */
async function expectDenied(handle: WorkflowHandle): Promise<void> {
  const { outcomes } = (await handle.result()) as RunResult;
  expect(['denied_by_policy', 'superseded']).toContain(outcomes[0]?.outcome);
  expect(world.ran()).toEqual([]);
}

const denyPay = { version: 1, rules: [{ pattern: 'pay', action: 'deny', reason: 'not now' }] };

test('signals that arrive while the agent is loaded are applied in order before the first ruling', async () => {
  const handle = await startHeld();
  await signalled(handle, 'noise');
  await signalled(handle, 'decide', { requestId: 'unknown', approved: true });
  await signalled(handle, 'setPolicy', { policy: denyPay });
  await signalled(handle, 'decide', { requestId: 'unknown', approved: false });
  loading.release();
  await expectDenied(handle);
});

test('an update that arrives while the agent is loaded is answered once it is loaded', async () => {
  const handle = await startHeld();
  const changed = handle.executeUpdate<Receipt, [object]>('setPolicy', { args: [{ policy: denyPay }] });
  const refused = handle
    .executeUpdate<Receipt, [object]>('decide', { args: [{ requestId: 'unknown', approved: true }] })
    .catch((error: unknown) => error);
  await signalled(handle, 'noise');
  loading.release();
  expect(await changed).toMatchObject({ accepted: true });
  expect(await refused).toBeInstanceOf(Error);
  await expectDenied(handle);
});
