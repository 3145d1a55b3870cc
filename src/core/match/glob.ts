/**
 * Matches a glob against a text (docs/policy-reference.md): `*` is any run of characters, `?` one, `[…]` a class.
 * minimatch matches paths, but arguments are not paths. So `/` becomes U+FDD0 in globs and texts, and both get a
 * leading U+FDD0: no text is empty, `.` or `..`, which minimatch's wildcards never match.
 */
import { Minimatch } from './minimatch.ts';
import { separator, translateGlob, globTokens, type GlobToken } from './glob-syntax.ts';
import { isWellFormed, hasLongMarks, maxCombiningMarks, nfc } from '../base/text.ts';

/** Maximum cost of one match: glob length times text length, in UTF-16 units (measured: at most 8 ns each). */
export const maxMatchWork = 8_000_000;
/** What each element of a list costs in addition to its length. */
const costOfItem = 16;

export interface Glob {
  /** The glob as it is written, in NFC. */
  source: string;
  wildcards: number;
  /** True if it holds `*`: it then matches texts of any length. */
  hasStars: boolean;
  /** The texts between wildcards, in order. A matching text starts with the first and ends with the last of them. */
  literals: string[];
  /** Absent if no wildcard is other than `*`: a text with the literals in order then matches. */
  matches?: (mapped: string) => boolean;
}

/** A text prepared for many globs, or why no glob can be matched against it. */
export type GlobSubject = { mapped: string; list?: ListSubject; segments?: Segments } | { problem: string };

/** The elements of a text that is the JSON of a list. */
interface ListSubject {
  /** The elements of the list, those of lists in it included. */
  items: readonly GlobSubject[];
  /** The length of the text and of all elements. */
  length: number;
}

/** Compiles a glob, or returns, as a clause, what is wrong with it. */
export function compileGlob(source: string): Glob | { problem: string } {
  const normal = nfc(source);
  if (!isWellFormed(source)) return { problem: 'holds half a surrogate pair' };
  if (normal.includes(separator)) return { problem: 'holds U+FDD0, which is reserved' };
  const translated = translateGlob(normal);
  if ('problem' in translated) return translated;
  const { wildcards, onlyStars, hasStars } = translated;
  const [first, ...rest] = translated.literals;
  const glob = { source: normal, wildcards, hasStars, literals: [separator + first!, ...rest] };
  // If all wildcards are stars, the order of the literals alone decides: see `globMatches`.
  if (onlyStars) return glob;
  // Compiled at the first match: minimatch takes longer than everything above, and most globs are only checked.
  let matcher: Minimatch | undefined;
  return { ...glob, matches: (text) => (matcher ??= minimatchOf(translated.glob)).match(text) };
}

/** Sets every option, so that neither a later minimatch nor another platform changes a result by its defaults. */
function minimatchOf(translated: string): Minimatch {
  return new Minimatch(separator + translated, {
    dot: true,
    flipNegate: false,
    magicalBraces: false,
    matchBase: false,
    nobrace: true,
    nocase: false,
    nocomment: true,
    noext: true,
    noglobstar: true,
    nonegate: true,
    nonull: false,
    optimizationLevel: 0,
    partial: false,
    platform: 'linux',
    preserveMultipleSlashes: true,
    windowsPathsNoEscape: false,
  });
}

/** Prepares a text: converts it to NFC and maps `/`. */
export function globSubject(text: string): GlobSubject {
  if (text.includes(separator)) return { problem: 'the text holds U+FDD0, which is reserved' };
  if (hasLongMarks(text)) return { problem: `the text holds more than ${maxCombiningMarks} combining marks in a row` };
  return { mapped: mapped(nfc(text)) };
}

/** Prepares a text in segments: no `*` matches beyond the end of a segment. */
export function segmentedSubject(texts: readonly string[], place: Omit<Segments, 'texts'> = {}): GlobSubject {
  const subject = globSubject(texts.join(''));
  if ('problem' in subject) return subject;
  return { ...subject, segments: { ...place, texts: texts.map((text) => nfc(text)) } };
}

