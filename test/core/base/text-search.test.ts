import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { TextSearch } from '../../../src/core/base/text.ts';
import { runs } from '../../support/thorough.ts';

/** Words longer than those that the engine's own search is used for. */
const word = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 24 }).map((each) => each.join(''));
const text = fc.array(fc.oneof(fc.constantFrom('a', 'b', '😀'), word), { maxLength: 30 }).map((each) => each.join(''));

describe('a word is found as the engine finds it', () => {
  test('each place, without overlaps', () => {
    fc.assert(
      fc.property(word, text, fc.nat(40), (each, all, from) => {
        const search = new TextSearch(each);
        expect(search.next(all, from)).toBe(all.indexOf(each, from));
        const places = search.places(all + each + all);
        expect(places.map((at) => (all + each + all).slice(at, at + each.length))).toEqual(places.map(() => each));
        expect(places).toHaveLength((all + each + all).split(each).length - 1);
      }),
      { numRuns: runs(500) },
    );
  });

  test('its beginning at the end of a text', () => {
    fc.assert(
      fc.property(word, text, (each, all) => {
        const longest = Array.from(each, (_, length) => length).findLast((length) =>
          all.endsWith(each.slice(0, length)),
        );
        expect(new TextSearch(each).overlap(all)).toBe(longest);
      }),
      { numRuns: runs(500) },
    );
  });
});

test('the empty word', () => {
  expect(new TextSearch('').places('ab')).toEqual([]);
  expect(new TextSearch('').next('ab', 1)).toBe(1);
});
