import { describe, expect, test } from 'vitest';
import * as fc from 'fast-check';
import { maxJsonDepth, readJson } from '../../../src/text/read-json.ts';
import { strictJsonProblem, parseJson } from '../../../src/core/base/json.ts';

/** Finds exactly what parsers silently accept but read differently. */

const once = 'expected each key once';
const number = 'expected a number that a double holds';
const integer = `${number} exactly; send it as text`;
const text = 'expected text without half a surrogate pair';

test.each<[string, (string | number)[], string]>([
  ['{"a":1,"a":2}', ['a'], once],
  ['{"a":{"b":1},"c":[{"d":1,"d":1}]}', ['c', 0, 'd'], once],
  ['{"a":1,"\\u0061":1}', ['a'], once],
  ['[0,9007199254740993]', [1], integer],
  ['-9007199254740993', [], integer],
  ['{"a":18446744073709551616}', ['a'], integer],
  ['{"a":1e400}', ['a'], number],
  ['{"a":1e-400}', ['a'], number],
  ['{"a":9007199254740993.0}', ['a'], number],
  ['{"a":{"b":"\\ud83d"}}', ['a', 'b'], text],
  ['{"a":{"\\udc00":1}}', ['a'], text],
  ['[[[[1]]]]', [], 'expected at most 3 levels of nesting'],
])('%s', (json, place, expected) => {
  expect(strictJsonProblem(json, { maxDepth: 3 })).toEqual({ place, expected });
});

describe('no problem', () => {
  test.each([
    '',
    '{"a":{"x":1},"b":{"x":1}}',
    '{"a":"\\"a\\":1,\\"a\\":2"}',
    '[9007199254740991,-0,0.0,1.50,1e30,1E+3,0e999,5e-324,0.1]',
    '"\\ud83d\\ude00 {}[],: 9007199254740993"',
    '[true,false,null]',
  ])('in %s', (json) => {
    expect(strictJsonProblem(json, { maxDepth: 3 })).toBeUndefined();
  });

  test('in the output of JSON.stringify, except for integers beyond 2^53', () => {
    const value = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });
    fc.assert(
      fc.property(value, (any) => {
        const json = JSON.stringify(any, (_key, part: unknown) =>
          Number.isInteger(part) && !Number.isSafeInteger(part) ? 0 : part,
        );
        expect(strictJsonProblem(json, { maxDepth: maxJsonDepth })).toBeUndefined();
      }),
    );
  });
});

test('malformed text is left to the parser, which refuses it', () => {
  const fragment = fc.constantFrom(...'{ } [ ] , : " \\ - . e 1'.split(' '), '"a"', 'null', '\\u0', '9007199254740993');
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 14 }), (fragments) => {
      const json = fragments.join('');
      const problem = strictJsonProblem(json, { maxDepth: maxJsonDepth });
      const read = readJson(json, { root: 'it' });
      if (problem !== undefined) expect(read).toHaveProperty('problem');
      else if ('value' in read) expect(read.value).toEqual(parseJson(json));
      else expect(() => JSON.parse(json)).toThrow();
    }),
    { numRuns: 2_000 },
  );
});
