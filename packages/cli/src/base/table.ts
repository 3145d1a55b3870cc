import stringWidth from 'string-width';
import { pad, truncate, wrap } from './fit-text.ts';
import type { Output } from './output.ts';

const gap = '  ';

/** The titles of columns that are cut in another way. */
interface Columns {
  /** Users copy these cells, so they are cut only if the others are narrow already. */
  whole?: string[];
  /** These cells continue on the next line. */
  wrapped?: string[];
}

/** Renders a table no wider than the terminal: the widest cells are cut first. The caller escapes the cells. */
export function renderTable(
  output: Output,
  head: string[],
  rows: string[][],
  { whole = [], wrapped = [] }: Columns = {},
): string {
  const natural = head.map((title, column) =>
    // `Math.max` with all rows as parameters could exceed the number that a call allows.
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[column]!)), stringWidth(title)),
  );
  const room = output.width - gap.length * (head.length - 1);
  const mayBeCut = (column: number): boolean => !whole.includes(head[column]!);
  // Columns that may be cut shrink to 8 first, then all columns; if the table is still too wide, the same with 4.
  const widths = [8, 4].reduce(
    (wide, least) => shrink(shrink(wide, least, room, mayBeCut), least, room, () => true),
    natural,
  );

  const linesOf = (row: string[]): string[][] => {
    const cells = row.map((cell, column) => {
      const lines = cell.split('\n');
      const broken = wrapped.includes(head[column]!) ? lines.flatMap((line) => wrap(line, widths[column]!)) : lines;
      return broken.map((line) => truncate(line, widths[column]!));
    });
    const height = Math.max(...cells.map((lines) => lines.length));
    return Array.from({ length: height }, (_, line) => cells.map((lines) => lines[line] ?? ''));
  };
  const join = (cells: string[]): string =>
    cells
      .map((cell, column) => pad(cell, widths[column]!))
      .join(gap)
      .trimEnd();
  const titles = head.map((title, column) => output.style('bold', truncate(title, widths[column]!)));
  return [titles, ...rows.flatMap(linesOf)].map(join).join('\n');
}

function widthOf(cell: string): number {
  return Math.max(...cell.split('\n').map((line) => stringWidth(line)));
}

/** Narrows the widest of these columns until all fit into `room`, or none is wider than `least`. */
function shrink(widths: number[], least: number, room: number, mayShrink: (column: number) => boolean): number[] {
  const shrunk = [...widths];
  let over = shrunk.reduce((sum, width) => sum + width, 0) - room;
  for (; over > 0; over -= 1) {
    const widest = Math.max(...shrunk.filter((_, column) => mayShrink(column)));
    if (widest <= least) break;
    shrunk[shrunk.findIndex((width, column) => width === widest && mayShrink(column))]! -= 1;
  }
  return shrunk;
}

/** Renders names and values, a pair per line, broken between words and at line feeds. The caller escapes values. */
export function renderFields(output: Output, fields: [name: string, value: string | undefined][]): string {
  const shown = fields.filter((field): field is [string, string] => field[1] !== undefined && field[1] !== '');
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown
    .map(([name, value]) => {
      const lines = value.split('\n').flatMap((line) => wrap(line, output.width - width - gap.length));
      return `${output.style('dim', name.padEnd(width))}${gap}${lines.join(`\n${' '.repeat(width)}${gap}`)}`;
    })
    .join('\n');
}
