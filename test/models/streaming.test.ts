import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { askModel } from '../../src/models/ask-model.ts';
import { toModelFailure } from '../../src/models/model-failure.ts';
import { openAICompatible } from '../../src/models/openai-compatible.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import {
  answerText,
  chunk,
  completion,
  reply,
  startChatServer,
  startStream,
  usageChunk,
  type Answer,
  type ChatServer,
} from '../support/chat-completions-server.ts';

let server: ChatServer;
beforeAll(async () => {
  server = await startChatServer();
});
beforeEach(() => {
  server.requests.length = 0;
});
afterAll(() => server.close());

const compatible = (): LanguageModelV4 => openAICompatible({ baseURL: server.baseURL, model: 'test-model' });
const ask = (model: LanguageModelV4, stream?: 'auto' | 'on' | 'off') =>
  askModel(model, { prompt: [] }, new AbortController().signal, { streaming: stream });
const failureOf = async (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'no failure',
    (error: unknown) => toModelFailure(error, Date.now()).message,
  );
/** Whether each request asked for a stream. */
const asked = (): boolean[] => server.requests.map(({ body }) => body.stream === true);

const calls = [{ id: 'a', name: 'read', args: { path: 'a' } }];
const whole: Answer = (response) => reply(response, 200, completion({ content: 'Hi', calls }));
const turn = {
  text: 'Hi',
  calls: [{ id: 'a', tool: 'read', arguments: '{"path":"a"}' }],
  usage: { inputTokens: 1, outputTokens: 1 },
  finishReason: 'tool-calls',
};
/** Answers a request for a stream by `refusal`, and any other one as it should. */
const unlessStreamed =
  (refusal: Answer): Answer =>
  (response, request) =>
    (request.body.stream === true ? refusal : whole)(response, request);
const refused =
  (status: number, message: string): Answer =>
  (response) =>
    reply(response, status, { error: { message } });

describe('auto', () => {
  test.each<[string, Answer]>([
    ['answers with plain JSON', whole],
    ['answers with a stream without events', unlessStreamed((response) => startStream(response).done())],
    [
      'answers with a page',
      unlessStreamed((response) => reply(response, 200, '<html>', { 'content-type': 'text/html' })),
    ],
    ['refuses with 400', unlessStreamed(refused(400, 'Streaming is not supported'))],
    ['refuses with 422', unlessStreamed(refused(422, 'stream: must be false'))],
    ['refuses with 501', unlessStreamed(refused(501, '"stream" is not implemented'))],
  ])('a server that %s is asked again without a stream, and no more for one', async (_case, answer) => {
    server.answer(answer);
    const model = compatible();
    expect(await ask(model)).toEqual(turn);
    expect(await ask(model)).toEqual(turn);
    expect(asked()).toEqual([true, false, false]);
  });

  test.each<[string, Answer, string]>([
    ['400 about something else', refused(400, 'An upstream tool schema is wrong'), 'refused the request (400)'],
    ['401', refused(401, 'No stream for this key'), 'refused the request (401)'],
    ['429', refused(429, 'Too many streams'), 'is rate limited (429)'],
    ['503', refused(503, 'stream is down'), 'is unavailable (503)'],
  ])('%s is no refusal of streaming', async (_case, answer, message) => {
    server.answer(unlessStreamed(answer));
    expect(await failureOf(ask(compatible()))).toContain(message);
    expect(asked()).toEqual([true]);
  });

  test('a server that fails both ways is asked for a stream again', async () => {
    server.answer((response) => reply(response, 200, ''));
    const model = compatible();
    await failureOf(ask(model));
    server.answer(answerText('Hi'));
    expect(await ask(model)).toMatchObject({ text: 'Hi' });
    expect(asked()).toEqual([true, false, true]);
  });

  test('a provider that finishes an answer without events is not believed', async () => {
    const empty: LanguageModelV4StreamPart[] = [
      { type: 'stream-start', warnings: [] },
      {
        type: 'finish',
        finishReason: { unified: 'other', raw: undefined },
        usage: { inputTokens: { total: undefined }, outputTokens: { total: undefined } },
      } as LanguageModelV4StreamPart,
    ];
    const model = {
      ...scriptedModel([{ text: 'Hi' }]),
      doStream: async () => ({ stream: ReadableStream.from<LanguageModelV4StreamPart>(empty) }),
    };
    expect(await ask(model)).toMatchObject({ text: 'Hi', finishReason: 'stop' });
  });

  test.each([['doStream'], ['doGenerate']])('a model with only %s is asked that way', async (method) => {
    const model = scriptedModel([{ text: 'Hi' }]);
    const only = { ...model, doStream: undefined, doGenerate: undefined, [method]: model[method as 'doStream'] };
    expect(await ask(only as unknown as LanguageModelV4)).toMatchObject({ text: 'Hi' });
  });
});

test('off: no stream is asked for', async () => {
  server.answer(whole);
  expect(await ask(compatible(), 'off')).toEqual(turn);
  expect(asked()).toEqual([false]);
});

test('on: an answer that is no stream is a failure that says what to do', async () => {
  server.answer(whole);
  const sentence = "The model's answer holds no event of a stream: set modelCall.stream to 'off'.";
  expect(await failureOf(ask(compatible(), 'on'))).toBe(sentence);
  expect(asked()).toEqual([true]);
});

test.each(['auto', 'off'] as const)('with %s, text is handed on as it is streamed', async (streaming) => {
  server.answer((response, request) => {
    if (request.body.stream !== true) return whole(response, request);
    const stream = startStream(response);
    stream.send(chunk({ content: 'Hel' }), chunk({ content: 'lo' }), chunk({}, 'stop'), usageChunk(1, 1));
    stream.done();
  });
  const pieces: string[] = [];
  const onText = (text: string): void => void pieces.push(text);
  const { text } = await askModel(compatible(), { prompt: [] }, new AbortController().signal, { streaming, onText });
  expect({ text, pieces }).toEqual(
    streaming === 'auto' ? { text: 'Hello', pieces: ['Hel', 'lo'] } : { text: 'Hi', pieces: [] },
  );
});
