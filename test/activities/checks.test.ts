import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { callTool } from '../../src/activities/call-tool.ts';
import { checkInput, runCheck } from '../../src/activities/call-model.ts';
import { defineAgent } from '../../src/agents/define-agent.ts';
import { defineTool, type ToolOptions } from '../../src/agents/define-tool.ts';
import type { Verdict } from '../../src/agents/definitions.ts';
import type { Message, Permit } from '../../src/contract.ts';
import type { KeptMessage } from '../../src/contract/provider-turn.ts';
import { scriptedModel } from '../../src/models/scripted.ts';

const never = new AbortController().signal;
const secret = 'sk-live-0123456789abcdef';
const fails = (error: unknown) => () => {
  throw error;
};

describe('a check', () => {
  test.each<[string, () => unknown, unknown]>([
    ['lets pass by undefined', () => undefined, undefined],
    ['also later', async () => sleep(1, undefined), undefined],
    ['refuses by a text', () => 'no', { refused: 'no' }],
    ['also later', async () => 'no', { refused: 'no' }],
    ['on one line of well-formed text', () => ' not\n\n\uD800here ', { refused: 'not \uFFFDhere' }],
    ['of at most 300 characters', () => 'x'.repeat(400), { refused: `${'x'.repeat(300)}…` }],
    ['refuses by an empty text', () => ' ', { refused: 'no reason given' }],
    ['gives no verdict by true', () => true, { failed: 'the check gave neither a text nor undefined' }],
    ['by null', () => null, { failed: 'the check gave neither a text nor undefined' }],
    ['by an object', async () => ({ ok: true }), { failed: 'the check gave neither a text nor undefined' }],
    ['by an error, which is not quoted', fails(new RangeError(secret)), { failed: 'the check failed: RangeError' }],
    ['by anything thrown', fails(secret), { failed: 'the check failed: string' }],
  ])('%s', async (_case, check, end) => {
    expect(await runCheck(check as () => Verdict, never)).toEqual(end);
  });

  test('that does not end gives no verdict, and is told', async () => {
    let aborted = false;
    const check = async (signal: AbortSignal): Promise<undefined> => {
      signal.addEventListener('abort', () => (aborted = true));
      return new Promise(() => undefined);
    };
    expect(await runCheck(check, never, 5)).toEqual({ failed: 'the check took longer than 5 ms' });
    expect(aborted).toBe(true);
    expect(await runCheck(check, AbortSignal.abort())).toEqual({ failed: 'the check was cut off' });
  });
});

describe('checkInput', () => {
  const inputOf = async (check: (messages: Message[]) => Verdict, messages: KeptMessage[] = [], attempt = 1) => {
    const agent = defineAgent({ name: 'desk', instructions: '', model: scriptedModel([]), checkInput: check });
    const { context } = new MockActivityEnvironment({ attempt });
    return checkInput(agent, messages, context);
  };

  test('gets a copy of what the model would get', async () => {
    const messages: KeptMessage[] = [
      { role: 'user', content: 'bad', refused: true },
      { role: 'user', content: 'good', messageId: 'm' },
      { role: 'assistant', content: '7', outputProblem: 'no', providerTurn: { provider: 'p', parts: [] } },
      { role: 'tool', toolCallId: '1', toolName: 'look', content: 'seen' },
    ];
    const before = structuredClone(messages);
    let seen: Message[] = [];
    await inputOf((given) => {
      seen = structuredClone(given);
      for (const each of given) each.content = 'changed';
      return undefined;
    }, messages);
    expect(seen).toEqual([
      { role: 'user', content: 'good', messageId: 'm' },
      { role: 'assistant', content: '7' },
      { role: 'tool', toolCallId: '1', toolName: 'look', content: 'seen' },
    ]);
    expect(messages).toEqual(before);
  });

  test.each<[string, () => Verdict, number, string, boolean]>([
    ['a refusal is final', () => 'no', 1, 'input_refused', true],
    ['a failure is tried again', fails(new Error(secret)), 4, 'check_failed', false],
    ['up to the fifth attempt', fails(new Error(secret)), 5, 'check_failed', true],
  ])('%s', async (_case, check, attempt, type, nonRetryable) => {
    const failure: unknown = await inputOf(check, [], attempt).catch((error: unknown) => error);
    expect(failure).toMatchObject({ type, nonRetryable });
    expect(String(failure)).not.toContain(secret);
  });

  test('of a cancelled activity is a cancellation', async () => {
    const environment = new MockActivityEnvironment();
    const agent = defineAgent({
      name: 'desk',
      instructions: '',
      model: scriptedModel([]),
      checkInput: () => {
        environment.cancel();
        return new Promise(() => undefined);
      },
    });
    await expect(environment.run(() => checkInput(agent, [], environment.context))).rejects.toMatchObject({
      name: 'CancelledFailure',
    });
  });
});

