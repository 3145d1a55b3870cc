import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineAgent, type ModelCallOptions, openAICompatible } from '../../src/index.ts';
import type { Retry } from '../../src/client.ts';
import {
  answerText,
  reply,
  startChatServer,
  startStream,
  type Answer,
  type ChatServer,
} from '../support/chat-completions-server.ts';
import { eventually } from '../support/eventually.ts';
import { openWorld, type World } from '../support/world.ts';

/** A run does not see the attempts of its activities; `show` reads them from the server. */

let server: ChatServer;
let world: World;
beforeAll(async () => {
  server = await startChatServer();
  const model = openAICompatible({ baseURL: server.baseURL, apiKey: 'hunting-horse', model: 'm' });
  const agentNamed = (name: string, modelCall: ModelCallOptions) =>
    defineAgent({ name, instructions: '', model, modelCall });
  world = await openWorld({
    agentsIn: () => [
      agentNamed('tester', { maxAttempts: 4 }),
      agentNamed('hasty', { timeoutMs: 3_000, maxAttempts: 2, stream: 'off' }),
    ],
  });
});
afterAll(async () => {
  await world.close();
  await server.close();
});

const nextAttemptAt = expect.stringMatching(/^\d{4}-.+Z$/);
const unavailable: Answer = (response) => reply(response, 503, {}, { 'retry-after': '600' });
const unreadable: Answer = (response) => {
  const stream = startStream(response);
  stream.send('no such key: hunting-horse');
  stream.done();
};

test.each<[string, Answer, Partial<Record<keyof Retry, unknown>>]>([
  [
    'a server that is unavailable',
    unavailable,
    {
      type: 'model_unavailable',
      message: expect.stringMatching(/^The model at 127\.0\.0\.1:\d+ is unavailable \(503\)\.$/),
      attempt: 2,
      nextAttemptAt,
    },
  ],
  [
    'an answer that cannot be read',
    unreadable,
    {
      type: 'model_output_invalid',
      message: expect.stringMatching(
        /^The answer of the model cannot be read \(answer: .+; it begins no such key: \[redacted\]\)\.$/,
      ),
    },
  ],
])('%s: the run says that it tries again, and why', async (_case, answer, expected) => {
  server.answer(answer);
  const run = await world.start([]);
  const view = await eventually('a retry', async () => {
    const shown = await world.client.show(run.workflowId);
    return shown.retrying !== undefined && shown;
  });
  expect(view).toMatchObject({
    status: 'running',
    run: { status: 'running', turn: 0 },
    retrying: [{ activity: 'countersign.callModel', maxAttempts: 4, ...expected }],
  });
  await run.handle.terminate();
  expect(await world.client.show(run.workflowId)).not.toHaveProperty('retrying');
});

test('a run that goes on has nothing more to try', async () => {
  server.answer(unreadable);
  const run = await world.start([]);
  await eventually('a retry', async () => (await world.client.show(run.workflowId)).retrying);
  server.answer(answerText('Hi'));
  expect(await run.result()).toMatchObject({ status: 'completed', output: 'Hi' });
  expect(await world.client.show(run.workflowId)).not.toHaveProperty('retrying');
  const { events } = await run.handle.fetchHistory();
  expect(JSON.stringify(events)).not.toContain('hunting-horse');
});

test('a first attempt in progress is no retry', async () => {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    server.answer(async (response, request) => {
      resolve();
      await released;
      await answerText('Hi')(response, request);
    });
  });
  const run = await world.start([]);
  await asked;
  expect(await world.client.show(run.workflowId)).not.toHaveProperty('retrying');
  release();
  await run.result();
});

test('a server that does not answer in time is asked again, and no more than the agent says', async () => {
  let asked = 0;
  let closed = 0;
  server.answer((response) => {
    asked += 1;
    response.on('close', () => (closed += 1));
  });
  const run = await world.start([], { agent: 'hasty' });
  const [retry] = await eventually('a retry', async () => (await world.client.show(run.workflowId)).retrying);
  expect(retry).toMatchObject({ attempt: 2, maxAttempts: 2, message: 'activity StartToClose timeout' });
  await expect(run.result()).rejects.toMatchObject({ message: expect.stringContaining('timeout') });
  // A busy worker may make no request before an attempt is over.
  await eventually('its requests end', () => closed === asked);
  expect(asked).toBeLessThanOrEqual(2);
});
