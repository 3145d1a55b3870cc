import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createCallModel } from '../../src/activities/call-model.ts';
import { createLoadAgent } from '../../src/activities/load-agent.ts';
import { defineAgent } from '../../src/agents/define-agent.ts';
import type { ModelCallOptions } from '../../src/agents/model-call.ts';
import { createRegistry } from '../../src/agents/registry.ts';
import { openAICompatible } from '../../src/models/openai-compatible.ts';
import { completion, reply, startChatServer, type ChatServer } from '../support/chat-completions-server.ts';

/** What of `modelCall` goes to the model's server, and what into history. */

let server: ChatServer;
beforeAll(async () => {
  server = await startChatServer();
});
beforeEach(() => {
  server.requests.length = 0;
  server.answer((response) => reply(response, 200, completion({ content: 'Hi' })));
});
afterAll(() => server.close());

const settings: ModelCallOptions = {
  stream: 'off',
  temperature: 0,
  topP: 0.5,
  maxOutputTokens: 100,
  stopSequences: ['END'],
  seed: 7,
  reasoning: 'low',
  headers: { 'x-tenant': 'acme corporation' },
  providerOptions: { openaiCompatible: { user: 'ann' } },
};
const modelCall = { ...settings, timeoutMs: 1_000, maxAttempts: 2 };
const registryOf = () =>
  createRegistry({
    agents: [
      defineAgent({
        name: 'a',
        instructions: '',
        model: openAICompatible({ baseURL: server.baseURL, model: 'm' }),
        modelCall,
      }),
    ],
  });
const call = () =>
  new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(createCallModel(registryOf()), {
    agent: 'a',
    turn: 1,
    instructions: '',
    tools: [],
    messages: [{ role: 'user' as const, content: 'Hello' }],
  });

describe('the settings of an agent', () => {
  test('go to the server with each request', async () => {
    expect(await call()).toMatchObject({ text: 'Hi' });
    expect(server.requests.map(({ body }) => body)).toEqual([
      {
        model: 'm',
        messages: [{ role: 'user', content: 'Hello' }],
        temperature: 0,
        top_p: 0.5,
        max_tokens: 100,
        stop: ['END'],
        seed: 7,
        reasoning_effort: 'low',
        user: 'ann',
      },
    ]);
    expect(server.requests[0]?.headers).toMatchObject({ 'x-tenant': 'acme corporation' });
  });

  test('are not recorded in a run, except for its time-outs and attempts', async () => {
    const loadAgent = createLoadAgent({
      registry: registryOf(),
      agentPolicies: new Map(),
      ceiling: undefined,
      continueAsNewAfter: { historyEvents: 100, updates: 100 },
    });
    const config = await loadAgent({ agent: 'a', input: 'go' });
    expect(JSON.parse(JSON.stringify(config.modelCall))).toEqual({ timeoutMs: 1_000, maxAttempts: 2 });
    expect(JSON.stringify(config)).not.toContain('acme');
  });

  test('have headers that no failure repeats', async () => {
    server.answer((response, { headers }) => reply(response, 200, `tenant ${String(headers['x-tenant'])} is unknown`));
    await expect(call()).rejects.toMatchObject({
      type: 'model_output_invalid',
      message: expect.stringContaining('it begins tenant [redacted] is unknown'),
    });
  });
});
