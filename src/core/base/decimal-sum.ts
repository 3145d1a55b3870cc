/**
 * The exact sum of two decimal numbers, such as `0.3`, `1e-7` or `30e-2`: `0.1` and `0.2` give `3e-1`. A sum of doubles
 * drifts, and what is taken back from it leaves a rest. Throws for other texts, and for numbers far beyond a double.
 */
export function decimalSum(one: string, other: string): string {
  const both = [partsOf(one), partsOf(other)];
  const places = Math.max(...both.map((each) => each.places));
  const digits = both.reduce((sum, each) => sum + each.digits * 10n ** BigInt(places - each.places), 0n);
  return `${digits}e${-places}`;
}

const readable = /^-?\d{1,700}(?:\.\d{1,30})?(?:e[+-]?\d{1,3})?$/;

function partsOf(decimal: string): { digits: bigint; places: number } {
  if (!readable.test(decimal)) throw new Error('a sum is no decimal number');
  const [number = '0', exponent = '0'] = decimal.split('e');
  const [whole, fraction = ''] = number.split('.');
  return { digits: BigInt(`${whole}${fraction}`), places: fraction.length - Number(exponent) };
}
