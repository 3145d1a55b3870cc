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
/** Everything is shown, except values that are nested too deeply for any layout. */
export const noBounds: CardBounds = { ...unbounded, fields: Infinity, depth: 30, diffLines: Infinity, rows: Infinity };

/** How many of the shown characters of a cut text are from its end, as a share. */
const endShare = 0.2;
/** A text made visible on one line, cut in its middle if it has more than `most` characters. */
export function cutLine(text: string, most: number): CardText {
  return cut(visibleText(text), most);
}

/** The text of `jsonText`, cut in the same way. It is visible already: a letter behind `\\n` begins a word. */
export function cutJson(json: string, most: number): CardText {
  // A backslash stays, unless the text could then be read as an escape.
  return cut(json.replaceAll('\\u{', '\\u{005C}u{'), most);
}

/** A visible text with its line feeds and tabs, cut in its middle to `value` characters and `lines` lines. */
export function cutLines(text: string, { value, lines }: Pick<CardBounds, 'value' | 'lines'>): CardText {
  const shown = visibleText(text, { lines: true });
  const all = shown.split('\n');
  if (all.length <= lines) return cut(shown, value * 4);
  const endLines = Math.floor(lines * endShare);
  const [start, end] = [all.slice(0, lines - endLines).join('\n'), all.slice(all.length - endLines).join('\n')];
  if (start.length + end.length > value * 4) return cut(shown, value * 4);
  const hidden = charactersOf(shown).length - charactersOf(start).length - charactersOf(end).length;
  return { text: start, hidden, end };
}

/** One line of at most about `most` characters, with a note in place of the hidden ones. */
export function cutInline(text: string, most: number): string {
  return inline(cutLine(text, most));
}

export function inline(line: CardText): string {
  return line.hidden === undefined ? line.text : `${line.text}…${hiddenNote(line)}…${line.end}`;
}

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

/** Such as `[1,204 characters hidden]`. */
export function hiddenNote({ hidden = 0 }: CardText): string {
  return `[${countedNoun(hidden, 'character')} hidden]`;
}

/** Such as `1 row` or `1,204 rows`. */
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
 * Breaks a text into lines of at most `columns`: between words, or within a longer word, but never within an escape.
 * `keepsSpaces`: the joined lines are the text.
 */
export function wrapText(
  text: string,
  columns: number,
  columnsOf: (text: string) => number,
  { keepsSpaces = false }: { keepsSpaces?: boolean } = {},
): string[] {
  const most = Math.max(10, columns);
  if (columnsOf(text) <= most) return [text];
  if (keepsSpaces) return wholeLines(text, most, columnsOf);
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(' ')) {
    const longer = line === undefined ? word : `${line} ${word}`;
    if (columnsOf(longer) <= most) line = longer;
    else {
      if (line !== undefined) lines.push(line);
      const parts = pieces(word, most, columnsOf);
      line = parts.pop()!;
      for (const part of parts) lines.push(part);
    }
  }
  return line === undefined ? lines : [...lines, line];
}

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

function pieces(text: string, most: number, columnsOf: (text: string) => number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const each of text.match(visibleUnit) ?? []) {
    const columns = columnsOf(each);
    if (used + columns > most && line !== '') {
      lines.push(line);
      line = '';
      used = 0;
    }
    line += each;
    used += columns;
  }
  return [...lines, line];
}
