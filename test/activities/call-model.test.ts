import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ApplicationFailure, defaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { z } from 'zod';
import { createCallModel } from '../../src/activities/call-model.ts';
import type { CallModelInput, CallModelResult } from '../../src/activities/model-turn.ts';
import type { Assessor } from '../../src/agents/advisor.ts';
import { defineAgent } from '../../src/agents/define-agent.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import type { Tool } from '../../src/agents/definitions.ts';
import { createRegistry, definitionOf } from '../../src/agents/registry.ts';
import { openAICompatible } from '../../src/models/openai-compatible.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import {
  chunk,
  reply,
  startChatServer,
  startStream,
  toolDelta,
  usageChunk,
  type ChatServer,
} from '../support/chat-completions-server.ts';

const apiKey = 'sk-test-0123456789';
const toolNamed = (name: string): Tool =>
  defineTool({ name, description: `Does ${name}`, input: z.object({ path: z.string() }), execute: () => null });
const read = toolNamed('read');
const wipe = toolNamed('wipe');

let server: ChatServer;
beforeAll(async () => {
  server = await startChatServer();
});
beforeEach(() => {
  server.requests.length = 0;
});
afterAll(() => server.close());

// The SDK logs each failure, and most of these fail on purpose.
const activityOf = (info: ConstructorParameters<typeof MockActivityEnvironment>[0]): MockActivityEnvironment =>
  new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });

const input: CallModelInput = {
  agent: 'reader',
  turn: 1,
  instructions: 'Be brief.',
  tools: [definitionOf(read)].map(({ name, description, schema }) => ({ name, description, schema })),
  messages: [{ role: 'user', content: 'Read a' }],
};

const callModel = (
  model: LanguageModelV4 = openAICompatible({ baseURL: server.baseURL, apiKey, model: 'test-model' }),
  options?: { assessors: Assessor[] },
) =>
  createCallModel(
    createRegistry({
      agents: [
        defineAgent({ name: 'reader', instructions: '', model, tools: [read] }),
        defineAgent({ name: 'wiper', instructions: '', model, tools: [wipe] }),
      ],
    }),
    options,
  );

const run = (
  overrides: Partial<CallModelInput> = {},
  { environment = activityOf({}), model }: { environment?: MockActivityEnvironment; model?: LanguageModelV4 } = {},
): Promise<CallModelResult> => environment.run(callModel(model), { ...input, ...overrides });

const failureOf = async (running: Promise<unknown>): Promise<ApplicationFailure> => {
  const error = await running.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!(error instanceof ApplicationFailure)) throw new Error(`not an ApplicationFailure: ${String(error)}`);
  return error;
};

describe('a turn', () => {
  test('is returned parsed and validated, from what was recorded for the run', async () => {
    server.answer((response) => {
      const stream = startStream(response);
      stream.send(
        chunk({ role: 'assistant', content: 'Reading' }),
        toolDelta(0, { id: 'a', name: 'read', arguments: '{"path":"a","why":"x"}' }),
        toolDelta(1, { id: 'b', name: 'read', arguments: '{"path":7}' }),
        toolDelta(2, { id: 'c', name: 'nothing', arguments: '{}' }),
        chunk({}, 'tool_calls'),
        usageChunk(20, 5),
      );
      stream.done();
    });
    expect(await run({})).toEqual({
      text: 'Reading',
      calls: [
        { id: 'a', tool: 'read', args: { path: 'a' } },
        { id: 'b', tool: 'read', raw: { path: 7 }, problem: 'Error: arguments.path: expected string, received number' },
        { id: 'c', tool: 'nothing', raw: {}, problem: "Error: tool 'nothing' not found" },
      ],
      usage: { inputTokens: 20, outputTokens: 5 },
      model: 'test-model',
      finishReason: 'tool-calls',
    });
    expect(server.requests[0]?.body).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Read a' },
      ],
      tools: [{ function: { name: 'read', description: 'Does read', parameters: read.schema } }],
    });
  });

  test("finds only the run's own tools, not those of another agent or those that this worker lacks", async () => {
    const model = scriptedModel([{ calls: [{ tool: 'wipe', args: { path: '/' } }, { tool: 'gone' }] }]);
    const gone = { name: 'gone', description: '', schema: { type: 'object' } };
    const { calls } = await run({ tools: [...input.tools, gone] }, { model });
    expect(calls.map((call) => call.problem)).toEqual(["Error: tool 'wipe' not found", "Error: tool 'gone' not found"]);
  });

  test('has its calls assessed before anybody rules on them', async () => {
    const model = scriptedModel([{ calls: [{ tool: 'read', args: { path: '~/.ssh/id_rsa' } }] }]);
    const assessors: Assessor[] = [({ agent, tool }) => ({ severity: 'critical', reasons: [`${agent} used ${tool}`] })];
    const { calls }: CallModelResult = await activityOf({}).run(callModel(model, { assessors }), input);
    expect(calls[0]?.assessment).toMatchObject({
      severity: 'critical',
      reasons: ['reader used read', 'the path holds credentials', 'the path is the configuration of a person'],
      affectedResources: ['file:~/.ssh/id_rsa'],
    });
  });

  test('contains only whole characters', async () => {
    const { text } = await run({}, { model: scriptedModel([{ text: 'a\ud83d' }]) });
    expect(text).toBe('a\ufffd');
  });
});

