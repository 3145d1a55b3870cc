/**
 * Translates globs of policies for minimatch. In policies, no character outside `*`, `?` and `[…]` is special, not even
 * the backslash: each gets a backslash, and every class is rewritten.
 */
/** Replaces `/` in globs and texts, so that no text is a path. It is a noncharacter, which no readable text holds. */
export const separator = '\ufdd0';

/** A character class as ranges of code points, both ends included. */
interface Class {
  negated: boolean;
  ranges: [number, number][];
  /** Index of the character after the closing bracket. */
  next: number;
}

const slashCode = 0x2f;
const separatorCode = 0xfdd0;

export type GlobToken = { character: number } | 'any' | 'star' | Pick<Class, 'negated' | 'ranges'>;

/** The pieces of a glob that `translateGlob` accepts. */
export function globTokens(source: string): GlobToken[] {
  const characters = Array.from(source);
  const tokens: GlobToken[] = [];
  for (let index = 0; index < characters.length;) {
    const character = characters[index]!;
    const charClass = character === '[' ? readClass(characters, index) : undefined;
    if (charClass !== undefined && !('problem' in charClass)) {
      tokens.push(charClass);
      index = charClass.next;
      continue;
    }
    if (character === '*') tokens.push('star');
    else tokens.push(character === '?' ? 'any' : { character: character.codePointAt(0)! });
    index += 1;
  }
  return tokens;
}

export interface TranslatedGlob {
  glob: string;
  wildcards: number;
  /** The texts before, between and after the wildcards, with `/` mapped as in subjects: one more than wildcards. */
  literals: string[];
  hasStars: boolean;
  /** True if no wildcard is other than `*`: each text with the literals in order then matches. */
  onlyStars: boolean;
}

/** The glob in minimatch's syntax, in which only wildcards and classes stay special; or, as a clause, its problem. */
export function translateGlob(source: string): TranslatedGlob | { problem: string } {
  const characters = Array.from(source);
  let glob = '';
  let wildcards = 0;
  let onlyStars = true;
  let hasStars = false;
  const literals = [''];
  for (let index = 0; index < characters.length;) {
    const character = characters[index]!;
    const charClass = character === '[' ? readClass(characters, index) : undefined;
    if (charClass !== undefined && 'problem' in charClass) return charClass;
    index = charClass?.next ?? index + 1;
    if (charClass !== undefined || character === '*' || character === '?') {
      wildcards += 1;
      onlyStars &&= character === '*';
      hasStars ||= character === '*';
      literals.push('');
    } else {
      literals[wildcards] += character === '/' ? separator : character;
    }
    if (charClass !== undefined) glob += writeClass(charClass);
    else if (character === '*' || character === '?') glob += character;
    else glob += character === '/' ? separator : `\\${character}`;
  }
  return { glob, wildcards, literals, hasStars, onlyStars };
}

/** Reads the class that opens at `start`. Undefined if it never closes: the bracket then stands for itself. */
function readClass(characters: string[], start: number): Class | { problem: string } | undefined {
  const negated = characters[start + 1] === '!' || characters[start + 1] === '^';
  const first = start + (negated ? 2 : 1);
  // A closing bracket in first position is a member of the class, as in every shell.
  const close = characters.indexOf(']', first + 1);
  if (close === -1) return undefined;
  const ranges: [number, number][] = [];
  for (let index = first; index < close; index += 1) {
    const from = characters[index]!;
    const isRange = characters[index + 1] === '-' && index + 2 < close;
    const to = isRange ? characters[index + 2]! : from;
    if (from.codePointAt(0)! > to.codePointAt(0)!) return { problem: `holds the reversed range [${from}-${to}]` };
    ranges.push([from.codePointAt(0)!, to.codePointAt(0)!]);
    if (isRange) index += 2;
  }
  return { negated, ranges, next: close + 1 };
}

function writeClass({ negated, ranges }: Class): string {
  const written = ranges.flatMap(withSlashMapped).map(([from, to]) => {
    const first = `\\${String.fromCodePoint(from)}`;
    return from === to ? first : `${first}-\\${String.fromCodePoint(to)}`;
  });
  return `[${negated ? '!' : ''}${written.join('')}]`;
}

/**
 * Converts a range of characters for texts in which a separator stands for `/`. Returns its parts without `/` and the
 * separator, and the separator alone if the given range contains `/`.
 */
function withSlashMapped([from, to]: [number, number]): [number, number][] {
  const pieces: [number, number][] = [];
  let start = from;
  for (const excluded of [slashCode, separatorCode]) {
    if (excluded < start || excluded > to) continue;
    if (start < excluded) pieces.push([start, excluded - 1]);
    start = excluded + 1;
  }
  if (start <= to) pieces.push([start, to]);
  if (from <= slashCode && slashCode <= to) pieces.push([separatorCode, separatorCode]);
  return pieces;
}
