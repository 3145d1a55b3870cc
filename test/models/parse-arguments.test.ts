import { describe, expect, test } from 'vitest';
import * as fc from 'fast-check';
import { inlineLimits } from '../../src/core/base/size-limits.ts';
import { maxJsonDepth } from '../../src/text/read-json.ts';
import { parseArguments } from '../../src/models/parse-object.ts';
import type { JsonObject } from '../../src/core/base/tool-call.ts';
import { parseJson } from '../../src/core/base/json.ts';

const nested = (levels: number): string => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

describe('parseArguments', () => {
  test.each<[string, JsonObject]>([
    ['', {}],
    [' \n', {}],
    ['{}', {}],
    [' {"a": 1} ', { a: 1 }],
    ['{"a":{"x":1},"b":{"x":1}}', { a: { x: 1 }, b: { x: 1 } }],
    ['{"a":"\\"}{[","b":"\\\\"}', { a: '"}{[', b: '\\' }],
    ['{"constructor":1,"toString":2,"hasOwnProperty":3}', { constructor: 1, toString: 2, hasOwnProperty: 3 }],
    ['{"a":"\\ud83d\\ude00"}', { a: '😀' }],
    ['{"a":[true,false,null,""]}', { a: [true, false, null, ''] }],
  ])('reads %j', (text, args) => {
    expect(parseArguments(text)).toEqual({ args });
  });

  test.each<[string, number]>([
    ['-0', 0],
    ['0.1', 0.1],
    ['1.10', 1.1],
    ['3.141592653589793238462643', Math.PI],
    ['9007199254740991', 9007199254740991],
    ['-9007199254740992', -9007199254740992],
    ['18014398509481984', 18014398509481984],
    ['10000000000000000000000', 1e22],
    ['1e30', 1e30],
    ['1.5E+3', 1500],
    ['0e999', 0],
    ['5e-324', 5e-324],
  ])('reads the number %s', (text, number) => {
    expect(parseArguments(`{"a":${text}}`)).toStrictEqual({ args: { a: number } });
  });

  test.each([
    ['9007199254740993'],
    ['-9007199254740993'],
    ['12345678901234567890'],
    // A double holds it, but writes it as 18446744073709552000, which another reader would take.
    ['18446744073709551616'],
    ['100000000000000000000000'],
    ['9'.repeat(400)],
  ])('refuses the integer %s', (text) => {
    const problem = 'arguments.a[0]: expected a number that a double holds exactly; send it as text';
    expect(parseArguments(`{"a":[${text}]}`)).toEqual({ problem });
  });

  test.each([
    ['1e400'],
    ['-1e400'],
    ['1e-400'],
    ['9007199254740993.0'],
    ['9007199254740993e0'],
    ['9007199254740993.5'],
  ])('refuses the number %s', (text) => {
    expect(parseArguments(`{"a":${text}}`)).toEqual({ problem: 'arguments.a: expected a number that a double holds' });
  });

  test.each<[string, string]>([
    ['{"a":1,"a":2}', 'arguments.a: expected each key once'],
    ['{"a":1,"a":1}', 'arguments.a: expected each key once'],
    ['{"a":1,"\\u0061":1}', 'arguments.a: expected each key once'],
    ['{"x":[0,{"a":{},"b":2,"a":{}}]}', 'arguments.x[1].a: expected each key once'],
    ['{"__proto__":{"admin":true}}', "arguments.__proto__: expected a key other than '__proto__'"],
    ['{"x":{"\\u005f_proto__":1}}', "arguments.x.__proto__: expected a key other than '__proto__'"],
    ['{"a":"\\ud83d"}', 'arguments.a: expected text without half a surrogate pair'],
    ['{"a":"\ud83d"}', 'arguments.a: expected text without half a surrogate pair'],
    ['{"\\udc00":1}', 'arguments: expected text without half a surrogate pair'],
    ['[]', 'arguments: expected an object, got a list'],
    ['null', 'arguments: expected an object, got null'],
    ['"{}"', 'arguments: expected an object, got a string'],
    ['7', 'arguments: expected an object, got a number'],
  ])('refuses %j', (text, problem) => {
    expect(parseArguments(text)).toEqual({ problem });
  });

  test.each([
    ['{"a":1'],
    ['{"a":1}}'],
    ['{"a":1} {"b":2}'],
    ['{"a":1,}'],
    ["{'a':1}"],
    ['{a:1}'],
    ['{"a":01}'],
    ['{"a":+1}'],
    ['{"a":.5}'],
    ['{"a":NaN}'],
    ['{"a":"\n"}'],
    ['{"a":"\\x41"}'],
    ['{"a":undefined}'],
    ['{"a":1}//x'],
    ['{"a'],
    ['{"a\\'],
    ['{"a":1]'],
    ['rm -rf /'],
    ['\u0000'],
  ])('reports where %j breaks off, on one line', (text) => {
    expect(parseArguments(text)).toEqual({ problem: expect.stringMatching(/^arguments: [^\p{C}]+ at position \d+/u) });
  });

  test('refuses deep nesting, without overflowing the stack', () => {
    const problem = `arguments: expected at most ${maxJsonDepth} levels of nesting`;
    expect(parseArguments(nested(maxJsonDepth))).toHaveProperty('args');
    expect(parseArguments(nested(maxJsonDepth + 1))).toEqual({ problem });
    for (const opening of ['[', '{"a":', '{"a":[']) {
      expect(parseArguments(`{"a":${opening.repeat(150_000)}`)).toEqual({ problem });
    }
    expect(parseArguments('['.repeat(200_000))).toEqual({ problem });
  });

  test('refuses a size in bytes beyond the limit', () => {
    const ofBytes = (bytes: number): string => `{"a":"${'é'.repeat((bytes - 8) / 2)}"}`;
    const most = inlineLimits.argumentBytes;
    expect(parseArguments(ofBytes(most))).toHaveProperty('args');
    const problem = `arguments: ${most + 2} bytes, expected at most ${most}`;
    expect(parseArguments(ofBytes(most + 2))).toEqual({ problem });
    expect(parseArguments(ofBytes(most + 2), most + 2)).toHaveProperty('args');
  });

  test('reads the output of JSON.stringify', () => {
    const json = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }));
    fc.assert(
      fc.property(json, (value) => {
        // JSON.stringify rounds integers beyond 2^53 to digits that no double holds.
        const text = JSON.stringify(value, (_key, part: unknown) =>
          Number.isInteger(part) && !Number.isSafeInteger(part) ? 0 : part,
        );
        fc.pre(!text.includes('"__proto__"'));
        expect(parseArguments(text)).toEqual({ args: parseJson(text) });
      }),
    );
  });

  test('never throws, and accepts nothing that JSON.parse refuses', () => {
    const fragment = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '"b"',
      '\\',
      '1',
      '-',
      '.',
      'e',
      ' ',
      'null',
    );
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 14 }), (fragments) => {
        const text = fragments.join('');
        const result = parseArguments(text);
        const standard: unknown = 'args' in result && text.trim() !== '' ? JSON.parse(text) : {};
        expect('args' in result ? result.args : {}).toEqual(standard);
      }),
      { numRuns: 2_000 },
    );
  });
});