describe('while the model works', () => {
  test('the activity heartbeats several times per heartbeat timeout', async () => {
    const environment = activityOf({ heartbeatTimeoutMs: 60 });
    let beats = 0;
    const beaten = new Promise<void>((resolve) => {
      environment.on('heartbeat', () => {
        if (++beats === 4) resolve();
      });
    });
    server.answer(async (response) => {
      const stream = startStream(response);
      await beaten;
      stream.send(chunk({ content: 'At last' }), chunk({}, 'stop'));
      stream.done();
    });
    expect(await run({}, { environment })).toMatchObject({ text: 'At last' });
  });

  test('a cancellation ends the request', async () => {
    const environment = activityOf({});
    const closed = new Promise<void>((resolve) => {
      server.answer((response) => {
        response.on('close', resolve);
        startStream(response).send(chunk({ content: 'Hel' }));
        environment.cancel('CANCELLED');
      });
    });
    await expect(run({}, { environment })).rejects.toMatchObject({ name: 'CancelledFailure', message: 'CANCELLED' });
    await closed;
  });

  test('a cancellation ends the activity even if the model ignores it', async () => {
    const environment = activityOf({});
    const deaf: LanguageModelV4 = {
      ...scriptedModel([]),
      doStream: () => {
        environment.cancel('WORKER_SHUTDOWN');
        return new Promise(() => {});
      },
    };
    await expect(run({}, { environment, model: deaf })).rejects.toMatchObject({ name: 'CancelledFailure' });
  });
});

