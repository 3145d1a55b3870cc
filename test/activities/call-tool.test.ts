import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { MockActivityEnvironment } from '@temporalio/testing';
import { z } from 'zod';
import { callTool } from '../../src/activities/call-tool.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import { UnknownOutcomeError } from '../../src/agents/definitions.ts';
import type { Permit } from '../../src/contract.ts';

const permit: Permit = {
  workflowId: 'w',
  firstExecutionRunId: 'r',
  callId: '1.1',
  digest: '0'.repeat(64),
  definition: '0'.repeat(64),
  outcome: 'allowed',
  agent: 'tester',
  engine: 1,
};

/** How many heartbeats the activity sends for a tool that takes 60 ms. */
async function heartbeats(heartbeatTimeoutMs: number): Promise<number> {
  const environment = new MockActivityEnvironment({ heartbeatTimeoutMs });
  let count = 0;
  environment.on('heartbeat', () => count++);
  const execute = () => sleep(60);
  const tool = defineTool({ name: 'wait', description: 'Waits.', input: z.object({}), execute });
  await environment.run(callTool(tool), permit, {});
  return count;
}

test('an activity with a heartbeat timeout sends heartbeats', async () => {
  expect(await heartbeats(30)).toBeGreaterThan(0);
});

test('an activity without one, which the SDK gives as zero, sends none', async () => {
  expect(await heartbeats(0)).toBe(0);
});

describe('a result that cannot be given: the tool ran, which is no error', () => {
  const circular: { self?: object } = {};
  circular.self = circular;
  const hostile = {
    toJSON: () => {
      throw new Error('no\nJSON');
    },
  };

  test.each<[string, unknown, string]>([
    ['a BigInt', { amount: 1n }, 'it is not JSON: Do not know how to serialize a BigInt'],
    ['a circle', circular, 'it is not JSON: Converting circular structure to JSON'],
    ['a function', () => 1, 'it is not JSON: a function'],
    ['a symbol', Symbol('x'), 'it is not JSON: a symbol'],
    ['one that does not want to', hostile, 'it is not JSON: no'],
    ['too large', 'x'.repeat(99), 'it has 101 bytes, and at most 100 can be kept'],
  ])('%s', async (_name, result, problem) => {
    const tool = defineTool({ name: 'pay', description: 'Pays.', input: z.object({}), execute: () => result as never });
    const given: unknown = await new MockActivityEnvironment().run(callTool(tool, 100), permit, {});
    expect(given).toBe(`the tool ran; its result cannot be given (${problem}); do not repeat it`);
  });

  test.each([[{ paid: 1 }], ['x'.repeat(98)], [null], [0], [false]])('%j is given', async (result) => {
    const tool = defineTool({ name: 'pay', description: 'Pays.', input: z.object({}), execute: () => result as never });
    expect(await new MockActivityEnvironment().run(callTool(tool, 100), permit, {})).toEqual(result);
  });
});

test('a result that its tool writes once only is given as it was measured', async () => {
  let reads = 0;
  const once = {
    get paid(): number {
      if (++reads > 1) throw new Error('gone');
      return 1;
    },
  };
  const tool = defineTool({ name: 'pay', description: 'Pays.', input: z.object({}), execute: () => once });
  const given: unknown = await new MockActivityEnvironment().run(callTool(tool), permit, {});
  expect(JSON.stringify(given)).toBe('{"paid":1}');
});

test('bytes are given as bytes', async () => {
  const bytes = Uint8Array.of(1, 2);
  const tool = defineTool({ name: 'read', description: 'Reads.', input: z.object({}), execute: () => bytes as never });
  expect(await new MockActivityEnvironment().run(callTool(tool), permit, {})).toBe(bytes);
});

test('a tool that says that nobody knows how its call ended', async () => {
  const run = async (risk: 'write' | 'read_only', error: Error): Promise<unknown> => {
    const execute = (): never => {
      throw error;
    };
    const tool = defineTool({ name: 'pay', description: 'Pays.', input: z.object({}), risk, execute });
    return new MockActivityEnvironment().run(callTool(tool), permit, {}).catch((failure: unknown) => failure);
  };
  const lost = new UnknownOutcomeError('the bank did not answer');
  const unknown = { type: 'outcome_unknown', message: 'the bank did not answer' };
  expect(await run('write', lost)).toMatchObject({ ...unknown, nonRetryable: true });
  expect(await run('read_only', lost)).toMatchObject({ ...unknown, nonRetryable: false });
  expect(await run('write', new Error('no'))).toMatchObject({ type: 'tool_failed' });
});