/** Returns whether the whole text matches, or why that cannot be decided. */
export function globMatches(glob: Glob, subject: GlobSubject): boolean | { problem: string } {
  if ('problem' in subject) return subject;
  if (matchWork(glob, subject) > maxMatchWork) {
    const length = subject.mapped.length - separator.length;
    return { problem: `a text of ${length} characters is too long for a pattern of ${glob.source.length}` };
  }
  // Most mismatches end here, so that a thousand rules take microseconds.
  if (!holdsLiterals(glob.literals, subject.mapped)) return false;
  if (subject.segments !== undefined) return segmentsMatch(glob.source, subject.segments);
  // Without wildcards other than `*`, the literals have decided.
  return glob.matches?.(subject.mapped) ?? true;
}

/** True if the text has the literals in order, without overlap. Leftmost matches leave the most room. */
function holdsLiterals(literals: readonly string[], text: string): boolean {
  const first = literals[0]!;
  const last = literals.length - 1;
  if (last === 0) return text === first;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (let index = 1; index < last; index += 1) {
    const literal = literals[index]!;
    if (literal === '') continue;
    const found = text.indexOf(literal, from);
    if (found === -1) return false;
    from = found + literal.length;
  }
  return text.length - literals[last]!.length >= from && text.endsWith(literals[last]!);
}

/** Upper bound of a match's cost; see `maxMatchWork`. */
export function matchWork(glob: Glob, subject: GlobSubject): number {
  return glob.source.length * lengthOf(subject);
}

/** How many times as long a match takes in a text in segments. */
const segmentsFactor = 4;

/** The work of a match: 0 for a text without the literals, so that an index that skips such rules changes no sum. */
export function workDone(glob: Glob, subject: GlobSubject): number {
  if ('problem' in subject || matchWork(glob, subject) > maxMatchWork) return 0;
  const { mapped, segments, list } = subject;
  if (list !== undefined) return matchWork(glob, subject);
  if (!holdsLiterals(glob.literals, mapped)) return 0;
  if (segments !== undefined) return matchWork(glob, subject) * segmentsFactor;
  return glob.matches === undefined ? 0 : matchWork(glob, subject);
}

/** The length of all texts that a match reads. */
export function lengthOf(subject: GlobSubject): number {
  return 'problem' in subject ? 0 : (subject.list?.length ?? subject.mapped.length - separator.length);
}

/** Prepares a list: `text` is its JSON, `items` are its elements, those of lists in it included. */
export function listSubject(text: string, items: readonly GlobSubject[]): GlobSubject {
  const subject = globSubject(text);
  if ('problem' in subject) return subject;
  const length = items.reduce((sum, item) => sum + costOfItem + lengthOf(item), lengthOf(subject));
  return { ...subject, list: { items, length } };
}

/**
 * How a rule matches a list. `any`, for rules that deny or ask: one element matches, or the text of the whole list.
 * `every`, for rules that allow: each element matches, or the whole list matches a glob without `*`, which could stand
 * for any elements.
 */
export type ListReading = 'any' | 'every';

/** Whether a glob matches a text, or a list as `reading` demands; a problem if that cannot be decided. */
export function readingMatches(glob: Glob, subject: GlobSubject, reading: ListReading): boolean | { problem: string } {
  const whole = globMatches(glob, subject);
  if ('problem' in subject || subject.list === undefined || typeof whole === 'object') return whole;
  const { items } = subject.list;
  const isDecidedByWhole = reading === 'any' ? whole : items.length === 0 || (whole && !glob.hasStars);
  if (isDecidedByWhole) return whole;
  // A single element with this answer decides: a match for `any`, a mismatch for `every`.
  const decisive = reading === 'any';
  let result: boolean | { problem: string } = !decisive;
  for (const item of items) {
    const matched = globMatches(glob, item);
    if (matched === decisive) return decisive;
    if (typeof matched === 'object') result = matched;
  }
  return result;
}

