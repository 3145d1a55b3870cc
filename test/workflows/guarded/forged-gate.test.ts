import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { WorkflowHandle, WorkflowStartOptions } from '@temporalio/client';
import { projectHistories } from '../../support/read-histories.ts';
import type { CarriedGate } from '../../../src/workflow.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import { startForeignWorker, type ForeignWorker } from '../../support/foreign-worker.ts';
import { carriedBy, forgedGate } from '../replay/forge-past.ts';
import type { GatedWorld } from '../../support/gated-world.ts';
import { openGatedWorld } from '../../support/gated-world.ts';

/** The gate of a user's own workflow does not accept a forged past from anybody (I1, docs/gate.md). */

let world: GatedWorld;
let foreign: ForeignWorker;
let forged: CarriedGate;
beforeAll(async () => {
  world = await openGatedWorld({ policy: { version: 1, rules: [{ pattern: 'pay', action: 'ask' }] } });
  foreign = await startForeignWorker();
  const { handle } = await rolled();
  forged = forgedGate(await carriedBy<CarriedGate>(world.client, handle.workflowId));
  await handle.terminate();
});
afterAll(async () => {
  await foreign.close();
  await world.close();
});

function start(type: string, args: unknown[], options: Partial<WorkflowStartOptions> = {}): Promise<WorkflowHandle> {
  const workflowId = `${type}-${randomUUID()}`;
  const { taskQueue } = world;
  return world.client.session.client.workflow.start(type, { workflowId, taskQueue, args, ...options });
}

/** A workflow that continued as new while its call waited for a decision. */
async function rolled(options: Partial<WorkflowStartOptions> = {}) {
  const handle = world.client.session.client.workflow.getHandle((await start('rolls', [1], options)).workflowId);
  const [request] = await world.open(handle);
  await handle.signal('roll');
  await eventually('it continues as new', async () => (await executions(handle)).length === 2);
  const approve = (): Promise<void> => handle.signal('decide', { requestId: request!.requestId, approved: true });
  return { handle, request: request!, approve };
}

const executions = async ({ workflowId }: WorkflowHandle) => (await world.client.historyChain(workflowId)).executions;
const notWritten = {
  type: 'forbidden',
  message: expect.stringMatching(/^The carried state was not written by the execution before this one/),
};

/** The failure of the last execution of a workflow, once it has ended. */
function failureOf(handle: WorkflowHandle): Promise<unknown> {
  return eventually('the execution fails', async () => {
    const last = (await executions(handle)).at(-1)?.events.at(-1);
    const failure = last?.workflowExecutionFailedEventAttributes?.failure;
    return failure && { message: failure.message, type: failure.applicationFailureInfo?.type };
  });
}

test('continue-as-new: the request keeps its id, the call runs once, and the journal has no gap', async () => {
  const { handle, request, approve } = await rolled();
  expect(await world.open(handle)).toEqual([request]);
  await approve();
  expect(await handle.result()).toEqual({ executions: 2, paid: { result: 'paid 1 to a' } });
  expect(world.ran()).toEqual(['pay a 1']);
  const { gaps, requests } = projectHistories(await executions(handle));
  expect({ gaps, requests }).toMatchObject({ gaps: [], requests: [{ outcome: 'approved', runs: true }] });
});

describe('refused, and nothing runs', () => {
  test("a starter's state in a first execution", async () => {
    const handle = await start('rolls', [1, forged]);
    expect(await failureOf(handle)).toMatchObject(notWritten);
  });

  test("a starter's state that a first execution passes on without verifying it", async () => {
    const handle = await start('passesOn', [forged]);
    expect(await handle.result()).toMatchObject(notWritten);
  });

  test("state from a message instead of the carried one, with its writer's name", async () => {
    const handle = await start('takesFromSignal', []);
    const [first] = await eventually('it continues as new', async () => {
      const both = await executions(handle);
      return both.length === 2 && both;
    });
    const { workflowId } = handle;
    const writer = { workflowId, runId: first!.runId };
    const { workflow } = world.client.session.client;
    await workflow.getHandle(workflowId).signal('state', { ...forged, writer });
    expect(await handle.result()).toMatchObject(notWritten);
  });

  test('state of a workflow of another type', async () => {
    const target = { workflowType: 'rolls', taskQueue: world.taskQueue, input: 1, carried: forged };
    const handle = await start('continuesAs', [target], { taskQueue: foreign.taskQueue });
    expect(await failureOf(handle)).toMatchObject({
      type: 'forbidden',
      message: expect.stringMatching(/'continuesAs': only a workflow of the same type/),
    });
  });

  test('state of an execution that the server retries', async () => {
    const retry = { maximumAttempts: 2, initialInterval: '10ms' };
    const { played } = await inTime(8, (seconds) => rolled({ retry, workflowRunTimeout: `${seconds}s` }));
    const { handle, approve } = played;
    await eventually('the server retries', async () => (await executions(handle)).length === 3);
    await approve().catch(() => undefined);
    expect(await failureOf(handle)).toMatchObject(notWritten);
  });

  afterEach(() => {
    // oxlint-disable-next-line vitest/no-standalone-expect -- it belongs to each test of this block
    expect(world.ran()).toEqual([]);
  });
});

test('a retried workflow without carried state starts afresh: new request ids, and an old decision is refused', async () => {
  const retry = { maximumAttempts: 2, initialInterval: '10ms' };
  // Of each attempt, the request is seen and answered before it ends, too.
  const { played } = await inTime(16, async (seconds) => {
    const started = await start('rolls', [1], { retry, workflowRunTimeout: `${seconds / 2}s` });
    const handle = world.client.session.client.workflow.getHandle(started.workflowId);
    const [before] = await world.open(handle);
    await eventually('the server retries', async () => (await executions(handle)).length === 2);
    const [again] = await world.open(handle);
    const decision = { requestId: before!.requestId, approved: true };
    const late = await world.client
      .decide(decision, { workflowId: handle.workflowId })
      .catch((error: unknown) => error);
    return { before, again, late };
  });
  const { before, again, late } = played;
  expect(again!.requestId).not.toBe(before!.requestId);
  expect(late).toMatchObject({ code: 'unknown_request' });
  expect(world.ran()).toEqual([]);
});
