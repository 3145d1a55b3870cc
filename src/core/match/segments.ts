/**
 * Matches a glob against a text in segments. The pieces of the glob match the segments in order, and no `*` reaches
 * from one segment into the next: in `sudo ls *`, the `*` stands for an argument of `ls`, not for a command after it,
 * and in `docker exec * ls*` the first `*` is the container.
 */
import { globTokens, type GlobToken } from './glob-syntax.ts';

/**
 * The places in the glob that a match may have reached. `before[n]` is 1 if piece `n` may come next; `within[n]` is 1
 * if piece `n` is a star that has matched something of this segment. Arrays of numbers: sets took ten times as long.
 */
interface Places {
  before: Uint8Array;
  within: Uint8Array;
}

/** A text in segments. */
export interface Segments {
  texts: readonly string[];
  /**
   * The index of the segment that holds a command. A `*` where the command starts stands for the whole command or for
   * nothing, because it names no program: `sudo * ls*` does not cover `sudo rm ls`. In the segments before the command,
   * a `*` stands for one word or a part of one. Absent: no segment holds a command.
   */
  command?: number;
  /**
   * True: the command runs the same program as the segments before it, so a `*` that ends the glob may go on into the
   * command.
   */
  isSameProgram?: boolean;
}

/**
 * Returns whether the glob matches all segments together. Takes time proportional to the length of the glob times that
 * of the segments.
 */
export function segmentsMatch(source: string, { texts, command = -1, isSameProgram }: Segments): boolean {
  const tokens = globTokens(source);
  const last = tokens.length - 1;
  /**
   * The star that ends the glob, if it may go on into the command; else -1. It may not after another wildcard, where
   * its words could name the command.
   */
  const lasting =
    isSameProgram === true && tokens.findIndex(isWildcard) === last && tokens[last] === 'star' ? last : -1;
  let places = emptyPlaces(tokens);
  let next = emptyPlaces(tokens);
  places.before[0] = 1;
  for (const [index, segment] of texts.entries()) {
    const goesOn = index === command && places.within[lasting] === 1;
    endStars(places, tokens);
    const wholeCommandStars = index === command ? dropProgramStars(places, tokens) : [];
    if (command >= 0 && index > command) dropNewStars(places, tokens);
    if (goesOn) places.within[lasting] = 1;
    for (const character of segment) {
      const ends = index < command && character === ' ';
      const reachesAny = step(places, next, tokens, { code: character.codePointAt(0)!, ends, lasting });
      if (!reachesAny && wholeCommandStars.length === 0) return false;
      [places, next] = [next, places];
    }
    for (const star of wholeCommandStars) places.within[star] = 1;
  }
  endStars(places, tokens);
  return places.before[tokens.length] === 1;
}

function emptyPlaces({ length }: readonly GlobToken[]): Places {
  return { before: new Uint8Array(length + 1), within: new Uint8Array(length + 1) };
}

/** Ends the stars at the end of a segment. A star that may come next may also match nothing. */
function endStars({ before, within }: Places, tokens: readonly GlobToken[]): void {
  for (let at = 0; at < tokens.length; at += 1) {
    if (within[at] === 1 || (before[at] === 1 && tokens[at] === 'star')) before[at + 1] = 1;
  }
  within.fill(0);
}

/** Removes the places where a star would begin after the command. */
function dropNewStars({ before }: Places, tokens: readonly GlobToken[]): void {
  for (let at = 0; at < tokens.length; at += 1) if (tokens[at] === 'star') before[at] = 0;
}

/**
 * Removes the places where a star would stand for the program while the glob goes on within the command. Returns the
 * stars that may stand for the whole command.
 */
function dropProgramStars({ before }: Places, tokens: readonly GlobToken[]): number[] {
  const wholeCommandStars: number[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    if (before[at] === 0) continue;
    // Includes the star of `?*`, which names no program either.
    const star = tokens.findIndex((token, index) => index >= at && !matchesOneCharacter(token));
    if (tokens[star] !== 'star') continue;
    before[at] = 0;
    if (star === at) wholeCommandStars.push(at);
  }
  return wholeCommandStars;
}

function isWildcard(token: GlobToken): boolean {
  return token === 'star' || matchesOneCharacter(token);
}

/** True for `?` and for a class. */
function matchesOneCharacter(token: GlobToken): boolean {
  return token === 'any' || (typeof token === 'object' && 'ranges' in token);
}

/** A character to read. `ends`: no star but `lasting` may stand for this character. */
interface Read {
  code: number;
  ends: boolean;
  lasting: number;
}

/** Reads one character: writes the places that the match reaches into `next`, and returns whether there are any. */
function step(
  { before, within }: Places,
  next: Places,
  tokens: readonly GlobToken[],
  { code, ends, lasting }: Read,
): boolean {
  next.before.fill(0);
  next.within.fill(0);
  let reachesAny = false;
  // True if the piece before this one is a star that may have ended.
  let isReached = false;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at]!;
    const isNext: boolean = isReached || before[at] === 1;
    isReached = token === 'star' && (isNext || within[at] === 1);
    if (isReached && (!ends || at === lasting)) next.within[at] = 1;
    else if (isNext && accepts(token, code)) next.before[at + 1] = 1;
    else continue;
    reachesAny = true;
  }
  return reachesAny;
}

function accepts(token: GlobToken, code: number): boolean {
  if (token === 'star') return false;
  if (token === 'any') return true;
  if ('character' in token) return token.character === code;
  return token.ranges.some(([from, to]) => from <= code && code <= to) !== token.negated;
}
