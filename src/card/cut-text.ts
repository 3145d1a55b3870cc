import { visibleText, visibleUnit } from '../text/visible-text.ts';
import type { CardText } from './card.ts';

/** How much a card shows at most, in characters, lines, rows and levels. */
export interface CardBounds {
  sentence: number;
  value: number;
  lines: number;
  fields: number;
  depth: number;
  diffLines: number;
  rows: number;
}

export const cardBounds: CardBounds = {
  sentence: 500,
  value: 1_200,
  lines: 40,
  fields: 60,
  depth: 6,
  diffLines: 160,
  rows: 20,
};
const unbounded = { sentence: Infinity, value: Infinity, lines: Infinity };
/** The bounds of a card that shows everything, except members of values nested in more than 30 levels. */
export const noBounds: CardBounds = { ...unbounded, fields: Infinity, depth: 30, diffLines: Infinity, rows: Infinity };

/** How much of what a cut text shows is its end. The rest is its beginning. */
const endShare = 0.2;
/** Makes a text visible on one line, and cuts its middle out if it has more than `most` characters. */
export function cutLine(text: string, most: number): CardText {
  return cut(visibleText(text), most);
}

/** Cuts JSON text as `cutLine` does. The text comes from `jsonText`, which has escaped its invisible characters. */
export function cutJson(json: string, most: number): CardText {
  // Escape only backslashes that would make the text read as an escape of the card.
  return cut(json.replaceAll('\\u{', '\\u{005C}u{'), most);
}

/** Escapes a text, but keeps its lines and tabs. Cuts its middle out beyond `lines` lines or `4 * value` characters. */
export function cutLines(text: string, { value, lines }: Pick<CardBounds, 'value' | 'lines'>): CardText {
  const shown = visibleText(text, { lines: true });
  const all = shown.split('\n');
  const mostCharacters = value * 4; // by `cardBounds`, as many as 40 lines of 120 characters
  if (all.length <= lines) return cut(shown, mostCharacters);
  const endLines = Math.floor(lines * endShare);
  const [start, end] = [all.slice(0, lines - endLines).join('\n'), all.slice(all.length - endLines).join('\n')];
  if (start.length + end.length > mostCharacters) return cut(shown, mostCharacters);
  const hidden = charactersOf(shown).length - charactersOf(start).length - charactersOf(end).length;
  return { text: start, hidden, end };
}

/** Cuts a text as `cutLine` does, and joins its parts with a note about the hidden characters. */
export function cutInline(text: string, most: number): string {
  return inline(cutLine(text, most));
}

export function inline(line: CardText): string {
  return line.hidden === undefined ? line.text : `${line.text}…${hiddenNote(line)}…${line.end}`;
}

/** Cuts the middle out of a visible text beyond `most` characters. An escape counts as one character. */
function cut(shown: string, most: number): CardText {
  if (shown.length <= most) return { text: shown };
  const units = charactersOf(shown);
  if (units.length <= most) return { text: shown };
  const endUnits = Math.floor(most * endShare);
  const startUnits = most - endUnits;
  return {
    text: units.slice(0, startUnits).join(''),
    hidden: units.length - startUnits - endUnits,
    end: units.slice(units.length - endUnits).join(''),
  };
}

/** The characters of a visible text; each escape counts as one character. */
function charactersOf(shown: string): string[] {
  return shown.match(visibleUnit) ?? [];
}

export function countedCharacters({ text, end = '' }: CardText): number {
  return charactersOf(text).length + charactersOf(end).length;
}

export function wholeText(text: CardText): string {
  return text.hidden === undefined ? text.text : `${text.text} … ${hiddenNote(text)} … ${text.end ?? ''}`;
}

/** Returns a note such as `[1,204 characters hidden]`. */
export function hiddenNote({ hidden = 0 }: CardText): string {
  return `[${countedNoun(hidden, 'character')} hidden]`;
}

/** Returns a count with its noun, such as `1 row` or `1,204 rows`. */
export function countedNoun(count: number, noun: string): string {
  return `${grouped(String(count))} ${noun}${count === 1 ? '' : 's'}`;
}

/** `12345.5` becomes `12,345.5`. */
export function grouped(digits: string): string {
  return digits.replace(/(?<![\d.])\d+/g, (whole) => {
    let text = whole.slice(0, whole.length % 3);
    for (let at = text.length; at < whole.length; at += 3) text += `${at === 0 ? '' : ','}${whole.slice(at, at + 3)}`;
    return text;
  });
}

/**
 * Breaks a text into lines of at most `columns`, which `columnsOf` counts: between words, or within a longer word, but
 * never within an escape. With `keepsSpaces`, the lines joined together are exactly the text.
 */
export function wrapText(
  text: string,
  columns: number,
  columnsOf: (text: string) => number,
  { keepsSpaces = false }: { keepsSpaces?: boolean } = {},
): string[] {
  // Labels and margins may leave no column of a narrow terminal.
  const most = Math.max(10, columns);
  if (columnsOf(text) <= most) return [text];
  if (keepsSpaces) return wholeLines(text, most, columnsOf);
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(' ')) {
    const lineWithWord = line === undefined ? word : `${line} ${word}`;
    if (columnsOf(lineWithWord) <= most) line = lineWithWord;
    else {
      if (line !== undefined) lines.push(line);
      const parts = pieces(word, most, columnsOf);
      line = parts.pop()!;
      for (const part of parts) lines.push(part);
    }
  }
  return line === undefined ? lines : [...lines, line];
}

/** Breaks a text into lines after blanks, and within longer words. Every blank stays, at the end of its line. */
function wholeLines(text: string, most: number, columnsOf: (text: string) => number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<= )(?! )/)) {
    if (columnsOf(line + word) <= most) line += word;
    else {
      if (line !== '') lines.push(line);
      const parts = pieces(word, most, columnsOf);
      line = parts.pop()!;
      for (const part of parts) lines.push(part);
    }
  }
  return [...lines, line];
}

/** Breaks a word into parts of at most `most` columns, but never within an escape. */
function pieces(word: string, most: number, columnsOf: (text: string) => number): string[] {
  const parts: string[] = [];
  let part = '';
  let width = 0;
  for (const character of charactersOf(word)) {
    const columns = columnsOf(character);
    if (width + columns > most && part !== '') {
      parts.push(part);
      [part, width] = ['', 0];
    }
    part += character;
    width += columns;
  }
  return [...parts, part];
}
