import { globMatches, type Glob } from '../core/match/glob.ts';
import { globTokens, type GlobToken } from '../core/match/glob-syntax.ts';

/** True if some text matches both globs. Two classes count as having a character in common. */
export function globsOverlap(one: string, other: string): boolean {
  const [first, second] = [globTokens(one), globTokens(other)];
  const seen = new Set<number>();
  const open: [number, number][] = [[0, 0]];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const [at, by] = place;
    const key = at * (second.length + 1) + by;
    if (seen.has(key)) continue;
    seen.add(key);
    const [left, right] = [first[at], second[by]];
    if (left === undefined && right === undefined) return true;
    // A star matches nothing, or the next piece of the other glob.
    if (left === 'star') open.push([at + 1, by], ...(right === undefined ? [] : [[at, by + 1] as [number, number]]));
    if (right === 'star') open.push([at, by + 1], ...(left === undefined ? [] : [[at + 1, by] as [number, number]]));
    if (left === 'star' || right === 'star' || left === undefined || right === undefined) continue;
    if (inCommon(left, right)) open.push([at + 1, by + 1]);
  }
  return false;
}

/**
 * A glob of literals and `*` covers another if it matches the other's text, in which each wildcard is replaced by a
 * character that nobody writes, so that no literal matches across one.
 */
export function globCovers(wide: Glob, narrow: Glob): boolean {
  if (wide.source === narrow.source) return true;
  if (/[?[]/.test(wide.source)) return false;
  return globMatches(wide, { mapped: narrow.literals.join('\ufdd1') }) === true;
}

function inCommon(one: Exclude<GlobToken, 'star'>, other: Exclude<GlobToken, 'star'>): boolean {
  if (one === 'any' || other === 'any') return true;
  if ('character' in one) return has(other, one.character);
  return 'character' in other ? has(one, other.character) : true;
}

function has(token: Exclude<GlobToken, 'star' | 'any'>, code: number): boolean {
  if ('character' in token) return token.character === code;
  return token.ranges.some(([from, to]) => from <= code && code <= to) !== token.negated;
}
