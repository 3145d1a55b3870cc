import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agents/define-tool.ts';
import { defineToolset, OpenToolsets } from '../../src/agents/define-toolset.ts';
import type { OpenToolset, Toolset } from '../../src/agents/definitions.ts';

const tool = (name: string) => defineTool({ name, description: '', input: z.object({}), execute: () => null });
const toolset = (name: string, list: OpenToolset['list']): Toolset =>
  defineToolset({ name, open: () => ({ list, close: async () => undefined }) });
const fresh = { fresh: true };

test('a toolset is opened when it is first needed, and what it lists is found under its own names only', async () => {
  const opened: string[] = [];
  const one = defineToolset({
    name: 'one',
    open: () => {
      opened.push('one');
      return { list: async () => ({ tools: [tool('one__a')] }), close: async () => void opened.push('closed') };
    },
  });
  const toolsets = new OpenToolsets([one, one]);
  expect(['one__a', 'one__', 'one', 'two__a', '__one'].map((name) => toolsets.owns(name))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(opened).toEqual([]);
  expect(await toolsets.find('one__a', fresh)).toMatchObject({ tool: { name: 'one__a' } });
  expect(await toolsets.find('one__b', fresh)).toEqual({ problem: "'one' has no tool 'one__b' now" });
  await toolsets.close();
  expect(opened).toEqual(['one', 'closed']);
});

test('one that fails, or has a name of another one, has no tools, and the others stay', async () => {
  const sets = [
    toolset('fails', async () => Promise.reject(new Error(`no ${'x'.repeat(1_000)}`))),
    toolset('throws', () => {
      throw new Error('not now');
    }),
    toolset('takes', async () => ({ tools: [tool('takes__a'), tool('works__b')] })),
    toolset('works', async () => ({ tools: [tool('works__a')], leftOut: ['one is left out'] })),
  ];
  const { tools, unavailable, problems } = await new OpenToolsets(sets).listAll(sets);
  expect(tools.map(({ name }) => name)).toEqual(['works__a']);
  expect(unavailable).toEqual(['fails', 'throws', 'takes']);
  expect(problems).toEqual([
    expect.stringMatching(/^'fails' cannot be used now: no x{290,300}$/),
    "'throws' cannot be used now: not now",
    "'takes' cannot be used: its tool 'works__b' is not named 'takes__…'",
    'one is left out',
  ]);
});

test('an option that is not one, and a function that is none, are refused', () => {
  expect(() => defineToolset({ name: 'a', open: 7 } as never)).toThrow("toolset 'a': open must be a function");
  expect(() => defineToolset({ name: 'a', list: () => [] } as never)).toThrow("unknown option 'list'");
});

test('one that does not close in time, or fails to, keeps neither the others nor the worker', async () => {
  const closed: string[] = [];
  const closing = (name: string, close: OpenToolset['close']): Toolset =>
    defineToolset({ name, open: () => ({ list: async () => ({ tools: [] }), close }) });
  const sets = [
    closing('hangs', () => new Promise(() => undefined)),
    closing('fails', async () => Promise.reject(new Error('no'))),
    closing('throws', () => {
      throw new Error('not now');
    }),
    closing('works', async () => void closed.push('works')),
  ];
  const toolsets = new OpenToolsets(sets);
  await toolsets.listAll(sets);
  expect(await toolsets.close(10)).toEqual([
    "'hangs' cannot be closed: not within 10 ms",
    "'fails' cannot be closed: no",
    "'throws' cannot be closed: not now",
  ]);
  expect(closed).toEqual(['works']);
});
