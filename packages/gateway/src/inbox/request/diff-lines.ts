import type { CardChange, DiffLine } from 'countersign/card';

/** A line of a diff with its numbers in both texts, and with the words that differ from the line that it replaces. */
export interface DrawnLine extends DiffLine {
  before?: number;
  after?: number;
  /** The text in three parts, of which the middle part differs. Absent: the whole line was added, removed or kept. */
  words?: [start: string, changed: string, end: string];
}

/** Numbers the lines of a diff, and compares removed lines with the added lines that follow them. */
export function drawnLines({ lines }: CardChange & { kind: 'text' }): DrawnLine[] {
  const drawn = numbered(lines);
  for (let from = 0; from < drawn.length;) {
    const removed = countOf(drawn, from, 'removed');
    const added = countOf(drawn, from + removed, 'added');
    // If the counts differ, it is not known which added line replaces which removed line.
    if (removed === added) {
      for (let at = from; at < from + removed; at += 1) markWords(drawn[at]!, drawn[at + removed]!);
    }
    // At a kept line, both counts are 0, and the loop goes on with the next line.
    from += Math.max(1, removed + added);
  }
  return drawn;
}

/** Numbers the lines in both texts. A line such as `@@ -3,4 +3,5 @@` sets the numbers of the lines after it. */
function numbered(lines: readonly DiffLine[]): DrawnLine[] {
  let [before, after] = [1, 1];
  return lines.map((line): DrawnLine => {
    if (line.kind === 'place') {
      const [, from, to] = /^@@ -(\d+),\d+ \+(\d+),\d+ @@$/.exec(line.text.text) ?? [];
      if (from !== undefined && to !== undefined) [before, after] = [Number(from), Number(to)];
      return line;
    }
    const numbers = {
      ...(line.kind !== 'added' && { before: before++ }),
      ...(line.kind !== 'removed' && { after: after++ }),
    };
    return { ...line, ...numbers };
  });
}

function countOf(lines: readonly DrawnLine[], from: number, kind: DiffLine['kind']): number {
  let count = 0;
  while (lines[from + count]?.kind === kind) count += 1;
  return count;
}

const longestLine = 2_000;

/** Matches an escape such as `\u{200B}`, a word, white space, or any other single character. */
const tokens = /\\u\{[0-9A-F]{4,6}\}|[\p{L}\p{M}\p{N}_]+|\s+|[^]/gu;

/** Sets `words` of two lines. The middle part of each line lies between their common beginning and common end. */
function markWords(removed: DrawnLine, added: DrawnLine): void {
  // A shortened line is not compared, because the change may be in the hidden part.
  if ([removed.text, added.text].some(({ text, hidden }) => hidden !== undefined || text.length > longestLine)) return;
  const before = removed.text.text.match(tokens) ?? [];
  const after = added.text.text.match(tokens) ?? [];
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const shared = [...before.slice(0, start), ...before.slice(before.length - end)].join('').trim();
  // Lines without a common word are no versions of one line.
  if (!/[\p{L}\p{N}]/u.test(shared)) return;
  for (const [line, parts] of [
    [removed, before],
    [added, after],
  ] as const) {
    line.words = [
      parts.slice(0, start).join(''),
      parts.slice(start, parts.length - end).join(''),
      parts.slice(parts.length - end).join(''),
    ];
  }
}
