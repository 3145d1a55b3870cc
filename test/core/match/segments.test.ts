/** A glob against a text in segments, compared with a plain second version. */
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { runs } from '../../support/thorough.ts';
import { compileGlob, globMatches, segmentedSubject } from '../../../src/core/match/glob.ts';

const matches = (source: string, segments: string[]): unknown => {
  const glob = compileGlob(source);
  if ('problem' in glob) throw new Error(glob.problem);
  return globMatches(glob, segmentedSubject(segments));
};

describe('no star reaches from one segment into the next', () => {
  test.each<[string, string[], boolean]>([
    ['sudo ls*', ['sudo ', 'ls -l'], true],
    ['sudo *', ['sudo ', 'ls -l'], true],
    ['*', ['sudo ', 'ls -l'], false],
    ['*', ['sudo', ''], true],
    ['sudo*', ['sudo ', 'ls -l'], false],
    ['sudo**', ['sudo ', 'ls -l'], true],
    ['s*ls*', ['sudo ', 'ls -l'], true],
    ['find . -exec ls*', ['find . -exec ls {} ; -exec ', 'rm {}', ''], false],
    ['find . -exec ls*', ['find . -exec ', 'ls {}', ' -delete'], false],
    ['a?[!b]', ['a', 'bc'], true],
    ['a?[b-d]', ['ab', 'c'], true],
    ['a?[!c]', ['ab', 'c'], false],
    ['é*', ['e\u0301', ''], true],
    ['a/b*', ['a/', 'b/c'], true],
    ['a', ['a', 'b'], false],
    ['ab', ['', 'a', '', 'b', ''], true],
  ])('%s on %j: %s', (source, segments, expected) => expect(matches(source, segments)).toBe(expected));

  test('as a plain second version says', () => {
    /** What remains of the glob may match what remains of the segments. */
    const plain = (glob: string, [segment, ...others]: string[]): boolean => {
      if (segment === undefined) return /^\**$/.test(glob);
      if (segment === '' && plain(glob, others)) return true;
      if (glob.startsWith('*')) {
        return Array.from({ length: segment.length + 1 }, (_, end) => end).some((end) =>
          plain(glob.slice(1), [segment.slice(end), ...others]),
        );
      }
      return (
        segment !== '' &&
        (glob[0] === '?' || glob[0] === segment[0]) &&
        plain(glob.slice(1), [segment.slice(1), ...others])
      );
    };
    const text = fc.array(fc.constantFrom('a', 'b'), { maxLength: 4 }).map((each) => each.join(''));
    const glob = fc
      .array(fc.constantFrom('a', 'b', '*', '?'), { minLength: 1, maxLength: 6 })
      .map((each) => each.join(''));
    fc.assert(
      fc.property(glob, fc.array(text, { minLength: 1, maxLength: 4 }), (source, segments) => {
        expect([source, segments, matches(source, segments)]).toEqual([source, segments, plain(source, segments)]);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
