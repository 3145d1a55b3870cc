/**
 * Makes untrusted text safe to show to reviewers. Characters that are invisible, that move or reorder text, or that
 * pass for others become `\u{202E}`. Backslashes stay, as in commands and paths, and so do joiners that belong to a
 * word.
 */
import { isUnseen, marksPerLetter, perCharacter, shortened } from '../core/base/text.ts';
import { lookAlikes } from './look-alikes.ts';

/**
 * Joiners (U+200C, U+200D) that belong to a word, such as the half space of `علی‌رضا` or the conjunct of `ශ්‍රී`: in
 * the contexts of RFC 5892, A.1 and A.2, where they change how letters are drawn (a non-joiner between Arabic letters
 * that would join; either after a virama), and in Unicode's forms for Bengali and Kannada (before the virama) and for
 * final consonants of Malayalam. In any other place a joiner would be invisible.
 */
const marks = String.raw`\p{M}{0,6}`;

/** Arabic letters that join to the next one, and those that join only to the one before (Unicode's `Joining_Type`). */
const joinsNext = String.raw`\u0620\u0626\u0628\u062a-\u062e\u0633-\u063f\u0641-\u0647\u0649\u064a\u066e\u066f\u0678-\u0687\u069a-\u06bf\u06c1\u06c2\u06cc\u06ce\u06d0\u06d1\u06fa-\u06fc\u06ff`;
const joinsBefore = String.raw`\u0622-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0673\u0675-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\u06ee\u06ef`;

const viramas: readonly (readonly [script: string, virama: string])[] = [
  ['Devanagari', '\u094d'],
  ['Bengali', '\u09cd'],
  ['Gurmukhi', '\u0a4d'],
  ['Gujarati', '\u0acd'],
  ['Oriya', '\u0b4d'],
  ['Telugu', '\u0c4d'],
  ['Kannada', '\u0ccd'],
  ['Malayalam', '\u0d4d'],
  ['Sinhala', '\u0dca'],
];

/** Each context matches the text around a joiner that has just been read. */
const contexts = [
  String.raw`(?<=[${joinsNext}]${marks}\u200c)(?=${marks}[${joinsNext}${joinsBefore}])`,
  ...viramas.map(([script, virama]) => {
    const letter = String.raw`(?=\p{L})\p{Script=${script}}`;
    return String.raw`(?<=${letter}${marks}${virama}.)(?=${letter})`;
  }),
  String.raw`(?<=\u09b0\u200d)(?=\u09cd\u09af)`,
  String.raw`(?<=\u0cb0\u200d)(?=\u0ccd(?=\p{L})\p{Script=Kannada})`,
  String.raw`(?<=[\u0d15\u0d23\u0d28\u0d30\u0d32\u0d33]\u0d4d\u200d)`,
];
const inWord = new RegExp(String.raw`[\u200c\u200d](?:${contexts.join('|')})`, 'gu');
const joiner = /[\u200c\u200d]/;

/** The offsets, in UTF-16 units, of the joiners that belong to a word. */
export function wordJoiners(text: string): ReadonlySet<number> {
  if (!joiner.test(text)) return new Set();
  return new Set(Array.from(text.matchAll(inWord), ({ index }) => index));
}

/** Matches the escapes in a visible text. No other part of a visible text has this form. */
export const visibleEscape = /\\u\{[0-9A-F]{4,6}\}/g;

/** Matches what stays together in a visible text: an escape or a character, with marks and joiners. */
export const visibleUnit = /(?:\\u\{[0-9A-F]{4,6}\}|[^])[\p{M}\u200c\u200d]*/gu;

const layout = new Set(['\n', '\t']);

/**
 * Makes a text visible; `fromVisible` undoes it. `lines`: line feeds and tabs stay. `asName`: the letters of a
 * correctly written name stay, because the caller compares such a name with the names that it looks like. Never throws.
 */
export function visibleText(
  text: string,
  { lines = false, asName = false }: { lines?: boolean; asName?: boolean } = {},
): string {
  if (/^[ -[\]-~]*$/.test(text)) return text;
  const isOdd = oddCharacters(text, { asName });
  const escapeOf = perCharacter(escaped);
  let shown = '';
  let index = 0;
  for (const character of text) {
    const keeps = lines && layout.has(character);
    // Escape a backslash only if the text after it makes it look like an escape.
    const isAmbiguous = character === '\\' && text.startsWith('u{', index + 1);
    const escapes = isOdd(character, index) || isAmbiguous;
    shown += !keeps && escapes ? escapeOf(character) : character;
    index += character.length;
  }
  return shown;
}

