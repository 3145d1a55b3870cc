import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askModel } from '../../src/models/ask-model.ts';
import { toModelFailure } from '../../src/models/model-failure.ts';
import { openAICompatible } from '../../src/models/openai-compatible.ts';
import {
  chunk,
  completion,
  reply,
  startChatServer,
  startStream,
  type Answer,
  type ChatServer,
} from '../support/chat-completions-server.ts';

// No pattern recognizes it: it is left out because it is the model's own key.
const apiKey = 'correct-horse';
let server: ChatServer;
beforeAll(async () => {
  server = await startChatServer();
});
afterAll(() => server.close());

const whole =
  (body: unknown): Answer =>
  (response) =>
    reply(response, 200, body);
const streamed =
  (...chunks: unknown[]): Answer =>
  (response) => {
    const stream = startStream(response);
    stream.send(...chunks);
    stream.done();
  };
const odd = (message: object) => ({ ...completion({}), choices: [{ index: 0, message, finish_reason: 'stop' }] });

describe('an answer that cannot be read is told with what was wrong, where, and how it begins', () => {
  test.each<[string, 'on' | 'off', Answer, string]>([
    [
      'a page',
      'off',
      whole('<html>\n<body>Log in</body></html>'),
      `answer: JSON value expected but got '<' at position 0; it begins <html> <body>Log in</body></html>`,
    ],
    ['nothing', 'off', whole(''), 'answer: JSON value expected but reached end of input at position 0'],
    [
      'JSON that ends too soon',
      'off',
      whole('{"id":"x","choices":['),
      `answer: Array item or end of array ']' expected but reached end of input at position 21; it begins {"id":"x","choices":[`,
    ],
    [
      'an error with status 200 that repeats the key',
      'off',
      whole({ error: { message: `no such key ${apiKey}` } }),
      'answer.choices: expected array, received undefined; it begins {"error":{"message":"no such key [redacted]"}}',
    ],
    [
      'a member of the wrong type',
      'off',
      whole(
        odd({ role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'read', arguments: { path: 'a' } } }] }),
      ),
      'answer.choices[0].message.tool_calls[0].function.arguments: expected string, received object; it begins {"id":"chatcmpl-1",',
    ],
    [
      'no choice',
      'off',
      whole({ ...completion({}), choices: [] }),
      'Response did not contain any choices; it begins {"id":',
    ],
    [
      'an event that is no JSON',
      'on',
      streamed(chunk({ content: 'Hel' }), `oops ${apiKey}`),
      `answer: JSON value expected but got 'o' at position 0; it begins oops [redacted]`,
    ],
    [
      'an event of the wrong form',
      'on',
      streamed(chunk({ content: 'Hel' }), { choices: 'none' }),
      'answer.choices: expected array, received string, or answer.error: expected object, received undefined; it begins {"choices":"none"}',
    ],
    [
      'a call without a name',
      'on',
      streamed(
        chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { arguments: '{}' } }] }),
        chunk({}, 'tool_calls'),
      ),
      'Expected \'function.name\' to be a string; it begins {"index":0,',
    ],
    [
      'a stream without an end',
      'on',
      streamed(chunk({ content: 'Hel' })),
      'Response stream ended without a finish reason)',
    ],
  ])('%s', async (_case, stream, answer, told) => {
    server.answer(answer);
    const model = openAICompatible({ baseURL: server.baseURL, apiKey, model: 'test-model' });
    const failure = await askModel(model, { prompt: [] }, new AbortController().signal, { streaming: stream }).then(
      () => undefined,
      (error: unknown) => toModelFailure(error, Date.now()),
    );
    expect(failure?.kind).toBe('model_output_invalid');
    expect(failure?.message).toMatch(/^The answer of the model( at 127\.0\.0\.1:\d+)? cannot be read \(.+\)\.$/);
    expect(failure?.message).toContain(told);
    expect(failure?.message).not.toContain(apiKey);
  });
});