function mapped(text: string): string {
  return separator + (text.includes('/') ? text.replaceAll('/', separator) : text);
}

/** What a match has reached. `before[n]`: piece `n` may come next. `within[n]`: star `n` has matched something. */
interface Places {
  before: Uint8Array;
  within: Uint8Array;
}

interface Segments {
  texts: readonly string[];
  /**
   * The index of the segment with the command. A `*` at its start stands for the whole command or for nothing: by
   * `sudo * ls*`, `sudo rm ls` is not covered. In the segments before, a `*` stands for at most a word.
   */
  command?: number;
  /** True: wrapper and command are one program (`git -C dir status`), so a glob's last `*` may match both. */
  isSameProgram?: boolean;
}

/**
 * Matches a glob against all segments, in order. No `*` reaches into the next segment: in `sudo ls *`, it is an
 * argument of `ls`, not a second command. The time is proportional to the lengths of glob and segments.
 */
function segmentsMatch(source: string, { texts, command = -1, isSameProgram }: Segments): boolean {
  const tokens = globTokens(source);
  const last = tokens.length - 1;
  /** The star that ends the glob, if it is the only wildcard and may go on into the command; else -1. */
  const lasting =
    isSameProgram === true && tokens.findIndex(isWildcard) === last && tokens[last] === 'star' ? last : -1;
  let places = emptyPlaces(tokens);
  let next = emptyPlaces(tokens);
  places.before[0] = 1;
  for (const [index, segment] of texts.entries()) {
    const lastingGoesOn = index === command && places.within[lasting] === 1;
    endStars(places, tokens);
    const wholeCommandStars = index === command ? dropProgramStars(places, tokens) : [];
    if (command >= 0 && index > command) dropNewStars(places, tokens);
    if (lastingGoesOn) places.within[lasting] = 1;
    for (const character of segment) {
      // In the segments before the command, a `*` stands for at most a word, so a blank ends it.
      const ends = index < command && character === ' ';
      const reachesAny = step(places, next, tokens, { code: character.codePointAt(0)!, ends, lasting });
      if (!reachesAny && wholeCommandStars.length === 0) return false;
      [places, next] = [next, places];
    }
    // These stars stand for the whole command that was just read.
    for (const star of wholeCommandStars) places.within[star] = 1;
  }
  endStars(places, tokens);
  return places.before[tokens.length] === 1;
}

function emptyPlaces({ length }: readonly GlobToken[]): Places {
  return { before: new Uint8Array(length + 1), within: new Uint8Array(length + 1) };
}

/** At the end of a segment, every star ends: the next piece may follow it, even if the star matched nothing. */
function endStars({ before, within }: Places, tokens: readonly GlobToken[]): void {
  for (let at = 0; at < tokens.length; at += 1) {
    if (within[at] === 1 || (before[at] === 1 && tokens[at] === 'star')) before[at + 1] = 1;
  }
  within.fill(0);
}

/** Behind the command, removes the places where another star would begin. */
function dropNewStars({ before }: Places, tokens: readonly GlobToken[]): void {
  for (let at = 0; at < tokens.length; at += 1) if (tokens[at] === 'star') before[at] = 0;
}

/** Removes the places where a star would stand for the program alone. Returns stars for the whole command. */
function dropProgramStars({ before }: Places, tokens: readonly GlobToken[]): number[] {
  const wholeCommandStars: number[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    if (before[at] === 0) continue;
    // The pieces from here to the next star name no program, if each matches any one character, as in `?*`.
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

function matchesOneCharacter(token: GlobToken): boolean {
  return token === 'any' || (typeof token === 'object' && 'ranges' in token);
}

/** A character to read. `ends`: it ends every star except `lasting`. */
interface Read {
  code: number;
  ends: boolean;
  lasting: number;
}

/** Reads one character: writes into `next` what the match then reaches, and returns whether that is anything. */
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
