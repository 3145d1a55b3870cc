import { expect, test } from 'vitest';
import { boundFacts, factsChanged, isBoundFacts, isPreviewed } from '../../../src/core/base/bound-preview.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';

const bound = (facts: JsonObject) => boundFacts(facts, facts);

test.each<[string, JsonObject, JsonObject, string[]]>([
  ['the same, in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
  ['another value', { rows: 60 }, { rows: 90 }, ['rows: 60 → 90']],
  ['a new fact', {}, { rows: 1 }, ['rows: new, 1']],
  ['a fact that is gone', { rows: 1 }, {}, ['rows: was 1, and is gone']],
  [
    'a text and an object',
    { who: 'ann', at: { id: 1 } },
    { who: 'bob', at: { id: 2 } },
    ['who: ann → bob', 'at: {"id":1} → {"id":2}'],
  ],
  ['a long text', { text: 'a'.repeat(100) }, { text: 'b'.repeat(101) }, ['text: 100 characters → 101 characters']],
  [
    'what cannot be shown',
    { text: 'a'.repeat(100) },
    { text: 'b'.repeat(100) },
    ['Something changed that these facts do not name: see what would change'],
  ],
  [
    'a name of every object',
    JSON.parse('{"__proto__": 1}'),
    { constructor: 2 },
    ['__proto__: was 1, and is gone', 'constructor: new, 2'],
  ],
])('%s', (_, before, now, changes) => {
  expect(factsChanged(bound(before), bound(now))).toEqual(changes);
});

test('of many changes, some are named', () => {
  const facts = (value: number): JsonObject =>
    Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`n${n}`, value]));
  const changes = factsChanged(bound(facts(1)), bound(facts(2)));
  expect(changes).toHaveLength(11);
  expect(changes.at(-1)).toBe('and 5 more');
});

test('facts have the bounds that readers demand', () => {
  const many = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`${'n'.repeat(n * 10)}${n}`, 'v'.repeat(n * 5)]),
  );
  expect(isBoundFacts(bound(many))).toBe(true);
  expect(isBoundFacts({ digest: 'x', facts: {} })).toBe(false);
  expect(isBoundFacts(undefined)).toBe(false);
});

test('a request waits for its preview, unless reviewers do not see it', () => {
  expect([isPreviewed({}), isPreviewed({ bound: 'pending' }), isPreviewed({ bound: 'pending', hidden: true })]).toEqual(
    [true, false, true],
  );
});