/** Marks in a byte for each UTF-16 unit: 1 for a combining mark without a letter, or one too many on a letter. */
function tooManyMarks(text: string, joiners: ReadonlySet<number>): Uint8Array {
  const found = new Uint8Array(text.length);
  let marksLeft = 0;
  let index = 0;
  for (const character of text) {
    if (/\p{M}/u.test(character)) {
      if (marksLeft > 0) marksLeft -= 1;
      else found[index] = 1;
    } else if (!joiners.has(index)) {
      marksLeft = isUnseen(character) || /[ "\n]/.test(character) ? 0 : marksPerLetter;
    }
    index += character.length;
  }
  return found;
}

/** Returns a function that decides whether to escape a character. Call it for all characters in their order. */
function oddCharacters(
  text: string,
  options: { asName?: boolean } = {},
): (character: string, index: number) => boolean {
  const joiners = wordJoiners(text);
  const odd = tooManyMarks(text, joiners);
  for (const index of lookAlikes(text, options)) odd[index] = 1;
  // A joiner beside an escaped letter would be invisible, so escape the joiner, too.
  for (const index of joiners) if (isBesideOdd(text, index, odd)) odd[index] = 1;
  const traitsOf = perCharacter((character) => ({ isHidden: isUnseen(character), isMark: /\p{M}/u.test(character) }));
  let wasOdd = false;
  return (character, index) => {
    const { isHidden, isMark } = traitsOf(character);
    // A mark belongs to the letter before it, and is escaped with that letter.
    wasOdd = (isHidden && !joiners.has(index)) || odd[index] === 1 || (wasOdd && isMark);
    return wasOdd;
  };
}

/** True if a letter on one side of a joiner, or one of its marks, is odd. */
function isBesideOdd(text: string, joiner: number, odd: Uint8Array): boolean {
  const [before] = /\P{M}\p{M}*$/u.exec(text.slice(Math.max(0, joiner - marksPerLetter - 1), joiner)) ?? [''];
  const [after] = /^\p{M}*\P{M}?/u.exec(text.slice(joiner + 1, joiner + marksPerLetter + 2)) ?? [''];
  return odd.subarray(joiner - before.length, joiner + 1 + after.length).includes(1);
}

/** The text that `visibleText` made visible. */
export function fromVisible(shown: string): string {
  return shown.replace(visibleEscape, (each) => String.fromCodePoint(Number.parseInt(each.slice(3, -1), 16)));
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}}`;
}

/** Writes the characters of JSON text that `visibleText` escapes as escapes of JSON. Its value stays the same. */
export function visibleJson(json: string): string {
  return visibleBeside(json, /\\(?:u[0-9a-f]{4}|.)/gi, unitEscapes);
}

/** JSON text with the escapes of `visibleText` beside those of JSON, for people to read: it is no JSON any more. */
export function visibleJsonText(json: string): string {
  const lines = json.split('\n');
  return lines.map((line) => visibleBeside(line, /\\(?:u[0-9a-f]{4}|.)/gi, escaped)).join('\n');
}

/** A line that `escapeText` or `escapeUnseen` returned, with look-alikes escaped as well. Not idempotent. */
export function visibleLine(line: string): string {
  return visibleBeside(line, /\\(?:u\{[0-9A-F]{4,6}\}|.)/g, escaped);
}

/** Escapes characters outside of existing escapes, whose letters are no part of a word. */
function visibleBeside(text: string, escapes: RegExp, escape: (character: string) => string): string {
  const isOdd = oddCharacters(text.replace(escapes, (each) => ' '.repeat(each.length)));
  const escapeOf = perCharacter(escape);
  let shown = '';
  let index = 0;
  for (const character of text) {
    shown += isOdd(character, index) ? escapeOf(character) : character;
    index += character.length;
  }
  return shown;
}

function unitEscapes(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}

const longestName = 60;

/** A name for a notification, shortened and without invisible characters. */
export function shownName(name: string): string {
  return shortened(visibleText(shortened(name, longestName).toWellFormed()), longestName);
}

/** A word of a command in a form that a user can paste into a POSIX shell, which then reads exactly this text. */
export function quoteWord(word: string): string {
  return /^[\w.,:/@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

const longestSentence = 300;

/** An author's text as history stores it: one line of well-formed text, of at most 300 characters. */
export function oneSentence(text: string): string {
  const line = text
    .replace(/\p{Surrogate}/gu, '\uFFFD')
    .replace(/\s+/g, ' ')
    .trim();
  return shortened(line, longestSentence);
}
