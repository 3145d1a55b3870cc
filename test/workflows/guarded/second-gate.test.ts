import { randomUUID } from 'node:crypto';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callDigest, definitionDigest } from '../../../src/core/base/digest.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { startForeignWorker, type ForeignWorker } from '../../support/foreign-worker.ts';
import { testAgent } from '../../support/test-agent.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { openWorld } from '../../support/world.ts';

/** Nothing runs ungated (I1): the worker itself refuses what did not pass the gate of a trusted workflow. */

const world = forAllTests(() =>
  openWorld({
    policy: 'version: 1\nrules:\n  - { pattern: "pay:mallory", action: deny, reason: "Never" }\n',
  }),
);

const args = { to: 'ann', amount: 1 };
function permitOf(workflowId: string, callArgs: JsonObject = args, tool = 'pay') {
  const { description, schema } = testAgent(world.folder).tools.find(({ name }) => name === tool)!;
  const definition = definitionDigest({ name: tool, description, schema });
  const digest = callDigest({ tool, args: callArgs, definition });
  return {
    workflowId,
    firstExecutionRunId: '01a229ca-df55-79ac-a684-025438a495a6',
    callId: '1.1',
    digest,
    definition,
    outcome: 'approved',
    requestId: '0'.repeat(32),
    agent: 'tester',
  };
}

test('a standalone activity started for a tool is refused', async () => {
  const activityId = `bare-${randomUUID()}`;
  const run = promisify(execFile)(process.env.COUNTERSIGN_TEMPORAL_BINARY!, [
    'activity',
    'execute',
    '--address',
    sharedAddress(),
    '--activity-id',
    activityId,
    '--type',
    'pay',
    '--task-queue',
    world.taskQueue,
    '--start-to-close-timeout',
    '10s',
    '--input',
    JSON.stringify(permitOf(activityId)),
    '--input',
    JSON.stringify(args),
  ]);
  await expect(run).rejects.toMatchObject({ stdout: expect.stringMatching(/runs only inside a workflow/) });
  expect(world.ran()).toEqual([]);
});

describe('a foreign workflow that schedules a tool', () => {
  let foreign: ForeignWorker;
  beforeAll(async () => {
    foreign = await startForeignWorker();
  });
  afterAll(() => foreign.close());

  const schedule = (workflowType: string, tool: string, input: (workflowId: string) => unknown[]) => {
    const workflowId = `foreign-${randomUUID()}`;
    return world.client.session.client.workflow.execute(workflowType, {
      workflowId,
      taskQueue: foreign.taskQueue,
      args: [{ tool, taskQueue: world.taskQueue, args: input(workflowId) }],
    });
  };

  test.each<[string, string, string, (workflowId: string) => unknown[], string]>([
    ['of another type, with a perfect permit', 'schedules', 'pay', (id) => [permitOf(id), args], 'forbidden'],
    ['of another type, asking for a preview', 'schedules', 'countersign.preview', () => [{}], 'forbidden'],
    ['of another type, asking the model', 'schedules', 'countersign.callModel', () => [{}], 'forbidden'],
    ['that calls itself agentRun, without a permit', 'agentRun', 'pay', () => [null, args], 'forbidden'],
    [
      'that calls itself agentRun, with the permit of another run',
      'agentRun',
      'pay',
      () => [permitOf('other'), args],
      'forbidden',
    ],
    [
      'that calls itself agentRun, with other arguments',
      'agentRun',
      'pay',
      (id) => [permitOf(id), { ...args, amount: 2 }],
      'digest_mismatch',
    ],
    [
      'that calls itself agentRun, with arguments the tool does not take',
      'agentRun',
      'pay',
      (id) => [permitOf(id, { to: 1 }), { to: 1 }],
      'arguments_invalid',
    ],
    [
      'that calls itself agentRun, with a permit that lacks a part of the idempotency key',
      'agentRun',
      'pay',
      (id) => [{ ...permitOf(id), firstExecutionRunId: undefined }, args],
      'forbidden',
    ],
    [
      'that calls itself agentRun, for what the ceiling denies',
      'agentRun',
      'pay',
      (id) => [permitOf(id, { to: 'mallory', amount: 1 }), { to: 'mallory', amount: 1 }],
      'denied_by_policy',
    ],
    [
      'that calls itself agentRun, for what the risk default denies',
      'agentRun',
      'wipe',
      (id) => [permitOf(id, {}, 'wipe'), {}],
      'denied_by_policy',
    ],
  ])('%s is refused', async (_name, type, tool, input, code) => {
    const before = world.ran();
    expect(await schedule(type, tool, input)).toEqual({ type: code, nonRetryable: true });
    expect(world.ran()).toEqual(before);
  });
});
