import { describe, expect, test } from 'vitest';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { jsonSchema } from 'ai';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as z3 } from 'zod/v3';
import { jsonSchemaOf } from '../../src/agents/tool-schema.ts';

interface Folder {
  name: string;
  folders: Folder[];
}
const folder: z.ZodType<Folder> = z.object({ name: z.string(), folders: z.array(z.lazy(() => folder)) });

describe('jsonSchemaOf', () => {
  test.each<[string, z.ZodObject]>([
    ['no argument', z.object({})],
    ['defaults', z.object({ a: z.number().default(3) })],
    ['optional and nullable', z.object({ a: z.string().optional(), b: z.string().nullable() })],
    ['strict', z.strictObject({ a: z.string() })],
    ['loose', z.looseObject({ a: z.string() })],
    ['trimmed', z.object({ a: z.string().trim().toLowerCase() })],
    ['refined', z.object({ a: z.string() }).refine(() => true)],
    ['any JSON', z.object({ a: z.json(), b: z.unknown() })],
    ['a union, a tuple and a record', z.object({ a: z.union([z.tuple([z.int()]), z.record(z.string(), z.null())]) })],
    ['a narrowing pipe', z.object({ a: z.string().pipe(z.email()) })],
    ['recursion', z.object({ root: folder })],
  ])('accepts %s', (_case, schema) => {
    const json = jsonSchemaOf('x', schema);
    expect(json).toMatchObject({ type: 'object' });
    expect(JSON.parse(JSON.stringify(json))).toEqual(json);
    // What a run has recorded stays comparable.
    expect(json).toEqual(z.toJSONSchema(schema, { io: 'input' }));
  });

  // JSON Schema shows only one side of the last four; without a check of the steps between, they would pass.
  test.each<[string, z.ZodType]>([
    ['a transform', z.string().transform((text) => text.length)],
    ['a date', z.date()],
    ['a coerced date', z.coerce.date()],
    ['a bigint', z.bigint()],
    ['a map', z.map(z.string(), z.string())],
    ['undefined', z.undefined()],
    ['a symbol', z.symbol()],
    ['NaN', z.nan()],
    ['an instance', z.instanceof(URL)],
    ['a file', z.file()],
    ['a promise', z.promise(z.string())],
    [
      'a transform with a schema behind it',
      z
        .string()
        .transform((text) => text.length)
        .pipe(z.number()),
    ],
    ['a preprocessor', z.preprocess((value) => value, z.string())],
    ['a codec', z.stringbool()],
    ['a codec in a list in a union', z.union([z.int(), z.array(z.stringbool())])],
    ['a codec behind a lazy schema', z.lazy(() => z.stringbool())],
    ['a codec in a record', z.record(z.string(), z.stringbool())],
    ['a codec in a tuple', z.tuple([z.int()], z.stringbool())],
  ])('refuses %s', (_case, schema) => {
    const sentence = /^tool 'a': input: .+: a tool receives exactly the arguments that were approved, as JSON, so .+$/;
    expect(() => jsonSchemaOf("tool 'a': input", z.object({ a: schema }))).toThrow(sentence);
  });

  test.each([
    ['a string', z.string()],
    ['a union', z.union([z.object({}), z.object({})])],
    ['an ArkType string', type('string')],
  ])('refuses %s instead of an object schema', (_case, schema) => {
    expect(() => jsonSchemaOf('x', schema)).toThrow('x: expected the schema of an object');
  });

  test.each<[string, unknown, string]>([
    ['JSON Schema', { type: 'object' }, 'expected a schema of zod 4, or of another library'],
    ['jsonSchema() of the AI SDK', jsonSchema({ type: 'object' }), 'expected a schema of zod 4, or of another library'],
    ['nothing', undefined, 'expected a schema of zod 4, or of another library'],
    ['something odd', { _zod: null }, 'expected a schema of zod 4, or of another library'],
    ['something odder', { '~standard': { validate: 1 } }, 'expected a schema of zod 4, or of another library'],
    ['zod 3', z3.object({ a: z3.string() }), "this one is of zod 3: import z from zod 4, or from 'zod/v4' of zod 3.25"],
    [
      'Valibot alone',
      v.object({ a: v.string() }),
      'this schema of valibot gives no JSON Schema for the model: make it',
    ],
  ])('refuses %s', (_case, schema, sentence) => {
    expect(() => jsonSchemaOf('x', schema)).toThrow(sentence);
  });
});

describe('other libraries', () => {
  const expected = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { path: { type: 'string', minLength: 1 }, times: { type: 'number' } },
    required: ['path'],
  };

  test.each<[string, unknown]>([
    ['zod/mini', mini.object({ path: mini.string().check(mini.minLength(1)), times: mini.optional(mini.number()) })],
    ['ArkType', type({ path: 'string > 0', 'times?': 'number' })],
    [
      'Valibot',
      toStandardJsonSchema(v.object({ path: v.pipe(v.string(), v.minLength(1)), times: v.optional(v.number()) })),
    ],
  ])('%s gives the same JSON Schema', (_case, schema) => {
    expect(jsonSchemaOf('x', schema)).toEqual(expected);
  });

  test.each<[string, unknown]>([
    ['a transform of Valibot', toStandardJsonSchema(v.object({ a: v.pipe(v.string(), v.transform(Number)) }))],
    ['a transform of zod/mini', mini.object({ a: mini.pipe(mini.string(), mini.transform(Number)) })],
  ])('refuses %s', (_case, schema) => {
    expect(() => jsonSchemaOf('x', schema)).toThrow(/^x: .+: a tool receives exactly the arguments that were approved/);
  });
});
