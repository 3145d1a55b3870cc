import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { parseJson } from '../../../src/core/base/json.ts';
import type { Json } from '../../../src/core/base/tool-call.ts';

/** JSON with every character of every string as an escape. */
function escapedJson(value: Json): string {
  const escaped = (text: string): string =>
    `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
  if (typeof value === 'string') return escaped(value);
  if (Array.isArray(value)) return `[${value.map(escapedJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, each]) => `${escaped(key)}:${escapedJson(each)}`)
    .join(',')}}`;
}

/** After it, V8 misreads escaped keys that follow `first`. */
function misleadEngine(first: string, key: string): void {
  JSON.parse(JSON.stringify({ [first]: 1, [key]: 1 }));
}

describe('parseJson', () => {
  test('the engine has the fault, or this module is not needed any more', () => {
    misleadEngine('fault', 'amoun\\');
    const [major] = process.versions.v8.split('.').map(Number) as [number];
    const [, key] = Object.keys(JSON.parse('{"fault":1,"amoun\\u0074":1}') as object);
    expect(key).toBe(major >= 13 ? 'amoun\\' : 'amount');
  });

  test.each([
    ['a letter', 'amoun\\', '"amoun\\u0074"', 'amount'],
    ['a line break', 'line\\', '"line\\n"', 'line\n'],
    ['a quote', 'quote\\', '"quote\\""', 'quote"'],
    ['the first character', '\\', '"\\t"', '\t'],
    ['a key that is a backslash', '\\\\', '"\\\\"', '\\'],
  ])('reads a key with an escape after one that misleads the engine: %s', (first, misleading, written, key) => {
    misleadEngine(first, misleading);
    expect(Object.keys(parseJson(`{"${first}":1,${written}:2}`) as object)).toEqual([first, key]);
  });

  test.each<[string, string]>([
    ['space everywhere', ' { "a\\n" : [ 1 , -2.5e3 , true , null , "b\\"c" ] , "d" : { } , "e" : [ ] } '],
    ['a name of the prototype', '{"a\\n":1,"__proto__":{"b":1}}'],
    ['a key twice', '{"a\\n":1,"b":2,"a\\n":3}'],
    ['indexes as keys', '{"b\\n":1,"2":1,"1":1}'],
    ['a string with an escape and a colon', '["a\\n:",":"]'],
    ['a bare value', '"a\\n"'],
  ])('reads as JSON.parse does: %s', (_name, text) => {
    const read = parseJson(text);
    expect(JSON.stringify(read)).toBe(JSON.stringify(JSON.parse(text)));
    expect(read).toEqual(JSON.parse(text));
  });

  test.each(['', '{"a\\n":1', '{"a\\n":01}', '{"a\\x":1}', '{"a\\n":1}}'])(
    'throws what JSON.parse throws: %j',
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    },
  );

  test('any value is read back, however it is written and whatever was read before', () => {
    const parts = fc.constantFrom('a', '\\', '"', '\n', 'u', '\u00ad', '\u3164', '\ud800');
    const texts = fc.array(parts, { maxLength: 3 }).map((each) => each.join(''));
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        texts,
        fc.integer(),
        fc.constantFrom(true, null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(texts, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(value, (each) => {
        expect(parseJson(escapedJson(each))).toEqual(each);
        expect(parseJson(JSON.stringify(each, null, 1))).toEqual(each);
      }),
      { numRuns: 1_000 },
    );
  });
});
