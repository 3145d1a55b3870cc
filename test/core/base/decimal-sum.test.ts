import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimalSum } from '../../../src/core/ledger/argument-sums.ts';
import { runs } from '../../support/thorough.ts';

test.each<[string[], number]>([
  [['0.1', '0.2'], 0.3],
  [Array.from({ length: 10 }, () => '0.1'), 1],
  [['1e21', '1e-7', '-1e21'], 1e-7],
  [['-0.5', '0.25'], -0.25],
  [['1.7976931348623157e308', '5e-324', '-1.7976931348623157e308'], 5e-324],
])('%j', (numbers, sum) => expect(Number(numbers.reduce(decimalSum, '0'))).toBe(sum));

test.each(['', 'x', '1,5', '0x1', '1e-999999', '1e9999', '9'.repeat(701), 'Infinity', '1n'])('%s is refused', (text) =>
  expect(() => decimalSum(text, '1')).toThrow('a sum is no decimal number'),
);

test('what is taken back leaves nothing, in any order', () => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(fc.array(number, { maxLength: 20 }), (numbers) => {
      const sum = numbers.map(String).reduce(decimalSum, '0');
      const rest = numbers.toSorted((one, other) => one - other).map((each) => String(-each));
      expect(Number(rest.reduce(decimalSum, sum))).toBe(0);
    }),
    { numRuns: runs(300) },
  );
});