describe('checkResult', () => {
  const permit = { workflowId: 'w', callId: '1.1', agent: 'desk', caller: { userId: 'ann' } } as Permit;
  const input = z.object({ path: z.string() });
  type Options = Partial<ToolOptions<typeof input>>;
  const toolOf = (options: Options) =>
    defineTool({ name: 'read', description: '', input, execute: () => ({ text: secret }), ...options });
  const call = (options: Options, environment = new MockActivityEnvironment()): Promise<unknown> =>
    environment.run(callTool(toolOf(options)), permit, { path: 'a' }).catch((error: unknown) => error);

  test('gets the JSON that the model gets, and what the tool ran with', async () => {
    const live = { at: new Date(0), list: [1] };
    let seen: object = {};
    const given = await call({
      execute: (args) => {
        args.path = 'changed';
        return live;
      },
      checkResult: (result, { args, isError, callId, agent, caller, workflowId }) => {
        seen = { result: structuredClone(result), args, isError, callId, agent, caller, workflowId };
        live.list.push(2);
        (result as { list: number[] }).list.push(3);
        return undefined;
      },
    });
    expect(seen).toEqual({
      result: { at: '1970-01-01T00:00:00.000Z', list: [1] },
      args: { path: 'a' },
      isError: false,
      callId: '1.1',
      agent: 'desk',
      caller: { userId: 'ann' },
      workflowId: 'w',
    });
    expect(given).toEqual({ at: '1970-01-01T00:00:00.000Z', list: [1] });
  });

  test.each<[string, Options, string, boolean]>([
    ['a refusal', { checkResult: () => 'it holds a key' }, 'it holds a key', true],
    ['of a tool that may be repeated', { checkResult: () => 'no', risk: 'read_only' }, 'no', true],
    ['no verdict', { checkResult: fails(new Error(secret)) }, 'the check failed: Error', true],
    [
      'no verdict on a tool that may be repeated, which runs again',
      { checkResult: fails(new Error(secret)), idempotent: true },
      'the check failed: Error',
      false,
    ],
    [
      'an error of the tool',
      { execute: fails(new Error(secret)), checkResult: (result) => (result === secret ? 'no' : undefined) },
      'no',
      true,
    ],
    [
      'an error of a tool that may be repeated, which runs again',
      { execute: fails(new Error(secret)), checkResult: () => 'no', risk: 'read_only' },
      'no',
      false,
    ],
  ])('withholds: %s', async (_case, options, message, nonRetryable) => {
    const failure = await call(options);
    expect(failure).toMatchObject({ type: 'result_withheld', message, nonRetryable });
    expect(JSON.stringify([failure, (failure as Error).stack, (failure as Error).cause])).not.toContain(secret);
  });

  test('that is cut off withholds: the tool has run', async () => {
    const environment = new MockActivityEnvironment();
    const checkResult = (): Promise<undefined> => {
      environment.cancel();
      return new Promise(() => undefined);
    };
    expect(await call({ checkResult }, environment)).toMatchObject({
      type: 'result_withheld',
      message: 'the check was cut off',
    });
  });

  test('lets an error pass as it is', async () => {
    let isError: boolean | undefined;
    const failure = await call({
      execute: fails(new Error('closed')),
      checkResult: (_result, context) => {
        ({ isError } = context);
        return undefined;
      },
    });
    expect(failure).toMatchObject({ type: 'tool_failed', message: 'closed' });
    expect(isError).toBe(true);
  });

  test('is not what a tool throws, whatever it calls its error', async () => {
    const error = ApplicationFailure.nonRetryable('do not look', 'result_withheld');
    expect(await call({ execute: fails(error) })).toMatchObject({ type: 'tool_failed' });
  });
});

test.each<[string, () => unknown, string]>([
  [
    'checkInput',
    () => defineAgent({ name: 'a', instructions: '', model: scriptedModel([]), checkInput: 'no' as never }),
    "agent 'a': checkInput must be a function that returns why the input is refused, or undefined",
  ],
  [
    'checkResult',
    () => defineTool({ name: 'a', description: '', input: z.object({}), execute: () => 1, checkResult: true as never }),
    "tool 'a': checkResult must be a function that returns why a result is withheld, or undefined",
  ],
])('%s must be a function', (_name, define, message) => expect(define).toThrow(message));
