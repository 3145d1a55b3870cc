import { describe, expect, test } from 'vitest';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { defineTool, validateArguments } from '../../src/agents/define-tool.ts';
import type { ToolSchema } from '../../src/agents/tool-schema.ts';
import type { JsonObject } from '../../src/core/base/tool-call.ts';

const toolOf = (input: ToolSchema) => defineTool({ name: 'a', description: '', input, execute: () => null });

const tool = toolOf(
  z.object({
    path: z.string().min(1),
    mode: z.enum(['keep', 'replace']).default('keep'),
    times: z.int().max(3).optional(),
    lines: z.array(z.object({ 'a b': z.string() })).optional(),
    target: z.union([z.string(), z.object({ id: z.number() })]).optional(),
  }),
);

describe('validateArguments', () => {
  test.each<[JsonObject, JsonObject]>([
    [{ path: 'a' }, { path: 'a', mode: 'keep' }],
    [
      { path: 'a', mode: 'replace', more: 1 },
      { path: 'a', mode: 'replace' },
    ],
    [
      { path: 'a', target: { id: 1, more: 2 } },
      { path: 'a', mode: 'keep', target: { id: 1 } },
    ],
  ])('%j becomes %j, and validates to the same value again', async (args, expected) => {
    expect(await validateArguments(tool, args)).toEqual({ args: expected });
    expect(await validateArguments(tool, expected)).toEqual({ args: expected });
  });

  test.each<[JsonObject, string]>([
    [{}, 'arguments.path: expected string, received undefined'],
    [{ path: 5 }, 'arguments.path: expected string, received number'],
    [{ path: '' }, 'arguments.path: Too small: expected string to have >=1 characters'],
    [{ path: 'a', mode: 'x' }, 'arguments.mode: Invalid option: expected one of "keep"|"replace"'],
    [{ path: 'a', lines: [{ 'a b': 1 }] }, 'arguments.lines[0]["a b"]: expected string, received number'],
    [
      { path: 'a', target: { id: '1' } },
      'arguments.target: expected string, received object, or arguments.target.id: expected number, received string',
    ],
    [
      { path: 1, times: 4 },
      'arguments.path: expected string, received number; arguments.times: Too big: expected number to be <=3',
    ],
  ])('%j is reported as %j', async (args, problem) => {
    expect(await validateArguments(tool, args)).toEqual({ problem });
  });

  test('awaits an asynchronous check', async () => {
    const slow = toolOf(z.object({ a: z.string().refine(async (text) => text === 'good', 'expected good') }));
    expect(await validateArguments(slow, { a: 'good' })).toEqual({ args: { a: 'good' } });
    expect(await validateArguments(slow, { a: 'bad' })).toEqual({ problem: 'arguments.a: expected good' });
  });

  test('a check that throws is a problem and does not show its message', async () => {
    const broken = toolOf(
      z.object({
        a: z.string().refine(() => {
          throw new Error('secret');
        }),
      }),
    );
    expect(await validateArguments(broken, { a: '' })).toEqual({
      problem: "arguments: a check of tool 'a' failed on them",
    });
  });

  test("returns JSON, whatever the schema's defaults are", async () => {
    const dated = toolOf(z.object({ a: z.unknown().default(() => new Date(0)), b: z.unknown().optional() }));
    expect(await validateArguments(dated, {})).toEqual({ args: { a: '1970-01-01T00:00:00.000Z' } });
  });

  test('stays short, however much is wrong', async () => {
    const strict = toolOf(z.strictObject({ list: z.array(z.string()) }));
    const many = await validateArguments(strict, { list: Array.from({ length: 100 }, () => 1) });
    expect(many).toEqual({ problem: expect.stringMatching(/^arguments\.list\[0\].*\[4\].*; and 95 more$/) });
    const wide = await validateArguments(strict, { list: [], ['x'.repeat(5_000)]: 1 });
    expect('problem' in wide && wide.problem.length).toBeLessThanOrEqual(1_001);
  });
});

describe('with other libraries', () => {
  const mode = { path: 'a', mode: 'keep' };
  test.each<[string, ToolSchema, string]>([
    [
      'zod/mini',
      mini.object({ path: mini.string(), mode: mini.prefault(mini.string(), 'keep') }),
      'arguments.path: expected string, received number',
    ],
    [
      'ArkType',
      type({ path: 'string', mode: "string = 'keep'" }),
      'arguments.path: path must be a string (was a number)',
    ],
    [
      'Valibot',
      toStandardJsonSchema(v.object({ path: v.string(), mode: v.optional(v.string(), 'keep') })),
      'arguments.path: Invalid type: Expected string but received 7',
    ],
  ])('%s fills defaults, and tells what is wrong', async (_case, input, problem) => {
    expect(await validateArguments(toolOf(input), { path: 'a' })).toEqual({ args: mode });
    expect(await validateArguments(toolOf(input), { path: 7 })).toEqual({ problem });
  });

  // What their JSON Schemas do not show.
  test.each<[string, ToolSchema, JsonObject]>([
    ['doubles a number', type({ amount: type('number').pipe((amount) => amount * 2) }), { amount: 5 }],
    ['reads a number from a text', type({ amount: 'string.numeric.parse' }), { amount: '5' }],
    ['adds to a text', z.object({ amount: z.string().overwrite((text) => `${text}!`) }), { amount: '5' }],
  ])('a schema that %s runs nothing', async (_case, input, args) => {
    expect(await validateArguments(toolOf(input), args)).toEqual({
      problem: "arguments: the schema of tool 'a' changes or refuses what it has given itself",
    });
  });
});
