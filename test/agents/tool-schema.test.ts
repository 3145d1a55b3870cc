import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
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
    ['a transformed object', z.object({}).transform((value) => value)],
    ['JSON Schema', { type: 'object' }],
    ['nothing', undefined],
    ['something odd', { _zod: null }],
  ])('refuses %s instead of an object schema', (_case, schema) => {
    expect(() => jsonSchemaOf('x', schema)).toThrow('x: expected a zod object schema');
  });
});
