import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callDigest, definitionDigest } from '../../../src/core/base/digest.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { startForeignWorker, type ForeignWorker } from '../../support/foreign-worker.ts';
import { testAgent } from '../../support/test-agent.ts';
import type { World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** A foreign worker with forged permits cannot run what the operator's ceiling denies (I1). */

let foreign: ForeignWorker;
beforeAll(async () => {
  foreign = await startForeignWorker();
});
afterAll(() => foreign.close());

async function forge(policy: string, tool: string, args: JsonObject, more: object = {}): Promise<unknown> {
  const world: World = await openWorld({ policy });
  try {
    const workflowId = `foreign-${randomUUID()}`;
    const { description, schema } = testAgent(world.folder).tools.find(({ name }) => name === tool)!;
    const definition = definitionDigest({ name: tool, description, schema });
    const digest = callDigest({ tool, args, definition });
    const permit = {
      workflowId,
      firstExecutionRunId: 'r',
      callId: '1.1',
      digest,
      definition,
      outcome: 'approved',
      agent: 'tester',
      ...more,
    };
    const told = await world.client.session.client.workflow.execute('agentRun', {
      workflowId,
      taskQueue: foreign.taskQueue,
      args: [{ tool, taskQueue: world.taskQueue, args: [permit, args] }],
    });
    return { told, ran: world.ran() };
  } finally {
    await world.close();
  }
}

const denied = { told: { type: 'denied_by_policy', nonRetryable: true }, ran: [] };
const pay = { to: 'mallory', amount: 1 };

describe('what the ceiling denies', () => {
  test('also if a later deny depends on data that only the run has', async () => {
    const policy = `version: 1
rules:
  - { pattern: "pay:mallory", action: deny }
  - { pattern: "*", when: 'has(metadata.frozen)', action: deny }
`;
    expect(await forge(policy, 'pay', pay)).toEqual(denied);
  });

  test('also if only an argument beside the command takes it from the rule that allows', async () => {
    const policy = `version: 1
rules:
  - { pattern: bash, action: deny }
  - { pattern: "bash:git status*", action: allow }
`;
    const status = { command: 'git status' };
    expect(await forge(policy, 'bash', { ...status, env: { GIT_PAGER: 'less' } })).toEqual(denied);
    expect(await forge(policy, 'bash', { ...status, note: 'Look' })).toMatchObject({ ran: ['bash git status'] });
  });

  test('also if an argument is named severity', async () => {
    const policy = `version: 1
rules:
  - { pattern: echo, action: allow }
  - { pattern: echo, when: 'args.severity == "page everybody"', action: deny }
`;
    expect(await forge(policy, 'echo', { severity: 'page everybody' })).toEqual(denied);
  });

  test('also if a text in the condition is metadata', async () => {
    const policy = `version: 1
rules:
  - { pattern: echo, action: allow }
  - { pattern: echo, when: 'args.table == "metadata"', action: deny }
`;
    expect(await forge(policy, 'echo', { table: 'metadata' })).toEqual(denied);
  });
});
