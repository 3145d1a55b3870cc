/** The minimum, median, 99th percentile and maximum of some measurements. */
export interface Spread {
  least: number;
  median: number;
  p99: number;
  most: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
  return { least: at(0), median: at(0.5), p99: at(0.99), most: at(1) };
}

/** `12 · 15 · 80 · 90`, in the order of the type. */
export function showSpread({ least, median, p99, most }: Spread, digits = 0): string {
  return [least, median, p99, most].map((value) => value.toFixed(digits)).join(' · ');
}