describe('a failure', () => {
  test.each<[string, number, Record<string, string>, object]>([
    ['429', 429, { 'retry-after': '7' }, { type: 'model_rate_limited', nonRetryable: false, nextRetryDelay: 7_000 }],
    ['500', 500, {}, { type: 'model_unavailable', nonRetryable: false, nextRetryDelay: undefined }],
    ['401', 401, {}, { type: 'model_refused', nonRetryable: true }],
    ['400', 400, {}, { type: 'model_refused', nonRetryable: true }],
  ])('%s tells Temporal whether and when to retry, and nothing secret', async (_case, status, headers, expected) => {
    server.answer((response, request) =>
      reply(response, status, { error: { message: `no: ${request.headers.authorization}`, code: apiKey } }, headers),
    );
    const failure = await failureOf(run());
    expect(failure).toMatchObject(expected);
    const written = defaultFailureConverter.errorToFailure(failure, defaultPayloadConverter);
    expect(JSON.stringify(written)).not.toContain(apiKey);
    expect(written.cause).toBeFalsy();
  });

  const cut = (): void =>
    server.answer((response) => {
      const stream = startStream(response);
      stream.send(toolDelta(0, { id: 'a', name: 'read', arguments: '{"path":"a"}' }));
      stream.done();
    });

  test.each([
    [1, false],
    [4, false],
    [5, true],
    [6, true],
  ])('an invalid answer at attempt %d: last one is %j', async (attempt, nonRetryable) => {
    cut();
    const environment = activityOf({ attempt });
    expect(await failureOf(run({}, { environment }))).toMatchObject({ type: 'model_output_invalid', nonRetryable });
  });

  test('an outage is retried regardless of the number of attempts', async () => {
    server.answer((response) => reply(response, 503, {}));
    const environment = activityOf({ attempt: 1_000 });
    expect(await failureOf(run({}, { environment }))).toMatchObject({ type: 'model_unavailable', nonRetryable: false });
  });

  test.each<[string, LanguageModelV4, string]>([
    [
      'of many bytes',
      scriptedModel([{ text: '\u0001'.repeat(500_000) }]),
      "The model's answer is too large (more than 1500000 bytes).",
    ],
    [
      'of many characters',
      scriptedModel([{ text: 'x'.repeat(1_048_577) }]),
      "The model's answer is too large (more than 1048576 characters).",
    ],
    [
      'of endless arguments',
      scriptedModel([{ calls: [{ tool: 'read', args: { path: 'x'.repeat(33_554_432) } }] }]),
      "The model's answer is too large (more than 16777216 characters of arguments).",
    ],
  ])('an answer %s is refused', async (_case, model, message) => {
    expect(await failureOf(run({}, { model }))).toMatchObject({ type: 'model_output_invalid', message });
  });

  test.each([
    [128, 128],
    [129, 129],
    [500, 129],
  ])('of %i calls in one turn %i are kept; the 129th is refused with a sentence', async (made, kept) => {
    const turn = { calls: Array.from({ length: made }, () => ({ tool: 'read', args: { path: 'a' } })) };
    const { calls } = await run({}, { model: scriptedModel([turn]) });
    expect(calls).toHaveLength(kept);
    const problem =
      'Error: only the first 128 calls of a turn are taken: make this one, and those after it, in the next turn';
    expect(calls.map((call) => call.problem)).toEqual(
      Array.from({ length: kept }, (_, at) => (at < 128 ? undefined : problem)),
    );
    expect(calls[128]).toEqual(
      kept === 128 ? undefined : { id: expect.any(String), tool: 'read', raw: '{"path":"a"}', problem },
    );
  });

  const streaming = (...parts: object[]): LanguageModelV4 => ({
    ...scriptedModel([]),
    doStream: async () => ({ stream: ReadableStream.from(parts) as ReadableStream<LanguageModelV4StreamPart> }),
  });
  const ranThere = {
    type: 'model_refused',
    nonRetryable: true,
    message: 'The provider ran a tool itself ("search"), which no policy can gate: switch its own tools off.',
  };

  test.each<[string, LanguageModelV4, object]>([
    [
      'a tool that the provider ran',
      streaming({ type: 'tool-call', toolCallId: 'a', toolName: 'search', input: '{}', providerExecuted: true }),
      ranThere,
    ],
    [
      'the result of a tool that the provider ran',
      streaming({ type: 'tool-result', toolCallId: 'a', toolName: 'search', result: {} }),
      ranThere,
    ],
    [
      'a stream without an end',
      streaming({ type: 'text-delta', id: '0', delta: 'a' }),
      { type: 'model_unavailable', message: 'The model broke off before the end of its answer.' },
    ],
    [
      'a stream that says it was interrupted',
      streaming(
        { type: 'tool-call', toolCallId: 'a', toolName: 'read', input: '{"path":"a"}' },
        { type: 'finish', finishReason: { unified: 'interrupted' }, usage: { inputTokens: {}, outputTokens: {} } },
      ),
      { type: 'model_unavailable', message: 'The model broke off before the end of its answer.' },
    ],
    [
      'a bug in a model of one’s own',
      {
        ...scriptedModel([]),
        doStream: () => {
          throw new TypeError(`key ${apiKey} is not a function`);
        },
      },
      { type: 'model_unavailable', message: 'The model broke off (TypeError).' },
    ],
  ])('%s', async (_case, model, expected) => {
    expect(await failureOf(run({}, { model }))).toMatchObject(expected);
  });

  test('an agent that this worker lacks is retried: the next worker may have it', async () => {
    expect(await failureOf(run({ agent: 'toString' }))).toMatchObject({
      type: 'agent_unknown',
      nonRetryable: false,
      message: "This worker has no agent 'toString': add it.",
    });
  });
});
