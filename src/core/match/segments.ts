/**
 * Matches a glob against a text in segments. Its pieces match the segments in order, and no `*` reaches from one into the
 * next: in `sudo ls *`, what `*` stands for is an argument of `ls`, not a command after it.
 */
import { globTokens, type GlobToken } from './glob-syntax.ts';

/**
 * The places in the glob that what was read may have led to: `before[n]`, matching goes on with piece `n`; `within[n]`,
 * piece `n` is a star that has matched something of this segment. Rows of numbers: sets took ten times as long.
 */
interface Places {
  before: Uint8Array;
  within: Uint8Array;
}

/** Returns whether the glob matches all segments together. Takes time proportional to both lengths. */
export function segmentsMatch(source: string, segments: readonly string[]): boolean {
  const tokens = globTokens(source);
  let places = emptyPlaces(tokens);
  let next = emptyPlaces(tokens);
  places.before[0] = 1;
  for (const segment of segments) {
    endStars(places, tokens);
    for (const character of segment) {
      if (!step(places, next, tokens, character.codePointAt(0)!)) return false;
      [places, next] = [next, places];
    }
  }
  endStars(places, tokens);
  return places.before[tokens.length] === 1;
}

function emptyPlaces({ length }: readonly GlobToken[]): Places {
  return { before: new Uint8Array(length + 1), within: new Uint8Array(length + 1) };
}

/** What a star has matched ends here; each star before which matching stands may match nothing. */
function endStars({ before, within }: Places, tokens: readonly GlobToken[]): void {
  for (let at = 0; at < tokens.length; at += 1) {
    if (within[at] === 1 || (before[at] === 1 && tokens[at] === 'star')) before[at + 1] = 1;
  }
  within.fill(0);
}

/** Reads one character: writes into `next` where it leads, and returns whether it leads anywhere. */
function step({ before, within }: Places, next: Places, tokens: readonly GlobToken[], code: number): boolean {
  next.before.fill(0);
  next.within.fill(0);
  let leads = false;
  // True: a star just before this piece has ended, and the piece may go on.
  let isReached = false;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at]!;
    const stands: boolean = isReached || before[at] === 1;
    isReached = token === 'star' && (stands || within[at] === 1);
    if (isReached) next.within[at] = 1;
    else if (stands && accepts(token, code)) next.before[at + 1] = 1;
    else continue;
    leads = true;
  }
  return leads;
}

function accepts(token: GlobToken, code: number): boolean {
  if (token === 'star') return false;
  if (token === 'any') return true;
  if ('character' in token) return token.character === code;
  return token.ranges.some(([from, to]) => from <= code && code <= to) !== token.negated;
}
