import stringWidth from 'string-width';
import { pad, truncate, wrap } from './fit-text.ts';
import type { Output } from './output.ts';

const gap = '  ';

/** The titles of the columns whose cells are not simply cut. */
interface Columns {
  /** Users copy these cells, so other columns are cut first. */
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
  let widths = natural;
  // All columns shrink to 8 characters before one gets narrower than that. None gets narrower than 4.
  for (const least of [8, 4]) {
    widths = shrink(widths, least, room, mayBeCut);
    // If the table is still too wide, the columns that users copy shrink, too.
    widths = shrink(widths, least, room, () => true);
  }

  const linesOf = (row: string[]): string[][] => {
    const cells = row.map((cell, column) => {
      const lines = cell.split('\n');
      const broken = wrapped.includes(head[column]!) ? lines.flatMap((line) => wrap(line, widths[column]!)) : lines;
      return broken.map((line) => truncate(line, widths[column]!));
    });
    const height = Math.max(...cells.map((lines) => lines.length));
    return Array.from({ length: height }, (_, line) => cells.map((lines) => lines[line] ?? ''));
  };
  const joinCells = (cells: string[]): string =>
    cells
      .map((cell, column) => pad(cell, widths[column]!))
      .join(gap)
      .trimEnd();
  const titles = head.map((title, column) => output.style('bold', truncate(title, widths[column]!)));
  return [titles, ...rows.flatMap(linesOf)].map(joinCells).join('\n');
}

function widthOf(cell: string): number {
  return Math.max(...cell.split('\n').map((line) => stringWidth(line)));
}

/** Narrows the widest of these columns until all fit into `room`, or none is wider than `least`. */
function shrink(widths: number[], least: number, room: number, mayShrink: (column: number) => boolean): number[] {
  const shrunk = [...widths];
  const total = shrunk.reduce((sum, width) => sum + width, 0);
  for (let excess = total - room; excess > 0; excess -= 1) {
    const widest = Math.max(...shrunk.filter((_, column) => mayShrink(column)));
    if (widest <= least) break;
    const widestColumn = shrunk.findIndex((width, column) => width === widest && mayShrink(column));
    shrunk[widestColumn]! -= 1;
  }
  return shrunk;
}

/** Renders the pairs that have a value, each on a line that is broken if it is long. The caller escapes values. */
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
