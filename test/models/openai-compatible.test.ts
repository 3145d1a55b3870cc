import type { JSONSchema7 } from '@ai-sdk/provider';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { askModel, type RawTurn } from '../../src/models/ask-model.ts';
import { toModelFailure, type ModelFailure, type ModelFailureKind } from '../../src/models/model-failure.ts';
import { modelFromEnvironment, openAICompatible } from '../../src/models/openai-compatible.ts';
import { toPrompt } from '../../src/models/to-prompt.ts';
import {
  answerText,
  chunk,
  reply,
  startChatServer,
  startStream,
  toolDelta,
  usageChunk,
  type Answer,
  type ChatServer,
} from '../support/chat-completions-server.ts';

const apiKey = 'sk-test-0123456789';
let server: ChatServer;
beforeAll(async () => {
  server = await startChatServer();
});
beforeEach(() => {
  server.requests.length = 0;
});
afterAll(() => server.close());

const ask = (
  options: Partial<Parameters<typeof openAICompatible>[0]> = {},
  signal = new AbortController().signal,
): Promise<RawTurn> =>
  askModel(
    openAICompatible({ baseURL: server.baseURL, apiKey, model: 'test-model', ...options }),
    { prompt: toPrompt('Be brief.', [{ role: 'user', content: 'Hello' }], 'test') },
    signal,
  );

const failureOf = async (asked: Promise<unknown>): Promise<ModelFailure> =>
  asked.then(
    () => {
      throw new Error('the model answered');
    },
    (error: unknown) => toModelFailure(error, Date.now()),
  );

describe('the request', () => {
  test('is a chat completion with the key, and with tools and transcript if there are any', async () => {
    server.answer(answerText('Hi'));
    const schema: JSONSchema7 = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
    await askModel(
      openAICompatible({ baseURL: `${server.baseURL}/`, apiKey, model: 'test-model' }),
      {
        prompt: toPrompt(
          'Be brief.',
          [
            { role: 'user', content: 'Read a' },
            { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'read', arguments: { path: 'a' } }] },
            { role: 'tool', toolCallId: 'c1', toolName: 'read', content: 'Denied: no' },
          ],
          'test',
        ),
        tools: [{ type: 'function', name: 'read', description: 'Reads', inputSchema: schema }],
      },
      new AbortController().signal,
    );
    const [request] = server.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/v1/chat/completions' });
    expect(request?.headers.authorization).toBe(`Bearer ${apiKey}`);
    expect(request?.body).toMatchObject({
      model: 'test-model',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Read a' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c00010000', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } }],
        },
        { role: 'tool', tool_call_id: 'c00010000', content: 'Denied: no' },
      ],
      tools: [{ type: 'function', function: { name: 'read', description: 'Reads', parameters: schema } }],
    });
  });

  test('has no Authorization without a key', async () => {
    server.answer(answerText('Hi'));
    await askModel(
      openAICompatible({ baseURL: server.baseURL, model: 'local' }),
      { prompt: toPrompt('', [{ role: 'user', content: 'Hello' }], 'test') },
      new AbortController().signal,
    );
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    expect(server.requests[0]?.body.messages).toEqual([{ role: 'user', content: 'Hello' }]);
  });
});

describe('an answer', () => {
  test('with text arrives whole, with its token counts', async () => {
    server.answer((response) => {
      const stream = startStream(response);
      stream.send(chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hel' }), chunk({ content: 'lo 😀' }));
      stream.send(chunk({}, 'stop'), usageChunk(12, 3));
      stream.done();
    });
    expect(await ask()).toEqual({
      text: 'Hello 😀',
      calls: [],
      usage: { inputTokens: 12, outputTokens: 3 },
      finishReason: 'stop',
    });
  });

  test('with interleaved parallel calls keeps the calls apart, and their raw text unchanged', async () => {
    server.answer((response) => {
      const stream = startStream(response);
      stream.send(
        chunk({ role: 'assistant', content: 'Working' }),
        toolDelta(0, { id: 'call_a', name: 'move_file', arguments: '' }),
        toolDelta(1, { id: 'call_b', name: 'read_file', arguments: '{"pa' }),
        toolDelta(0, { arguments: '{"from":"a",' }),
        toolDelta(1, { arguments: 'th":"x"}' }),
        toolDelta(2, { id: 'call_c', name: 'list_files', arguments: '' }),
        toolDelta(0, { arguments: ' "from":"b"}' }),
        chunk({}, 'tool_calls'),
      );
      stream.done();
    });
    expect(await ask()).toEqual({
      text: 'Working',
      calls: [
        { id: 'call_a', tool: 'move_file', arguments: '{"from":"a", "from":"b"}' },
        { id: 'call_b', tool: 'read_file', arguments: '{"path":"x"}' },
        { id: 'call_c', tool: 'list_files', arguments: '' },
      ],
      usage: { inputTokens: 0, outputTokens: 0 },
      finishReason: 'tool-calls',
    });
  });

  test('that arrives byte by byte is the same', async () => {
    server.answer(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const lines = [chunk({ content: 'a😀b' }), chunk({}, 'stop')].map((each) => `data: ${JSON.stringify(each)}\n\n`);
      for (const byte of Buffer.from(`${lines.join('')}data: [DONE]\n\n`)) {
        await new Promise((resolve) => {
          response.write(Buffer.from([byte]), resolve);
        });
      }
      response.end();
    });
    expect(await ask()).toMatchObject({ text: 'a😀b', finishReason: 'stop' });
  });
});

