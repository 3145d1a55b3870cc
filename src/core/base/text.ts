import type { Json } from './tool-call.ts';

/** Bytes in UTF-8. Implemented here because the sandbox has neither Buffer nor a cheap TextEncoder. */
export function byteLength(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    bytes += 1;
    if (unit >= 0x80) bytes += 1;
    if (unit >= 0x800) bytes += 1;
    // The first half of a surrogate pair: both halves together have four bytes.
    if (unit >= 0xd800 && unit < 0xdc00) {
      bytes += 1;
      index++;
    }
  }
  return bytes;
}

/** The text if it has at most `most` UTF-16 code units, else its beginning and `…`, without half a surrogate pair. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/\p{Surrogate}/gu, '')}…`;
}

/** As many values from the beginning of a list as fit into `bytes` bytes of JSON, with brackets and commas. */
export function fitting<T>(values: readonly T[], bytes: number): T[] {
  let used = 2;
  const end = values.findIndex((value) => {
    used += byteLength(JSON.stringify(value)) + 1;
    return used > bytes;
  });
  return values.slice(0, end === -1 ? values.length : end);
}

/** True for text without half a surrogate pair, which UTF-8, and so every other language, cannot represent. */
export function isWellFormed(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

/** The most combining marks in a row that are normalized, in quadratic time: 1 MB would take three minutes. */
export const maxCombiningMarks = 100;

/** Matches text that NFC may change: no character below U+0300 combines or is changed. */
const mayChange = /[\u0300-\uffff]/;
// Made from strings, because the bundler of workflow code writes out each \p{M} of a literal as 300 ranges.
const marks = new RegExp(String.raw`\p{M}+`, 'gu');
/** Marks, and the two letters whose compatibility form is a mark. */
const compatibleMarks = new RegExp(String.raw`[\p{M}\uff9e\uff9f]+`, 'gu');

/** True if the text has more than `maxCombiningMarks` combining marks in a row. */
export function hasLongMarks(text: string, kind: RegExp = marks): boolean {
  if (!mayChange.test(text)) return false;
  for (const [run] of text.matchAll(kind)) if (run.length > maxCombiningMarks) return true;
  return false;
}

/** The text in NFC. A text for which `hasLongMarks` is true stays as it is. */
export function nfc(text: string): string;
export function nfc(text: string | null | undefined): string | undefined;
export function nfc(text: string | null | undefined): string | undefined {
  if (text == null) return undefined;
  return !mayChange.test(text) || hasLongMarks(text) ? text : text.normalize('NFC');
}

/** The text in NFKC. A text in which too many combining marks follow each other stays as it is. */
export function nfkc(text: string): string {
  return hasLongMarks(text, compatibleMarks) ? text : text.normalize('NFKC');
}

// The functions below make text from elsewhere safe for a terminal or a log line: characters that are invisible, or
// would move, recolour or reorder the text, become escapes. They never throw.

/**
 * Matches a character that readers do not see: controls, format characters (bidi, zero-width, tags), lone surrogates,
 * private use, unassigned and noncharacters, line and paragraph separators, spaces other than U+0020, everything
 * ignorable (soft hyphen, fillers, variation selectors), and two symbols that look blank: U+2800 and U+FFFC.
 */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc]|(?! )\p{Zs}/u;
const mark = /\p{M}/u;
/** Longest run of combining marks on one letter. Real words need up to five; more only deface a line. */
export const marksPerLetter = 6;

export function isUnseen(character: string): boolean {
  return unseen.test(character);
}

const shortEscapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

function escapeCodePoint(character: string): string {
  return shortEscapes[character] ?? `\\u{${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}}`;
}

function escapeUnits(character: string): string {
  let escaped = '';
  for (let index = 0; index < character.length; index += 1) {
    escaped += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }
  return escaped;
}

/** Replaces what `isUnsafe` matches, marks without a letter, and marks beyond `marksPerLetter` on one letter. */
function replaceUnsafe(text: string, isUnsafe: (character: string) => boolean, escape: (character: string) => string) {
  const factsOf = perCharacter((character) => ({
    isMark: mark.test(character),
    isReplaced: isUnsafe(character),
    escaped: escape(character),
  }));
  let escapedText = '';
  let marksLeft = 0;
  for (const character of text) {
    const { isMark, isReplaced, escaped } = factsOf(character);
    if (isReplaced || (isMark && marksLeft === 0)) {
      escapedText += escaped;
      marksLeft = 0;
    } else {
      escapedText += character;
      if (isMark) marksLeft -= 1;
      // A mark after a blank, a quote or a line end has no letter to which it could belong.
      else marksLeft = character === ' ' || character === '"' || character === '\n' ? 0 : marksPerLetter;
    }
  }
  return escapedText;
}

