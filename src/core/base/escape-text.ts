/**
 * Makes text from elsewhere (a model, a run, a reviewer) safe to show on a terminal or in a log line, without hiding
 * anything. Characters that are invisible, or that would move, recolour or reorder the text, are written as escapes.
 * Letters of every script stay as they are. Never throws, and is injective: different texts give different results.
 */
import { perCharacter } from './per-character.ts';
import type { Json } from './tool-call.ts';

/**
 * Invisible or misleading characters: controls, format characters (bidi, zero-width, tags), surrogates without a
 * partner, private use, unassigned and noncharacters, line and paragraph separators, spaces other than U+0020,
 * everything that Unicode calls ignorable (soft hyphen, fillers, variation selectors), and two symbols that look blank:
 * U+2800 and U+FFFC.
 */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc]|(?! )\p{Zs}/u;
const mark = /\p{M}/u;
/** Longest run of combining marks on one letter. Real words need up to five; more only deface a line. */
export const marksPerLetter = 6;

/** True for a character that is invisible, or that would move, recolour or reorder the text around it. */
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

/** Replaces characters that `isUnsafe` matches, and combining marks without a letter or too many on one. */
function replaceUnsafe(text: string, isUnsafe: (character: string) => boolean, escape: (character: string) => string) {
  const of = perCharacter((character) => ({
    isMark: mark.test(character),
    isReplaced: isUnsafe(character),
    escaped: escape(character),
  }));
  let shown = '';
  let marksLeft = 0;
  for (const character of text) {
    const { isMark, isReplaced, escaped } = of(character);
    if (isReplaced || (isMark && marksLeft === 0)) {
      shown += escaped;
      marksLeft = 0;
    } else {
      shown += character;
      if (isMark) marksLeft -= 1;
      else marksLeft = character === ' ' || character === '"' || character === '\n' ? 0 : marksPerLetter;
    }
  }
  return shown;
}

/**
 * One line: newline and tab become `\n` and `\t`, a backslash becomes `\\`, and an invisible character becomes, for
 * example, `\u{202E}`. Not idempotent: escape once, where the text is shown.
 */
export function escapeText(text: string): string {
  return replaceUnsafe(text, (character) => character === '\\' || unseen.test(character), escapeCodePoint);
}

/**
 * Like `escapeText`, but a backslash stays. Idempotent, so it can show text that may be escaped already; different texts
 * can give the same result.
 */
export function escapeUnseen(text: string): string {
  return replaceUnsafe(text, (character) => unseen.test(character), escapeCodePoint);
}

/**
 * JSON text of `value` without invisible characters; `parseJson` returns `value` unchanged. `indent` is a number of
 * spaces; without it the text is one line.
 */
export function escapeJson(value: Json, indent = 0): string {
  return replaceUnsafe(
    JSON.stringify(value, null, indent),
    (character) => character !== '\n' && unseen.test(character),
    escapeUnits,
  );
}
