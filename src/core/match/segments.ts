/**
 * Matches a glob against a text in segments. Its pieces match the segments in order, and no `*` reaches from one into the
 * next: in `sudo ls *`, what `*` stands for is an argument of `ls`, not a command after it.
 */
import { globTokens, type GlobToken } from './glob-syntax.ts';

/** Returns whether the glob matches all segments together. Takes time proportional to both lengths. */
export function segmentsMatch(source: string, segments: readonly string[]): boolean {
  const tokens = globTokens(source);
  // The positions before which matching may stand: `fresh`, or in the middle of what a star matches.
  let fresh = skippingStars(new Set([0]), tokens);
  let inStar = new Set<number>();
  for (const segment of segments) {
    // What a star has matched ends with the segment.
    fresh = skippingStars(new Set([...fresh, ...[...inStar].map((at) => at + 1)]), tokens);
    inStar = new Set();
    for (const character of segment) {
      const code = character.codePointAt(0)!;
      const nextFresh = new Set<number>();
      const nextInStar = new Set<number>();
      for (const at of [...fresh, ...skippingStars(new Set([...inStar].map((star) => star + 1)), tokens)]) {
        const token = tokens[at];
        if (token === 'star') nextInStar.add(at);
        else if (token !== undefined && accepts(token, code)) nextFresh.add(at + 1);
      }
      for (const at of inStar) nextInStar.add(at);
      fresh = skippingStars(nextFresh, tokens);
      inStar = nextInStar;
      if (fresh.size + inStar.size === 0) return false;
    }
  }
  return fresh.has(tokens.length) || skippingStars(new Set([...inStar].map((at) => at + 1)), tokens).has(tokens.length);
}

/** These positions, and those after stars that match nothing. */
function skippingStars(from: Set<number>, tokens: readonly GlobToken[]): Set<number> {
  for (const at of from) if (tokens[at] === 'star') from.add(at + 1);
  return from;
}

function accepts(token: Exclude<GlobToken, 'star'>, code: number): boolean {
  if (token === 'any') return true;
  if ('character' in token) return token.character === code;
  return token.ranges.some(([from, to]) => from <= code && code <= to) !== token.negated;
}
