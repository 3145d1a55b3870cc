import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import {
  canonicalJson,
  canonicalJsonProblem,
  isTooDeep,
  maxCanonicalDepth,
} from '../../../src/core/base/canonical-json.ts';
import type { Json } from '../../../src/core/base/tool-call.ts';
import { parseJson } from '../../../src/core/base/json.ts';

const nested = (depth: number): Json => {
  let value: Json = 0;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

describe('canonicalJson', () => {
  test.each<[string, Json, string]>([
    ['sorts keys by code units', { b: 1, a: 2, B: 3, '': 4 }, '{"":4,"B":3,"a":2,"b":1}'],
    ['sorts a surrogate pair before U+FB33', { '\ufb33': 1, '😀': 2 }, '{"😀":2,"\ufb33":1}'],
    ['writes numbers as ECMAScript', [1e21, 1e-7, -0, 100, 0.1, 4.5], '[1e+21,1e-7,0,100,0.1,4.5]'],
    ['escapes only what JSON demands', '€$\u000f\nA\'B"\\/\u2028', '"€$\\u000f\\nA\'B\\"\\\\/\u2028"'],
    ['leaves Unicode forms alone', ['\u00e9', 'e\u0301'], '["\u00e9","e\u0301"]'],
    ['keeps a member called __proto__', parseJson('{"__proto__":{"a":1}}') as Json, '{"__proto__":{"a":1}}'],
  ])('%s', (_, value, text) => expect(canonicalJson(value)).toBe(text));

  test('omits a member that is undefined, as JSON does', () => {
    expect(canonicalJson({ a: undefined, b: 1 } as unknown as Json)).toBe('{"b":1}');
  });

  test('is JSON of the same value, independent of key order', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        fc.pre(canonicalJsonProblem(value) === undefined);
        const text = canonicalJson(value as Json);
        expect(parseJson(text)).toEqual(parseJson(JSON.stringify(value)));
        expect(canonicalJson(reversed(parseJson(text) as Json))).toBe(text);
      }),
    );
  });
});

describe('values without canonical JSON', () => {
  const cycle: unknown[] = [];
  cycle.push({ cycle, again: cycle });
  test.each<[string, unknown, string]>([
    ['half a surrogate pair', { a: ['\ud83d'] }, 'surrogate'],
    ['half a pair in a field name', { '\ude00': 1 }, 'field name'],
    ['NaN', [NaN], 'NaN'],
    ['an infinity', { a: -Infinity }, '-Infinity'],
    ['undefined in a list', [undefined], 'undefined'],
    ['a hole in a list', [1, , 2], 'undefined'], // eslint-disable-line no-sparse-arrays
    ['a big integer', { a: 1n }, 'bigint'],
    ['a function', { toJSON: () => 1 }, 'function'],
    ['a date', { a: new Date(0) }, 'instance'],
    ['a map', new Map([['a', 1]]), 'instance'],
    ['one level too many', nested(maxCanonicalDepth + 1), 'levels deep'],
    ['200,000 brackets', nested(200_000), 'levels deep'],
    ['a cycle', cycle, 'levels deep'],
  ])('%s', (_, value, word) => {
    expect(canonicalJsonProblem(value)).toContain(word);
    expect(() => canonicalJson(value as Json)).toThrow(expect.objectContaining({ code: 'arguments_invalid' }));
  });

  test('the deepest allowed value is written', () => {
    expect(parseJson(canonicalJson(nested(maxCanonicalDepth)))).toEqual(nested(maxCanonicalDepth));
  });
});

test.each<[number, number, boolean]>([
  [0, 0, false],
  [1, 0, true],
  [1, 1, false],
  [3, 2, true],
  [3, 3, false],
  [100_000, 99_999, true],
])('%i levels against a limit of %i: too deep is %s', (depth, limit, expected) => {
  expect(isTooDeep(nested(depth), limit)).toBe(expected);
});

/** The same value with the keys of every object in reverse order. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, member]) => [key, reversed(member)] as const)
      .toReversed(),
  );
}
