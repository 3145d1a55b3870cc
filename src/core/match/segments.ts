/**
 * Matches a glob against a text in segments. Its pieces match the segments in order, and no `*` reaches from one into the
 * next: in `sudo ls *`, what `*` stands for is an argument of `ls`, not a command after it, and in `docker exec * ls*` the
 * first `*` is the container.
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

/** A text in segments. */
export interface Segments {
  texts: readonly string[];
  /**
   * The index of the segment that holds a command. A `*` at its start names no command, so it stands for the whole command
   * or for nothing: `sudo * ls*` covers no `sudo rm ls`. In the segments before it, a `*` stands for one word or a part of
   * it. Absent: no such segment.
   */
  command?: number;
  /** True: the command is of the same program as what precedes it, and a `*` that ends the glob goes on into it. */
  isSameProgram?: boolean;
}

/** Returns whether the glob matches all segments together. Takes time proportional to both lengths. */
export function segmentsMatch(source: string, { texts, command = -1, isSameProgram }: Segments): boolean {
  const tokens = globTokens(source);
  const last = tokens.length - 1;
  /** The star that ends the glob, if it goes on into the command. After another wildcard, words may name the command. */
  const lasting =
    isSameProgram === true && tokens.findIndex(isWildcard) === last && tokens[last] === 'star' ? last : -1;
  let places = emptyPlaces(tokens);
  let next = emptyPlaces(tokens);
  places.before[0] = 1;
  for (const [index, segment] of texts.entries()) {
    const goesOn = index === command && places.within[lasting] === 1;
    endStars(places, tokens);
    const ofWhole = index === command ? nameCommand(places, tokens) : [];
    if (command >= 0 && index > command) startNoStars(places, tokens);
    if (goesOn) places.within[lasting] = 1;
    for (const character of segment) {
      const ends = index < command && character === ' ';
      const leads = step(places, next, tokens, { code: character.codePointAt(0)!, ends, lasting });
      if (!leads && ofWhole.length === 0) return false;
      [places, next] = [next, places];
    }
    for (const star of ofWhole) places.within[star] = 1;
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

/** A star that has matched nothing of a command matches nothing of what follows it either. */
function startNoStars({ before }: Places, tokens: readonly GlobToken[]): void {
  for (let at = 0; at < tokens.length; at += 1) if (tokens[at] === 'star') before[at] = 0;
}

/**
 * Takes away the places from which a star would stand for the program and its glob go on within the command. Returns the
 * stars that may stand for the whole command.
 */
function nameCommand({ before }: Places, tokens: readonly GlobToken[]): number[] {
  const ofWhole: number[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    if (before[at] === 0) continue;
    // Also of `?*`, which names no program either.
    const star = tokens.findIndex((token, index) => index >= at && !isOfOne(token));
    if (tokens[star] !== 'star') continue;
    before[at] = 0;
    if (star === at) ofWhole.push(at);
  }
  return ofWhole;
}

function isWildcard(token: GlobToken): boolean {
  return token === 'star' || isOfOne(token);
}

/** True for `?` and for a class. */
function isOfOne(token: GlobToken): boolean {
  return token === 'any' || (typeof token === 'object' && 'ranges' in token);
}

/** A character, and whether no star but `lasting` may stand for it. */
interface Read {
  code: number;
  ends: boolean;
  lasting: number;
}

/** Reads one character: writes into `next` where it leads, and returns whether it leads anywhere. */
function step(
  { before, within }: Places,
  next: Places,
  tokens: readonly GlobToken[],
  { code, ends, lasting }: Read,
): boolean {
  next.before.fill(0);
  next.within.fill(0);
  let leads = false;
  // True: a star just before this piece has ended, and the piece may go on.
  let isReached = false;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at]!;
    const stands: boolean = isReached || before[at] === 1;
    isReached = token === 'star' && (stands || within[at] === 1);
    if (isReached && (!ends || at === lasting)) next.within[at] = 1;
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
