import { describe, expect, test } from 'vitest';
import { agentTool } from '../../src/agents/agent-tool.ts';
import { defineAgent, type AgentOptions } from '../../src/agents/define-agent.ts';
import { isAgent, type Agent, isTool, type Tool } from '../../src/agents/definitions.ts';
import { createRegistry, definitionOf } from '../../src/agents/registry.ts';
import { validateArguments } from '../../src/agents/define-tool.ts';
import { scriptedModel } from '../../src/models/scripted.ts';

const model = scriptedModel([]);
const agentNamed = (name: string, more: Partial<AgentOptions> = {}): Agent =>
  defineAgent({ name, instructions: '', model, ...more });

describe('agentTool', () => {
  test('is a tool, and is recorded with its agent', () => {
    const tool = agentTool(agentNamed('Research Assistant', { description: 'Finds things out.' }));
    expect(isTool(tool)).toBe(true);
    expect(definitionOf(tool)).toMatchObject({
      name: 'Research_Assistant',
      description: 'Finds things out.',
      risk: 'read_only',
      agent: 'Research Assistant',
    });
  });

  test.each([
    [{ input: 'find it' }, { args: { input: 'find it' } }],
    [{ input: '' }, { problem: expect.stringMatching(/^arguments\.input: /) }],
    [{}, { problem: expect.stringMatching(/^arguments\.input: /) }],
  ])('accepts a text: %j', async (args, expected) => {
    expect(await validateArguments(agentTool(agentNamed('a')), args)).toEqual(expected);
  });

  test('follows its options', () => {
    expect(agentTool(agentNamed('a'), { name: 'ask', description: 'Asks.', risk: 'destructive' })).toMatchObject({
      name: 'ask',
      description: 'Asks.',
      risk: 'destructive',
    });
  });

  test.each<[string, () => unknown, string | RegExp]>([
    ['no agent', () => agentTool({ name: 'a' } as never), 'agentTool: expected what defineAgent returned'],
    [
      'an unknown option',
      () => agentTool(agentNamed('a'), { title: '' } as never),
      /^agentTool: unknown option 'title'/,
    ],
    ['a bad name', () => agentTool(agentNamed('a'), { name: 'a b' }), /^tool name "a b": expected/],
    ['a name that is taken', () => agentTool(agentNamed('default')), /^tool name 'default' is taken/],
  ])('refuses %s', (_, make, sentence) => {
    expect(make).toThrow(sentence);
  });
});

describe('what a worker finds', () => {
  const clerk = agentNamed('clerk');
  const billing = agentNamed('billing', { handoffs: () => [front] });
  const front: Agent = agentNamed('front', {
    tools: [agentTool(agentNamed('researcher', { tools: [agentTool(clerk)] })), agentTool(clerk)],
    handoffs: [billing],
  });
  const registry = createRegistry({ agents: [front] });

  test('agents that agents call or hand over to, at any depth and in cycles', () => {
    expect(registry.agents.map(({ name }) => name)).toEqual(['front', 'researcher', 'clerk', 'billing']);
    expect(registry.agents.every(isAgent)).toBe(true);
  });

  test('a tool for each, handoffs last; several agents may call the same agent', () => {
    const names = (tools: readonly Tool[]): string[] => tools.map(({ name }) => name);
    expect(names(registry.tools)).toEqual(['researcher', 'clerk', 'transfer_to_billing', 'transfer_to_front']);
    expect(names(registry.toolsOf(front))).toEqual(['researcher', 'clerk', 'transfer_to_billing']);
    expect(names(registry.toolsOf(billing))).toEqual(['transfer_to_front']);
    expect(definitionOf(registry.tool('transfer_to_billing')!)).toMatchObject({
      risk: 'read_only',
      handoff: 'billing',
    });
  });

  test('handoff tools carry the description of their agent', () => {
    const helper = agentNamed('helper', { description: 'Knows prices.' });
    const made = createRegistry({ agents: [agentNamed('a', { handoffs: [helper] })] });
    expect(made.tool('transfer_to_helper')?.description).toBe(
      `Hands this conversation over to agent 'helper'. Knows prices.`,
    );
  });

  test.each<[string, () => Agent[], string]>([
    [
      'two agents of one name, one of them nested',
      () => [agentNamed('a', { tools: [agentTool(agentNamed('a'))] })],
      `agent name 'a' is used twice; rename one`,
    ],
    [
      'two agents of one name to hand over to',
      () => [agentNamed('a', { handoffs: [clerk, agentNamed('clerk')] })],
      `agent 'a': tool name 'transfer_to_clerk' is used twice`,
    ],
    [
      'a handoff to itself',
      () => {
        const self: Agent = agentNamed('a', { handoffs: () => [self] });
        return [self];
      },
      `agent 'a': handoffs name the agent itself`,
    ],
    [
      'handoffs that are no agents',
      () => [agentNamed('a', { handoffs: () => ['b'] as never })],
      `agent 'a': handoffs must be a list of what defineAgent returned`,
    ],
    [
      'a name too long for a handoff',
      () => [agentNamed('a', { handoffs: [agentNamed('x'.repeat(53))] })],
      `agent 'a': handoff to '${'x'.repeat(53)}': its name must have at most 52 characters`,
    ],
    [
      'one tool name for two descriptions',
      () => [
        agentNamed('a', { tools: [agentTool(clerk)] }),
        agentNamed('b', { tools: [agentTool(clerk, { description: 'Other' })] }),
      ],
      `tool name 'clerk' is used by two different tools; rename one, or share one tool object`,
    ],
  ])('refuses %s', (_, agents, sentence) => {
    expect(() => createRegistry({ agents: agents() })).toThrow(sentence);
  });

  test('refuses an agent tool that no agent has', () => {
    expect(() => createRegistry({ agents: [], tools: [agentTool(clerk)] })).toThrow(
      'tools must be a list of what defineTool returned',
    );
  });
});
