import { visibleUnit } from '../text/visible-text.ts';

/**
 * Breaks a text into lines of at most so many columns: between words, and within a word that is wider than a line, but
 * never within an escape. `keepsSpaces`: the lines together are the text.
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

/** Breaks after spaces, and drops none of them. */
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
