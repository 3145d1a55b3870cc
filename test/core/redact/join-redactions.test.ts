import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinRedactions } from '../../../src/core/redact/join-redactions.ts';
import type { RedactedValue, Redaction } from '../../../src/core/redact/redaction.ts';

type Spans = RedactedValue['spans'];

const redaction = (spans: Spans): Redaction => ({
  settings: '',
  patterns: '',
  kinds: [],
  values: spans.length === 0 ? [] : [{ path: ['text'], spans }],
});
const joined = (one: Spans, other: Spans): Spans =>
  joinRedactions(redaction(one), redaction(other)).values[0]?.spans ?? [];

test.each<[string, Spans, Spans, Spans]>([
  ['apart, in the order of the text', [[5, 6, 'b']], [[1, 2, 'a']], [[1, 2, 'a'], [5, 6, 'b']]], // prettier-ignore
  ['that touch', [[2, 4, 'b']], [[0, 2, 'a']], [[0, 2, 'a'], [2, 4, 'b']]], // prettier-ignore
  ['equal ones: that of the first', [[1, 3, 'a']], [[1, 3, 'b']], [[1, 3, 'a']]],
  ['a new one within an earlier one: the earlier one', [[2, 4, 'new']], [[0, 9, 'earlier']], [[0, 9, 'earlier']]],
  ['an earlier one within a new one: the new one', [[0, 9, 'new']], [[2, 4, 'earlier']], [[0, 9, 'new']]],
  ['that cross: one of no kind', [[0, 5, 'a']], [[3, 9, 'b']], [[0, 9, '[REDACTED]']]],
])('spans %s', (_what, one, other, all) => {
  expect(joined(one, other)).toEqual(all);
});

test('what either redaction hides stays hidden, in spans apart', () => {
  const spans = fc
    .uniqueArray(fc.nat(40), { maxLength: 8 })
    .map((ends) => ends.toSorted((a, b) => a - b))
    .map((ends) => ends.flatMap((end, index): Spans => (index % 2 === 0 ? [] : [[ends[index - 1]!, end, 'kind']])));
  const placesIn = (some: Spans): Set<number> =>
    new Set(some.flatMap(([start, end]) => Array.from({ length: end - start }, (_, index) => start + index)));
  fc.assert(
    fc.property(spans, spans, (one, other) => {
      const all = joined(one, other);
      expect(placesIn(all)).toEqual(new Set([...placesIn(one), ...placesIn(other)].toSorted((a, b) => a - b)));
      expect(all.every(([start], index) => index === 0 || all[index - 1]![1] <= start)).toBe(true);
    }),
  );
});
