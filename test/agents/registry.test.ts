import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/agents/define-agent.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import type { Tool } from '../../src/agents/definitions.ts';
import { createRegistry, definitionOf } from '../../src/agents/registry.ts';
import { definitionDigest } from '../../src/core/base/digest.ts';
import { scriptedModel } from '../../src/models/scripted.ts';

const toolNamed = (name: string, description = '') =>
  defineTool({ name, description, input: z.object({ path: z.string() }), subject: 'path', execute: () => null });
const agentNamed = (name: string, ...tools: Tool[]) =>
  defineAgent({ name, instructions: '', model: scriptedModel([]), tools });

describe('createRegistry', () => {
  const read = toolNamed('read');
  const write = toolNamed('write');
  const registry = createRegistry({ agents: [agentNamed('one', read), agentNamed('two', read)], tools: [write, read] });

  test('finds each definition once', () => {
    expect(registry.tools).toEqual([read, write]);
    expect(registry.agents.map((agent) => agent.name)).toEqual(['one', 'two']);
    expect(registry.tool('read')).toBe(read);
    expect(registry.agent('two')?.tools).toEqual([read]);
  });

  test.each([
    ['rene\u0301', 'ren\u00e9'],
    ['ren\u00e9', 'rene\u0301'],
  ])('names of agents compare in NFC: %j as %j', (defined, asked) => {
    const agents = createRegistry({ agents: [agentNamed(defined)] });
    expect(agents.agent(asked)?.name).toBe('ren\u00e9');
    expect(() => createRegistry({ agents: [agentNamed(defined), agentNamed(asked)] })).toThrow('is used twice');
  });

  test.each([['toString'], ['constructor'], ['__proto__'], ['size'], ['get'], ['']])(
    'finds nothing under %j',
    (name) => {
      expect(registry.tool(name)).toBeUndefined();
      expect(registry.agent(name)).toBeUndefined();
    },
  );

  test.each<[string, Parameters<typeof createRegistry>[0], string]>([
    [
      'one name for two tools of two agents',
      { agents: [agentNamed('a', toolNamed('x')), agentNamed('b', toolNamed('x'))] },
      "tool name 'x' is used by two different tools; rename one, or share one tool object",
    ],
    [
      "one name for an agent's tool and a loose one",
      { agents: [agentNamed('a', toolNamed('x'))], tools: [toolNamed('x')] },
      "tool name 'x' is used by two different tools; rename one, or share one tool object",
    ],
    [
      'one name for two agents',
      { agents: [agentNamed('a'), agentNamed('a')] },
      "agent name 'a' is used twice; rename one",
    ],
    ['something else as agents', { agents: {} as never }, 'agents must be a list of what defineAgent returned'],
    ['an agent by hand', { agents: [{ name: 'a' } as never] }, 'agents must be a list of what defineAgent returned'],
    [
      'a tool by hand',
      { agents: [], tools: [{ name: 'a' } as never] },
      'tools must be a list of what defineTool returned',
    ],
  ])('refuses %s', (_case, input, sentence) => {
    expect(() => createRegistry(input)).toThrow(
      expect.objectContaining({ name: 'DefinitionError', message: sentence }),
    );
  });
});

describe('definitionOf', () => {
  test('is JSON, and contains everything about a tool except its code', () => {
    const definition = definitionOf(toolNamed('read', 'Reads'));
    expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
    const { schema } = toolNamed('read');
    expect(definition).toEqual({
      name: 'read',
      description: 'Reads',
      schema,
      risk: 'write',
      subject: 'path',
      idempotent: false,
      heartbeatTimeoutMs: 30_000,
      timeoutMs: 600_000,
      definition: definitionDigest({ name: 'read', description: 'Reads', schema }),
    });
  });

  test('marks a shell subject', () => {
    const tool = defineTool({
      name: 'bash',
      description: '',
      input: z.object({ command: z.string(), note: z.string() }),
      subject: { argument: 'command', shell: true, beside: ['note'] },
      execute: () => null,
    });
    expect(definitionOf(tool)).toMatchObject({ subject: 'command', shellSubject: true, beside: ['note'] });
  });

  test('differs by description', () => {
    const digests = ['Reads', 'Reads files'].map((text) => definitionOf(toolNamed('read', text)).definition);
    expect(new Set(digests).size).toBe(2);
  });
});
