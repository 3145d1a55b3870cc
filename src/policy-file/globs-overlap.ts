import { globMatches, type Glob } from '../core/match/glob.ts';
import { globTokens, type GlobToken } from '../core/match/glob-syntax.ts';

/** How many steps of comparisons one policy may take: about half a second. */
const mostComparisons = 10_000_000;

/** Limits how much the rules of a policy are compared, so that reading it takes time proportional to its length. */
export class Comparisons {
  #left = mostComparisons;

  /** Counts the steps of some work. False if the limit is exceeded: the caller must then skip the work. */
  afford(steps: number): boolean {
    this.#left -= steps;
    return this.#left >= 0;
  }

  /** True if some text matches both globs; false also if the bound is exceeded. */
  overlap(one: Glob, other: Glob): boolean {
    return (
      haveEndsInCommon(one.literals, other.literals) &&
      this.afford(one.source.length * other.source.length) &&
      globsOverlap(one.source, other.source)
    );
  }

  /** True if some comparison was not made. */
  get isCut(): boolean {
    return this.#left < 0;
  }
}

/** True if some text matches both globs: from both beginnings, character by character, it can reach both ends. */
export function globsOverlap(one: string, other: string): boolean {
  const [first, second] = [globTokens(one), globTokens(other)];
  // The places in `second` that a common text can reach before the present token of `first`, and after it.
  let reachedBefore = new Uint8Array(second.length + 1);
  let reachedAfter = new Uint8Array(second.length + 1);
  reachedBefore[0] = 1;
  for (let row = 0; row <= first.length; row += 1) {
    const token = first[row];
    for (let column = 0; column <= second.length; column += 1) {
      if (reachedBefore[column] === 0) continue;
      const otherToken = second[column];
      // Both globs have ended.
      if (token === undefined && otherToken === undefined) return true;
      // A star may match nothing, and is passed; or it takes the other glob's token, which is passed in its place.
      const isStar = token === 'star' || otherToken === 'star';
      if (isStar && token !== undefined) reachedAfter[column] = 1;
      if (isStar && otherToken !== undefined) reachedBefore[column + 1] = 1;
      if (token === 'star' || otherToken === 'star' || token === undefined || otherToken === undefined) continue;
      if (haveCharacterInCommon(token, otherToken)) reachedAfter[column + 1] = 1;
    }
    [reachedBefore, reachedAfter] = [reachedAfter, reachedBefore];
    reachedAfter.fill(0);
  }
  return false;
}

/**
 * True if `wide` certainly matches every text that `narrow` matches. A `wide` of literals and `*` does so if it matches
 * the text of `narrow` in which an unused character replaces each wildcard.
 */
export function globCovers(wide: Glob, narrow: Glob): boolean {
  if (wide.source === narrow.source) return true;
  if (/[?[]/.test(wide.source)) return false;
  return globMatches(wide, { mapped: narrow.literals.join('\ufdd1') }) === true;
}

/** False if no text can match two globs, because their first or, with wildcards in both, their last literals differ. */
function haveEndsInCommon(one: readonly string[], other: readonly string[]): boolean {
  const [begin, end] = [one[0]!, one.at(-1)!];
  const [otherBegin, otherEnd] = [other[0]!, other.at(-1)!];
  return (
    (begin.startsWith(otherBegin) || otherBegin.startsWith(begin)) &&
    (end.endsWith(otherEnd) || otherEnd.endsWith(end) || one.length === 1 || other.length === 1)
  );
}

/** True if a character matches both tokens. Of two classes, such as `[a-c]` and `[x-z]`, it assumes so. */
function haveCharacterInCommon(one: Exclude<GlobToken, 'star'>, other: Exclude<GlobToken, 'star'>): boolean {
  if (one === 'any' || other === 'any') return true;
  if ('character' in one) return has(other, one.character);
  return 'character' in other ? has(one, other.character) : true;
}

function has(token: Exclude<GlobToken, 'star' | 'any'>, code: number): boolean {
  if ('character' in token) return token.character === code;
  return token.ranges.some(([from, to]) => from <= code && code <= to) !== token.negated;
}
