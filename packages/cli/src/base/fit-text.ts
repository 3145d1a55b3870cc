import stringWidth from 'string-width';

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Cuts a text to this many columns, with a `…` at the end: after a word, unless less than half would be left. */
export function truncate(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  let kept = '';
  let columnsLeft = columns - 1; // one is for the `…`
  for (const { segment } of graphemes.segment(text)) {
    columnsLeft -= stringWidth(segment);
    if (columnsLeft < 0) break;
    kept += segment;
  }
  // If a space follows, the kept text ends with a whole word.
  const lastSpace = text[kept.length] === ' ' ? kept.length : kept.lastIndexOf(' ');
  return `${lastSpace * 2 > kept.length ? kept.slice(0, lastSpace).trimEnd() : kept}…`;
}

/** Breaks a text between words into lines of at most this many columns. A longer word stays whole on its own line. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[][] = [];
  let used = 0;
  for (const word of text.split(' ')) {
    const width = stringWidth(word);
    const last = lines.at(-1);
    if (last !== undefined && used + 1 + width <= columns) {
      last.push(word);
      used += 1 + width;
    } else {
      lines.push([word]);
      used = width;
    }
  }
  return lines.map((words) => words.join(' '));
}

export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)));
}