/** Makes one line: newline, tab and backslash become `\n`, `\t` and `\\`, invisible characters `\u{202E}` and so on. */
export function escapeText(text: string): string {
  return replaceUnsafe(text, (character) => character === '\\' || unseen.test(character), escapeCodePoint);
}

/** Makes one line as `escapeText` does, but keeps backslashes. A second call on the result changes nothing. */
export function escapeUnseen(text: string): string {
  return replaceUnsafe(text, (character) => unseen.test(character), escapeCodePoint);
}

/** JSON without invisible characters; `parseJson` returns `value` unchanged. Without `indent`, the text is one line. */
export function escapeJson(value: Json, indent = 0): string {
  return replaceUnsafe(
    JSON.stringify(value, null, indent),
    (character) => character !== '\n' && unseen.test(character),
    escapeUnits,
  );
}

/** Returns `answerOf` with its answers cached: a text of a million characters has a few hundred different ones. */
export function perCharacter<Answer>(answerOf: (character: string) => Answer): (character: string) => Answer {
  const known = new Map<string, Answer>();
  return (character) => {
    let answer = known.get(character);
    if (answer === undefined) {
      answer = answerOf(character);
      known.set(character, answer);
    }
    return answer;
  };
}

/** `indexOf` finds words up to this length fast in any text. */
const shortWordLength = 16;

/**
 * Finds a word in linear time. `indexOf` can take quadratic time for a long word that repeats itself, so `indexOf`
 * finds only the beginning of a long word, and the Knuth-Morris-Pratt algorithm compares the rest.
 */
export class TextSearch {
  readonly word: string;
  /** The `shorterPrefixes` of the word, computed on first use. */
  #fallbacks: Uint32Array | undefined;

  constructor(word: string) {
    this.word = word;
  }

  /** Where the word begins in the text, at `from` or later; -1: nowhere. */
  next(text: string, from = 0): number {
    const { word } = this;
    if (word.length <= shortWordLength) return text.indexOf(word, from);
    const beginning = word.slice(0, shortWordLength);
    let at = text.indexOf(beginning, from);
    while (at !== -1 && at < text.length) {
      // Reads on while some beginning of the word is matched: a mismatch may leave a shorter one.
      for (let length = 0; at < text.length; at++) {
        length = this.#extendedMatch(length, text.charCodeAt(at));
        if (length === word.length) return at + 1 - length;
        if (length === 0) break;
      }
      at = text.indexOf(beginning, at);
    }
    return -1;
  }

  /** Every place where the word begins, without overlaps, from left to right. */
  places(text: string): number[] {
    const found: number[] = [];
    if (this.word === '') return found;
    for (let at = this.next(text); at !== -1; at = this.next(text, at + this.word.length)) found.push(at);
    return found;
  }

  /** The length of the longest suffix of the text that is a proper prefix of the word. */
  overlap(text: string): number {
    let length = 0;
    for (let at = Math.max(0, text.length - this.word.length + 1); at < text.length; at++) {
      length = this.#extendedMatch(length, text.charCodeAt(at));
    }
    return length;
  }

  #extendedMatch(length: number, code: number): number {
    return extendedMatch(this.word, (this.#fallbacks ??= shorterPrefixes(this.word)), length, code);
  }
}

/** How long a beginning of the word a text ends with once `code` is added; `length` is the answer without `code`. */
function extendedMatch(word: string, fallbacks: Uint32Array, length: number, code: number): number {
  let kept = length;
  while (kept > 0 && word.charCodeAt(kept) !== code) kept = fallbacks[kept - 1]!;
  return word.charCodeAt(kept) === code ? kept + 1 : kept;
}

/** For Knuth-Morris-Pratt: for each beginning of the word, how long a shorter beginning it ends with. */
function shorterPrefixes(word: string): Uint32Array {
  const fallbacks = new Uint32Array(word.length);
  for (let at = 1; at < word.length; at++)
    fallbacks[at] = extendedMatch(word, fallbacks, fallbacks[at - 1]!, word.charCodeAt(at));
  return fallbacks;
}
