/**
 * Text from elsewhere as reviewers read it. Characters that are invisible, that move or reorder the text, or that pass
 * for others are written as `\u{202E}`. Everything else stays, backslashes too: commands and paths read as they are. So
 * do joiners that a word is written with: they change how its letters are drawn.
 */
import { isUnseen, marksPerLetter, perCharacter } from '../core/base/text.ts';
import { wordJoiners } from './joiners.ts';
import { lookAlikes } from './look-alikes.ts';

/** Matches the escapes in a visible text; nothing else in it has this form. */
export const visibleEscape = /\\u\{[0-9A-F]{4,6}\}/g;

/** Matches the parts of a visible text that stay together: an escape or a character, with its combining marks and joiner. */
export const visibleUnit = /(?:\\u\{[0-9A-F]{4,6}\}|[^])[\p{M}\u200c\u200d]*/gu;

const layout = new Set(['\n', '\t']);

/**
 * Makes a text visible. Different texts give different results, and `fromVisible` gives the text back. `lines`: line
 * feeds and tabs stay. `asName`: so do letters of a name that is correctly written, even if it looks like another one,
 * with which it has to be compared. Never throws.
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
    // A backslash stays, unless the text could then be read as an escape.
    const isAmbiguous = character === '\\' && text.startsWith('u{', index + 1);
    const escapes = isOdd(character, index) || isAmbiguous;
    shown += !keeps && escapes ? escapeOf(character) : character;
    index += character.length;
  }
  return shown;
}

/** For each UTF-16 unit 1 if it is a combining mark without a letter, or one too many on a letter. */
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

/** True for each character to escape; called for all of them in order. */
function oddCharacters(
  text: string,
  options: { asName?: boolean } = {},
): (character: string, index: number) => boolean {
  const joiners = wordJoiners(text);
  const odd = tooManyMarks(text, joiners);
  for (const index of lookAlikes(text, options)) odd[index] = 1;
  // Beside a letter that is an escape, nobody would see it.
  for (const index of joiners) if (isBesideOdd(text, index, odd)) odd[index] = 1;
  const of = perCharacter((character) => ({ isHidden: isUnseen(character), isMark: /\p{M}/u.test(character) }));
  let wasOdd = false;
  return (character, index) => {
    const { isHidden, isMark } = of(character);
    // A mark belongs to its letter, and is escaped with it.
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

/** JSON text with the same characters escaped as JSON does: its value stays the same. */
export function visibleJson(json: string): string {
  return visibleBeside(json, /\\(?:u[0-9a-f]{4}|.)/gi, unitEscapes);
}

/** A line that `escapeText` or `escapeUnseen` has made, with what passes for others escaped as well. Not idempotent. */
export function visibleLine(line: string): string {
  return visibleBeside(line, /\\(?:u\{[0-9A-F]{4,6}\}|.)/g, escaped);
}

/** Escapes characters beside the escapes that a text has, whose letters are no part of a word. */
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
