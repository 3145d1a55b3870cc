import { expect, test } from 'vitest';
import { type ListedTool, listedTools } from '../../packages/mcp/src/listed-tools.ts';
import { definitionOf } from '../../src/agents/registry.ts';

const of = (name: string, more: Partial<ListedTool> = {}): ListedTool => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});
const listed = (tools: ListedTool[], more: { trusted?: boolean; tools?: string[] } = {}) =>
  listedTools(tools, { server: 's', trusted: false, attemptMs: 1_000, call: async () => null, ...more });

test.each<[object | undefined, boolean, string]>([
  [undefined, true, 'destructive'],
  [{ readOnlyHint: true }, true, 'read_only'],
  [{ destructiveHint: false }, true, 'write'],
  [{ readOnlyHint: true }, false, 'write'],
  [{ destructiveHint: true }, false, 'destructive'],
])('annotations %j, trusted: %j: %s', (annotations, trusted, risk) => {
  const { tools } = listed([of('a', annotations && { annotations })], { trusted });
  expect(tools.map((tool) => tool.risk)).toEqual([risk]);
});

test('a definition changes with the name, the description, the schema and the annotations that the server gives', () => {
  const definition = (tool: ListedTool): string => definitionOf(listed([tool]).tools[0]!).definition;
  const definitions = [
    of('a.b'),
    of('a/b'),
    of('a.b', { description: 'Does it.' }),
    of('a.b', { inputSchema: { type: 'object', title: 'x' } }),
    of('a.b', { annotations: {} }),
    of('a.b', { annotations: { readOnlyHint: true } }),
  ].map(definition);
  expect(new Set(definitions).size).toBe(6);
  expect(definition(of('a.b'))).toBe(definitions[0]);
});

const deep = (levels: number): object => JSON.parse(`${'{"items":'.repeat(levels)}{}${'}'.repeat(levels)}`) as object;

test.each<[string, ListedTool[], { tools?: string[] }, string[]]>([
  [
    'two of one name',
    [of('a b'), of('a.b'), of('c')],
    {},
    ['another one gets the same name', 'another one gets the same name'],
  ],
  ['one twice', [of('a'), of('a'), of('c')], {}, ['another one gets the same name', 'another one gets the same name']],
  [
    'no schema of an object',
    [of('a', { inputSchema: { type: 'string' } }), of('c')],
    {},
    ['its schema is no JSON Schema'],
  ],
  ['a deep schema', [of('a', { inputSchema: { type: 'object', ...deep(300) } }), of('c')], {}, ['nests too deep']],
  ['a very deep schema', [of('a', { inputSchema: { type: 'object', ...deep(5_000) } }), of('c')], {}, ['not offered']],
  ['a long description', [of('a', { description: 'x'.repeat(70_000) }), of('c')], {}, ['more than 64000 characters']],
  ['a long name', [of('x'.repeat(70_000)), of('c')], {}, ['more than 64000 characters']],
  ['one that nobody wants', [of('a'), of('c')], { tools: ['c', 'd'] }, ["has no tool 'd'"]],
])('%s: left out, and the others stay', (_what, tools, more, sentences) => {
  const { tools: offered, leftOut } = listed(tools, more);
  expect(offered.map(({ name }) => name)).toEqual(['s__c']);
  expect(leftOut).toEqual(sentences.map((sentence) => expect.stringContaining(sentence)));
  expect(leftOut.every((each) => each.length < 300)).toBe(true);
});

test('a run has room for what is offered: at most 200 tools, and 300,000 characters', () => {
  const many = listed(Array.from({ length: 300 }, (_, index) => of(`t${index}`)));
  expect([many.tools.length, many.leftOut.length]).toEqual([200, 1]);
  const long = listed(Array.from({ length: 10 }, (_, index) => of(`t${index}`, { description: 'x'.repeat(50_000) })));
  expect([long.tools.length, long.leftOut.length]).toEqual([5, 5]);
});
