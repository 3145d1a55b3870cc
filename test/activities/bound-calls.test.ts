import { describe, expect, test } from 'vitest';
import { boundCalls } from '../../src/activities/call-model.ts';
import type { ModelCall } from '../../src/activities/model-turn.ts';
import { inlineLimits, storedLimits } from '../../src/core/base/size-limits.ts';

/** A call with arguments of `bytes` bytes of JSON. */
const callOf = (bytes: number, index = 0): ModelCall => ({
  id: `c${index}`,
  tool: 'publish',
  args: { body: 'x'.repeat(bytes - 11) },
});
const bound = (
  sizes: number[],
  options: { limits?: typeof inlineLimits; thresholdBytes?: number; besideBytes?: number } = {},
) =>
  boundCalls(
    sizes.map((bytes, index) => callOf(bytes, index)),
    { limits: inlineLimits, besideBytes: 100, ...options },
  );
const stands = (calls: ModelCall[]): boolean[] => calls.map(({ args }) => args !== undefined);
const stored = { limits: storedLimits, thresholdBytes: 262_144 };

describe('boundCalls', () => {
  test.each<[string, number[], Parameters<typeof bound>[1], boolean[]]>([
    ['nothing', [], {}, []],
    ['small ones', [100, 100, 100], {}, [true, true, true]],
    ['one that fills the turn', [1_499_000], {}, [true]],
    ['one that passes it', [1_500_000], {}, [false]],
    ['the first of two', [900_000, 900_000], {}, [true, false]],
    ['a smaller one after a refused one', [900_000, 900_000, 500_000], {}, [true, false, true]],
    ['what stands beside the calls counts', [900_000], { besideBytes: 700_000 }, [false]],
    ['large ones that travel by reference', [3_000_000, 3_000_000], stored, [true, true]],
    ['large ones past the turn', [3_000_000, 3_000_000, 3_000_000], stored, [true, true, false]],
    [
      'many that travel whole',
      Array.from({ length: 8 }, () => 200_000),
      stored,
      [...Array<boolean>(7).fill(true), false],
    ],
    [
      'one by reference after many whole',
      [...Array<number>(8).fill(200_000), 300_000],
      stored,
      [...Array<boolean>(7).fill(true), false, true],
    ],
  ])('%s', (_name, sizes, options, expected) => {
    expect(stands(bound(sizes, options))).toEqual(expected);
  });

  test('a refused call states its size, and keeps the start of its arguments', () => {
    const [, refused] = bound([900_000, 900_000]);
    expect(refused).toEqual({
      id: 'c1',
      tool: 'publish',
      raw: `{"body":"${'x'.repeat(191)}…`,
      problem:
        'Error: arguments: 900000 bytes, and with the calls before it more than the 1500000 of one turn; make fewer or smaller calls at a time',
    });
  });

  test('the turn stays within its limit, whatever the calls', () => {
    for (const sizes of [
      Array<number>(128).fill(11_700),
      Array<number>(128).fill(20_000),
      [1_300_000, ...Array<number>(127).fill(50_000)],
    ]) {
      const calls = bound(sizes);
      expect(Buffer.byteLength(JSON.stringify(calls))).toBeLessThanOrEqual(inlineLimits.turnBytes);
      expect(stands(calls)).toContain(false);
    }
  });
});