const failing =
  (status: number, body: unknown = {}, headers: Record<string, string> = {}): Answer =>
  (response) =>
    reply(response, status, body, headers);
const errorBody = (code: string, type = 'error') => ({ error: { message: `no: ${apiKey}`, type, param: null, code } });

describe('a failure', () => {
  test.each<[string, Answer, { kind: ModelFailureKind; retryAfterMs?: number | undefined; message: unknown }]>([
    [
      '429 with seconds to wait',
      failing(429, errorBody('rate_limit_exceeded'), { 'retry-after': '7' }),
      {
        kind: 'model_rate_limited',
        retryAfterMs: 7_000,
        message: expect.stringMatching(/^The model at 127\.0\.0\.1:\d+ is rate limited \(429 rate_limit_exceeded\)\.$/),
      },
    ],
    [
      '429 with nothing else',
      failing(429, ''),
      { kind: 'model_rate_limited', retryAfterMs: undefined, message: expect.stringContaining('(429)') },
    ],
    [
      '500 with a page of HTML',
      failing(500, '<html>'),
      { kind: 'model_unavailable', message: expect.stringContaining('is unavailable (500)') },
    ],
    [
      '503 with seconds to wait',
      failing(503, {}, { 'retry-after': '2' }),
      { kind: 'model_unavailable', retryAfterMs: 2_000, message: expect.stringContaining('is unavailable (503)') },
    ],
    ['529', failing(529), { kind: 'model_unavailable', message: expect.stringContaining('(529)') }],
    ['408', failing(408), { kind: 'model_unavailable', message: expect.stringContaining('(408)') }],
    [
      '401 that repeats the key',
      failing(401, errorBody('invalid_api_key')),
      {
        kind: 'model_refused',
        message: expect.stringContaining('(401 invalid_api_key): check its API key and what the key may use.'),
      },
    ],
    [
      '403 with the key as its code',
      failing(403, errorBody(apiKey)),
      { kind: 'model_refused', message: expect.stringContaining('(403): check its API key') },
    ],
    [
      '404',
      failing(404, errorBody('model_not_found')),
      { kind: 'model_refused', message: expect.stringContaining('(404 model_not_found): check the model name') },
    ],
    [
      '400',
      failing(400, errorBody('context_length_exceeded', 'invalid_request_error')),
      {
        kind: 'model_refused',
        message: expect.stringContaining('(400 context_length_exceeded): check the model name'),
      },
    ],
    ['413', failing(413), { kind: 'model_refused', message: expect.stringContaining('too large for it') }],
    [
      'a stream that the server cuts',
      (response) => {
        startStream(response).send(chunk({ content: 'Hel' }), toolDelta(0, { id: 'a', name: 'rm', arguments: '{}' }));
        setImmediate(() => response.destroy());
      },
      {
        kind: 'model_unavailable',
        message: expect.stringMatching(/^The model( at [\d.:]+)? broke off \(UND_ERR_SOCKET\)\.$/),
      },
    ],
    [
      'a stream that ends too soon',
      (response) => {
        const stream = startStream(response);
        stream.send(chunk({ content: 'Hel' }), toolDelta(0, { id: 'a', name: 'rm', arguments: '{}' }));
        stream.done();
      },
      {
        kind: 'model_output_invalid',
        message: 'The answer of the model cannot be read (Response stream ended without a finish reason).',
      },
    ],
    [
      'a stream of something else',
      (response) => {
        const stream = startStream(response);
        stream.send('{"choices": [', chunk({}, 'stop'));
        stream.done();
      },
      {
        kind: 'model_output_invalid',
        message: `The answer of the model cannot be read (answer: Array item or end of array ']' expected but reached end of input at position 13; it begins {"choices": [).`,
      },
    ],
    [
      'an error in the stream',
      (response) => {
        startStream(response).send(chunk({ content: 'Hel' }), errorBody('x', 'server_error'));
        response.end();
      },
      { kind: 'model_unavailable', message: 'The model broke off (server_error).' },
    ],
    [
      'a rate limit in the stream',
      (response) => {
        startStream(response).send(errorBody('rate_limit_exceeded'));
        response.end();
      },
      { kind: 'model_rate_limited', message: 'The model is rate limited.' },
    ],
  ])('%s', async (_case, answer, expected) => {
    server.answer(answer);
    const failure = await failureOf(ask());
    expect(failure).toMatchObject(expected);
    expect(`${failure.stack} ${JSON.stringify(failure)} ${String(failure.cause)}`).not.toContain(apiKey);
  });

  test('an unreachable server', async () => {
    const gone = await startChatServer();
    await gone.close();
    const failure = await failureOf(ask({ baseURL: gone.baseURL }));
    expect(failure.kind).toBe('model_unavailable');
    expect(failure.message).toMatch(
      /^The model( at [\d.:]+)? cannot be reached \(ECONNREFUSED\): check its base URL\.$/,
    );
  });

  test('an endless answer is abandoned, and its connection closed', async () => {
    const closed = new Promise<void>((resolve) => {
      server.answer((response) => {
        const stream = startStream(response);
        const more = setInterval(() => stream.send(chunk({ content: 'x'.repeat(262_144) })), 1);
        response.on('close', () => {
          clearInterval(more);
          resolve();
        });
      });
    });
    const failure = await failureOf(ask());
    expect(failure.kind).toBe('model_output_invalid');
    expect(failure.message).toBe("The model's answer is too large (more than 1048576 characters).");
    await closed;
  });

  test('an abort ends the request with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const closed = new Promise<void>((resolve) => {
      server.answer((response) => {
        response.on('close', resolve);
        startStream(response).send(chunk({ content: 'Hel' }));
        controller.abort(reason);
      });
    });
    await expect(ask({}, controller.signal)).rejects.toBe(reason);
    await closed;
  });
});

