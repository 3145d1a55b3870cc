import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { Undecodable, isUndecodable, maxDepth, nestsTooDeep, sizeOf } from '../../../src/core/base/undecodable.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const brackets = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('nesting', () => {
  test.each<[string, string, boolean]>([
    ['nothing', '', false],
    ['as deep as may be', brackets(maxDepth), false],
    ['one deeper', brackets(maxDepth + 1), true],
    ['objects', '{"a":'.repeat(maxDepth + 1) + '1' + '}'.repeat(maxDepth + 1), true],
    ['lists and objects together', '[{"a":'.repeat(maxDepth / 2 + 1), true],
    ['never closed', '['.repeat(200_000), true],
    ['wide, not deep', `[${'[],'.repeat(10_000)}[]]`, false],
    ['in text it does not count', `"${'['.repeat(1_000)}"`, false],
    ['after an escaped quote it is still text', `"\\"${'['.repeat(1_000)}"`, false],
    ['after an escaped backslash the text is over', `"\\\\"${'['.repeat(1_000)}`, true],
    ['text that never ends', `"${'['.repeat(1_000)}`, false],
    ['closed more often than opened', ']'.repeat(1_000) + brackets(maxDepth), false],
  ])('%s', (_name, text, tooDeep) => expect(nestsTooDeep(bytes(text))).toBe(tooDeep));

  test('equals that of the value, for any JSON', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: maxDepth - 6, max: maxDepth }), (value, around) => {
        const text = '['.repeat(around) + JSON.stringify(value) + ']'.repeat(around);
        expect(nestsTooDeep(bytes(text))).toBe(around + depthOf(value) > maxDepth);
      }),
    );
  });

  test('is determined for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (any) => {
        expect(typeof nestsTooDeep(any)).toBe('boolean');
      }),
    );
  });
});

describe('the brand', () => {
  test('is recognized across realms, and no JSON can carry it', () => {
    expect(isUndecodable(new Undecodable(3, 'why'))).toBe(true);
    expect(isUndecodable({ [Symbol.for('countersign.undecodable')]: true })).toBe(true);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(isUndecodable(value)).toBe(false);
      }),
    );
  });

  test.each([
    undefined,
    null,
    'countersign.undecodable',
    { size: 3, why: 'x' },
    Object.create(new Undecodable(1, 'x')),
  ])('is not on %j', (value) => expect(isUndecodable(value)).toBe(false));
});

test.each<[unknown, number]>([
  [new Undecodable(7, 'why'), 7],
  [{ a: 1 }, 7],
  ['é', 3],
  [undefined, 0],
])('the size of %j is %i', (value, size) => expect(sizeOf(value)).toBe(size));
