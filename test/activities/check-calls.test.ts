import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkCalls } from '../../src/activities/check-calls.ts';
import type { ModelCall } from '../../src/activities/model-turn.ts';
import { defineTool } from '../../src/agents/define-tool.ts';

const read = defineTool({
  name: 'read',
  description: '',
  input: z.object({ path: z.string(), lines: z.int().default(10) }),
  execute: () => null,
});
const list = defineTool({ name: 'list', description: '', input: z.object({}), execute: () => null });
const bash = defineTool({
  name: 'bash',
  description: '',
  input: z.object({ command: z.string().optional() }),
  subject: { argument: 'command', shell: true },
  execute: () => null,
});
const toolNamed = (name: string) => [read, list, bash].find((tool) => tool.name === name);
const tools = { toolNamed, whyNot: () => undefined };

const check = async (tool: string, text: string, finishReason = 'tool-calls'): Promise<ModelCall | undefined> =>
  (await checkCalls({ calls: [{ id: 'c', tool, arguments: text }], finishReason }, tools))[0];

describe('checkCalls', () => {
  test.each<[string, string, Partial<ModelCall>]>([
    ['read', '{"path":"a"}', { args: { path: 'a', lines: 10 } }],
    ['read', '{"path":"a","lines":3,"more":1}', { args: { path: 'a', lines: 3 } }],
    ['list', '', { args: {} }],
    [
      'bash',
      '{"command":"git status; sudo ls"}',
      {
        args: { command: 'git status; sudo ls' },
        shell: {
          argument: 'command',
          parts: [
            { text: 'git status', reduced: 'git status' },
            { text: 'sudo ls', reduced: 'sudo ls', wrapper: 'sudo' },
            { text: 'ls', reduced: 'ls', wrapper: 'sudo', within: 1, at: [5, 7] },
          ],
          uncertain: ['wrapper program'],
        },
      },
    ],
    ['bash', '{}', { args: {} }],
    ['list', '{}', { args: {} }],
    ['write', '{"path":"a"}', { raw: { path: 'a' }, problem: "Error: tool 'write' not found" }],
    ['write', '{', { raw: '{', problem: "Error: tool 'write' not found" }],
    ['toString', '{}', { raw: {}, problem: "Error: tool 'toString' not found" }],
    ['', '{}', { raw: {}, problem: "Error: tool '' not found" }],
    ['read', '{"path":1}', { raw: { path: 1 }, problem: 'Error: arguments.path: expected string, received number' }],
    [
      'read',
      '{"path":"a","path":"b"}',
      { raw: '{"path":"a","path":"b"}', problem: 'Error: arguments.path: expected each key once' },
    ],
    [
      'read',
      '{"path":"a"',
      {
        raw: '{"path":"a"',
        problem:
          "Error: arguments: Quoted object key or end of object '}' expected but reached end of input at position 11",
      },
    ],
    [
      'read',
      '{"path":"\ud83d"}',
      { raw: '{"path":"\ufffd"}', problem: 'Error: arguments.path: expected text without half a surrogate pair' },
    ],
  ])('%s with %j', async (tool, text, expected) => {
    expect(await check(tool, text)).toEqual({ id: 'c', tool, ...expected });
  });

  test.each([
    ['length', 'it reached its maximum length'],
    ['content-filter', "the provider's filter ended it"],
    ['other', 'the provider does not say why it ended'],
    ['a reason of tomorrow', 'the provider does not say why it ended'],
  ])('no call of an answer that ended by %s runs', async (finishReason, why) => {
    const problem = `Error: not run, because the answer is not whole: ${why}`;
    expect(await check('list', '', finishReason)).toEqual({ id: 'c', tool: 'list', raw: {}, problem });
    expect(await check('list', '{}', finishReason)).toEqual({ id: 'c', tool: 'list', raw: {}, problem });
    expect(await check('none', '{}', finishReason)).toMatchObject({ problem });
  });

  test('truncates a bad call to what a reader needs', async () => {
    const call = await check('x'.repeat(5_000), `{"path":${'['.repeat(200_000)}`);
    expect(JSON.stringify(call).length).toBeLessThan(3_000);
    expect(call?.problem).toBe(`Error: tool '${'x'.repeat(128)}…' not found`);
    const emoji = await check('read', `[${'😀'.repeat(2_000)}`);
    expect(emoji?.raw).toBe(`[${'😀'.repeat(999)}…`);
  });

  test('gives each call of a turn its own id, in order', async () => {
    const ids = ['a', '', 'a', '', 'a-2', 'a'];
    const calls = ids.map((id) => ({ id, tool: 'list', arguments: '{}' }));
    const checked = await checkCalls({ calls, finishReason: 'tool-calls' }, tools);
    expect(checked.map((call) => call.id)).toEqual(['a', 'call', 'a-2', 'call-2', 'a-2-2', 'a-3']);
  });
});
