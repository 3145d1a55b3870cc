import { expect, test } from 'vitest';
import { mcpServer } from '../../packages/mcp/src/index.ts';
import { defineAgent } from '../../src/agents/define-agent.ts';
import { createRegistry } from '../../src/agents/registry.ts';
import { scriptedModel } from '../../src/models/scripted.ts';

test.each<[object, RegExp]>([
  [{ name: 'a' }, /^MCP server "a": give either command or url$/],
  [{ name: 'a', command: 'x', url: 'https://a.example' }, /give either command or url/],
  [{ name: 'a', command: 'x', headers: {} }, /unknown option 'headers'; known are name, /],
  [{ name: 'a', url: 'https://a.example', env: {} }, /unknown option 'env'/],
  [{ name: 'a', url: 'file:///etc/passwd' }, /url must be an https or http address/],
  [{ name: 'a', url: 'https://ann:s3cret@a.example' }, /no user and password/],
  [{ name: 'a', url: 'https://a.example', headers: { 'x-key': 's3cret\nx: y' } }, /headers must be/],
  [{ name: 'a', url: 'https://a.example', auth: 's3cret' }, /auth must be a function/],
  [{ name: 'a', command: 'x', env: { KEY: 7 } }, /env must be an object of texts/],
  [{ name: 'a', command: '' }, /command must be/],
  [{ name: 'a', command: 'x', args: 'y' }, /args must be a list/],
  [{ name: 'a', command: 'x', startTimeoutMs: 20_001 }, /startTimeoutMs: expected a whole number from 1 to 20000/],
  [{ name: 'a', command: 'x', timeoutMs: 0 }, /timeoutMs: expected/],
  [{ name: 'a', command: 'x', trusted: 'yes' }, /trusted must be/],
  [{ name: 'a__b', command: 'x' }, /^toolset name "a__b": expected 1 to 32 letters/],
  [{ name: 'a_', command: 'x' }, /no '_' at an end/],
  [{ name: 'a b', command: 'x' }, /toolset name/],
])('%j is refused', (options, sentence) => {
  expect(() => mcpServer(options as never)).toThrow(sentence);
  expect(() => mcpServer(options as never)).not.toThrow('s3cret');
});

const server = (name = 'files') => mcpServer({ name, command: 'no-such-program' });
const agent = (name: string, ...tools: ReturnType<typeof server>[]) =>
  defineAgent({ name, instructions: '', model: scriptedModel([]), tools });

test('a second server of one name is refused, in an agent and in a worker; one server may serve several agents', () => {
  const one = server();
  expect(() => agent('a', one, server())).toThrow("agent 'a': toolset name 'files' is used twice");
  expect(() => createRegistry({ agents: [agent('a', one), agent('b', server())] })).toThrow(
    "toolset name 'files' is used by two different toolsets; rename one, or share one object",
  );
  expect(createRegistry({ agents: [agent('a', one), agent('b', one, server('more'))] }).toolsets.prefixes).toEqual([
    'files__',
    'more__',
  ]);
});