describe('options', () => {
  test.each<[object, RegExp]>([
    [{ baseURL: 'api.openai.com' }, /^openAICompatible: baseURL must be an http or https URL/],
    [{ baseURL: 'file:///etc' }, /^openAICompatible: baseURL must be an http or https URL/],
    [{ baseURL: undefined }, /^openAICompatible: baseURL must be/],
    [{ baseURL: 'http://me:secret@localhost/v1' }, /^openAICompatible: baseURL must not hold a user name or password/],
    [{ apiKey: 'a\nb' }, /^openAICompatible: apiKey must be visible ASCII/],
    [{ apiKey: '' }, /^openAICompatible: apiKey must be/],
    [{ model: '' }, /^openAICompatible: model is missing$/],
    [{ url: 'http://localhost' }, /^openAICompatible: unknown option 'url'/],
  ])('%j are refused', (overrides, sentence) => {
    const options = { baseURL: 'http://localhost/v1', model: 'm', ...overrides };
    expect(() => openAICompatible(options)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(sentence) }),
    );
  });
});

describe('modelFromEnvironment', () => {
  test.each<[Record<string, string>, string | undefined]>([
    [{}, undefined],
    [{ OPENAI_API_KEY: '', OPENAI_BASE_URL: ' ' }, undefined],
    [{ COUNTERSIGN_MODEL: 'm' }, undefined],
    [{ OPENAI_API_KEY: 'k' }, 'gpt-5-mini'],
    [{ OPENAI_API_KEY: ' k\n', COUNTERSIGN_MODEL: 'm' }, 'm'],
    [{ OPENAI_BASE_URL: 'http://localhost:11434/v1', COUNTERSIGN_MODEL: 'm' }, 'm'],
  ])('%j names %j', (environment, modelId) => {
    expect(modelFromEnvironment(environment)?.modelId).toBe(modelId);
  });

  test('uses the given address and key', async () => {
    server.answer(answerText('Hi'));
    const model = modelFromEnvironment({ OPENAI_API_KEY: `${apiKey} `, OPENAI_BASE_URL: server.baseURL });
    if (model === undefined) throw new Error('no model');
    await askModel(model, { prompt: [] }, new AbortController().signal);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${apiKey}`);
  });
});
