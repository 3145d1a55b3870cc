import { describe, expect, test } from 'vitest';
import { tool } from 'ai';
import { z } from 'zod';
import { defineAgent, type AgentOptions } from '../../src/agents/define-agent.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import { defineToolset } from '../../src/agents/define-toolset.ts';
import { scriptedModel } from '../../src/models/scripted.ts';

const toolNamed = (name: string) => defineTool({ name, description: '', input: z.object({}), execute: () => null });
const fromAiSdk = tool({ description: '', inputSchema: z.object({}), execute: () => null });
const options: AgentOptions = { name: 'tidy', instructions: 'Tidy up.', model: scriptedModel([]) };
const define = (overrides: object): unknown => defineAgent({ ...options, ...overrides });

describe('defineAgent', () => {
  test('fills in defaults', () => {
    expect(defineAgent(options)).toMatchObject({ name: 'tidy', tools: [], maxTurns: 50 });
    expect(defineAgent(options)).not.toHaveProperty('policy');
  });

  test('accepts tools with different arguments', () => {
    const input = z.object({ path: z.string() });
    const read = defineTool({ name: 'read', description: '', input, execute: ({ path }) => path.length });
    const agent = defineAgent({ ...options, tools: [read, toolNamed('list')], policy: 'rules: []', maxTurns: 3 });
    expect(agent.tools.map((tool) => tool.name)).toEqual(['read', 'list']);
    expect(agent).toMatchObject({ policy: 'rules: []', maxTurns: 3 });
  });

  test('keeps the schema of its output, and gives it as JSON Schema: what the value has in the end', () => {
    const output = z.object({ team: z.string(), urgent: z.boolean().default(false) });
    const agent = defineAgent({ ...options, output });
    expect(agent.output).toBe(output);
    expect(agent.outputSchema).toMatchObject({
      type: 'object',
      required: ['team', 'urgent'],
      additionalProperties: false,
    });
    expect(defineAgent(options)).not.toHaveProperty('output');
  });

  test('an agent that is spread into the options of another gives it all that it has', () => {
    const clock = defineToolset({
      name: 'clock',
      open: () => ({ list: async () => ({ tools: [] }), close: async () => {} }),
    });
    const first = defineAgent({ ...options, name: 'first', tools: [clock], output: z.object({ a: z.string() }) });
    const second = defineAgent({ ...first, name: 'second' });
    expect(second).toEqual({ ...first, name: 'second', handoffs: second.handoffs });
    expect(second.toolsets).toEqual([clock]);
    expect(defineAgent({ ...first, name: 'third', toolsets: [] }).toolsets).toEqual([]);
  });

  test.each([['a'], ['Research Assistant'], ['deploy_agent'], ['Zoë'], ['x'.repeat(64)]])(
    'accepts the name %j',
    (name) => {
      expect(defineAgent({ ...options, name }).name).toBe(name);
    },
  );

  test.each([[''], [' '], [' a'], ['a '], ['a\nb'], ['a\u202eb'], ['x'.repeat(65)], [7], [undefined]])(
    'refuses the name %j',
    (name) => {
      expect(() => define({ name })).toThrow(/^agent name: expected 1 to 64 visible characters/);
    },
  );

  test.each<[object, string | RegExp]>([
    [{ rules: [] }, /^defineAgent: unknown option 'rules'; known are name/],
    [{ instructions: undefined }, "agent 'tidy': instructions must be text"],
    [{ model: 'gpt-5-mini' }, /^agent 'tidy': model must implement version 'v4' of .+ such as openAICompatible/],
    [{ model: undefined }, /^agent 'tidy': model must implement version 'v4'/],
    [{ model: { specificationVersion: 'v3', doStream() {} } }, /\(found 'v3'\)/],
    [{ model: { specificationVersion: 'v4' } }, "agent 'tidy': model has neither doStream nor doGenerate"],
    [
      { tools: [{ name: 'a', execute() {} }] },
      "agent 'tidy': tools must be a list of what defineTool, agentTool, defineToolset or mcpServer returned",
    ],
    [
      { tools: toolNamed('a') },
      "agent 'tidy': tools must be a list of what defineTool, agentTool, defineToolset or mcpServer returned",
    ],
    [{ tools: { look: fromAiSdk } }, /^agent 'tidy': tools of the AI SDK pass no gate: declare each with defineTool/],
    [{ tools: [toolNamed('a'), fromAiSdk] }, /^agent 'tidy': tools of the AI SDK pass no gate/],
    [
      { tools: null },
      "agent 'tidy': tools must be a list of what defineTool, agentTool, defineToolset or mcpServer returned",
    ],
    [{ tools: [toolNamed('a'), toolNamed('a')] }, "agent 'tidy': tool name 'a' is used twice"],
    [
      { toolsets: [toolNamed('a')] },
      "agent 'tidy': toolsets must be a list of what defineToolset or mcpServer returned",
    ],
    [{ description: 7 }, "agent 'tidy': description must be text"],
    [{ output: { type: 'object' } }, /^agent 'tidy': output: expected a schema of zod 4, or of another library/],
    [{ output: z.string() }, /^agent 'tidy': output: expected the schema of an object/],
    [
      { output: z.object({ at: z.date() }) },
      /^agent 'tidy': output: .+: a run ends with JSON, so its schema takes and gives plain JSON$/,
    ],
    [{ handoffs: defineAgent(options) }, "agent 'tidy': handoffs must be a list of what defineAgent returned"],
    [{ handoffs: ['billing'] }, "agent 'tidy': handoffs must be a list of what defineAgent returned"],
    [{ policy: 1 }, "agent 'tidy': policy must be the text of a policy file or an object"],
    [{ policy: null }, "agent 'tidy': policy must be the text of a policy file or an object"],
    [{ maxTurns: 0 }, /^agent 'tidy': maxTurns: expected a whole number from 1/],
    [{ maxTurns: Infinity }, /^agent 'tidy': maxTurns: expected a whole number from 1/],
    [{ modelCall: { timeoutMs: 0 } }, /^agent 'tidy': modelCall.timeoutMs: expected a whole number from 1/],
    [{ modelCall: { maxAttempts: 0.5 } }, /^agent 'tidy': modelCall.maxAttempts: expected a whole number from 1/],
    [{ modelCall: { timeout: 5 } as object }, /^agent 'tidy': modelCall: unknown option 'timeout'/],
    [{ modelCall: { stream: true } }, "agent 'tidy': modelCall.stream: expected 'auto', 'on' or 'off'"],
    [{ modelCall: { temperature: '0' } }, "agent 'tidy': modelCall.temperature: expected a number"],
    [{ modelCall: { maxOutputTokens: 0 } }, "agent 'tidy': modelCall.maxOutputTokens: expected a whole number from 1"],
    [{ modelCall: { stopSequences: 'END' } }, "agent 'tidy': modelCall.stopSequences: expected a list of texts"],
    [{ modelCall: { headers: { 'x-key': 7 } } }, "agent 'tidy': modelCall.headers: expected names and values of"],
    [{ modelCall: { headers: { 'x-key': 'a\nb' } } }, "agent 'tidy': modelCall.headers: expected names and values of"],
    [{ modelCall: { headers: { 'x key': 'a' } } }, "agent 'tidy': modelCall.headers: expected names and values of"],
    [
      { modelCall: { providerOptions: { user: 'ann' } } },
      "agent 'tidy': modelCall.providerOptions: expected an object",
    ],
    [
      { model: { ...scriptedModel([]), doStream: undefined }, modelCall: { stream: 'on' } },
      "agent 'tidy': modelCall.stream is 'on', and model has no doStream",
    ],
    [
      { model: { ...scriptedModel([]), doGenerate: undefined }, modelCall: { stream: 'off' } },
      "agent 'tidy': modelCall.stream is 'off', and model has no doGenerate",
    ],
  ])('refuses %j', (overrides, sentence) => {
    expect(() => define(overrides)).toThrow(sentence);
  });
});
