import { expect, test } from 'vitest';
import { argumentSchema } from '../../packages/mcp/src/argument-schema.ts';
import { defineTool, validateArguments } from '../../src/agents/define-tool.ts';
import type { JsonObject } from '../../src/core/base/tool-call.ts';

const schema: JsonObject = {
  type: 'object',
  properties: {
    path: { type: 'string', pattern: '^(a+)+$' },
    lines: { type: ['integer', 'null'], default: 10 },
    kind: { enum: ['text', 'binary', 1] },
    edits: { type: 'array', items: { type: 'object', properties: { old: { type: 'string' } }, required: ['old'] } },
    either: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/other' }] },
  },
  required: ['path'],
  additionalProperties: false,
};
const check = (args: JsonObject, given = schema) =>
  validateArguments(
    defineTool({ name: 'a', description: '', input: argumentSchema(given), execute: () => null }),
    args,
  );

test.each<[JsonObject]>([
  [{ path: 'a' }],
  [{ path: 'b', lines: null, kind: 1, edits: [{ old: 'x', new: 'y' }], either: { any: 'thing' } }],
])('%j is passed on as it is', async (args) => {
  expect(await check(args)).toEqual({ args });
});

test.each<[JsonObject, string]>([
  [{}, 'arguments.path: is missing'],
  [{ path: 1 }, 'arguments.path: expected string'],
  [{ path: 'a', lines: 1.5 }, 'arguments.lines: expected integer or null'],
  [{ path: 'a', kind: 'other' }, 'arguments.kind: expected one of ["text","binary",1]'],
  [{ path: 'a', edits: [{ old: 'x' }, {}] }, 'arguments.edits[1].old: is missing'],
  [{ path: 'a', more: 1 }, 'arguments.more: the tool has no such argument'],
])('%j: %s', async (args, problem) => {
  expect(await check(args)).toEqual({ problem });
});

test('what a schema of patterns or of a prefix admits is left to the server', async () => {
  const given: JsonObject = {
    type: 'object',
    properties: { pair: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } } },
    patternProperties: { '^x-': { type: 'string' } },
    additionalProperties: false,
  };
  const args = { pair: ['a', 1], 'x-note': 'b' };
  expect(await check(args, given)).toEqual({ args });
});

test('the model gets the schema as the server wrote it', () => {
  const tool = defineTool({ name: 'a', description: '', input: argumentSchema(schema), execute: () => null });
  expect(tool.schema).toEqual(schema);
});

test.each<[JsonObject]>([
  [{ type: 'object', properties: 7, required: 'all', additionalProperties: 1 }],
  [{ type: 'object', properties: { a: null, b: { enum: 'x', items: [true] } }, required: [1, null] }],
  [{ type: ['object', 3], $ref: '#' }],
])('a schema that is none, such as %j, refuses nothing', async (given) => {
  const { '~standard': standard } = argumentSchema(given);
  expect(await standard.validate({ a: 1, b: [2] })).toEqual({ value: { a: 1, b: [2] } });
});
