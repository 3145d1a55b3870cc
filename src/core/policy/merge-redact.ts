import type { RedactSettings } from './policy.ts';

/** What either policy of one layer wants redacted. */
export function mergeRedact(
  one: RedactSettings | undefined,
  other: RedactSettings | undefined,
): RedactSettings | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const kinds = [...new Set([...(one.kinds ?? []), ...(other.kinds ?? [])])];
  const also = [...new Set([...(one.also ?? []), ...(other.also ?? [])])];
  return {
    ...((one.kinds ?? other.kinds) && { kinds }),
    patterns: [...one.patterns, ...other.patterns],
    ...((one.also ?? other.also) && { also }),
  };
}
