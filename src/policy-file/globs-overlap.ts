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

/** True if some text matches both globs. Finds the pairs of positions that it can reach; two classes always overlap. */
export function globsOverlap(one: string, other: string): boolean {
  const [first, second] = [globTokens(one), globTokens(other)];
  // `reachable`: positions in `second` that a common text can reach before this token of `first`; `next`: after it.
  let reachable = new Uint8Array(second.length + 1);
  let next = new Uint8Array(second.length + 1);
  reachable[0] = 1;
  for (let row = 0; row <= first.length; row += 1) {
    const left = first[row];
    for (let column = 0; column <= second.length; column += 1) {
      if (reachable[column] === 0) continue;
      const right = second[column];
      if (left === undefined && right === undefined) return true;
      // A star matches the empty text, or the next piece of the other glob.
      const isStar = left === 'star' || right === 'star';
      if (isStar && left !== undefined) next[column] = 1;
      if (isStar && right !== undefined) reachable[column + 1] = 1;
      if (left === 'star' || right === 'star' || left === undefined || right === undefined) continue;
      if (haveCharacterInCommon(left, right)) next[column + 1] = 1;
    }
    [reachable, next] = [next, reachable];
    next.fill(0);
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

/** False if no text can match both globs, because their beginnings or ends differ. */
function haveEndsInCommon(one: readonly string[], other: readonly string[]): boolean {
  const [begin, end] = [one[0]!, one.at(-1)!];
  const [otherBegin, otherEnd] = [other[0]!, other.at(-1)!];
  return (
    (begin.startsWith(otherBegin) || otherBegin.startsWith(begin)) &&
    (end.endsWith(otherEnd) || otherEnd.endsWith(end) || one.length === 1 || other.length === 1)
  );
}

function haveCharacterInCommon(one: Exclude<GlobToken, 'star'>, other: Exclude<GlobToken, 'star'>): boolean {
  if (one === 'any' || other === 'any') return true;
  if ('character' in one) return has(other, one.character);
  return 'character' in other ? has(one, other.character) : true;
}

function has(token: Exclude<GlobToken, 'star' | 'any'>, code: number): boolean {
  if ('character' in token) return token.character === code;
  return token.ranges.some(([from, to]) => from <= code && code <= to) !== token.negated;
}
