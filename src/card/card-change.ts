import { structuredPatch } from 'diff';
import type { Change } from '../core/base/call-preview.ts';
import type { Json } from '../core/base/tool-call.ts';
import { visibleText } from '../text/visible-text.ts';
import { type CardChange, type DiffLine, isCut } from './card.ts';
import { type CardBounds, cutInline, cutJson, cutLine, countedNoun, grouped, inline } from './cut-text.ts';
import { jsonText } from './member-schema.ts';

/** If texts differ in more lines, all lines of the first are shown as removed, and all of the second as added. */
const mostEdits = 1_000;

type TableChange = CardChange & { kind: 'table' };
type TableRow = TableChange['rows'][number];

export function cardChange(change: Change, bounds: CardBounds): CardChange {
  return change.kind === 'text' ? textChange(change, bounds) : tableChange(change, bounds);
}

/** True if the bounds cut the name of the change, or of a column. */
export function isChangeNameCut(change: Change, { value }: CardBounds): boolean {
  const names = change.kind === 'table' ? [change.name, ...change.columns] : [change.name];
  return names.some((name) => isCut(cutLine(name, value)));
}

/** Returns the lines of a changed text, up to the bounds. The counts are of all lines. */
function textChange({ name, before, after }: Change & { kind: 'text' }, bounds: CardBounds): CardChange {
  const lines = diffLines(before ?? '', after ?? '');
  const shown = lines.slice(0, bounds.diffLines);
  return {
    kind: 'text',
    name: cutInline(name, bounds.value),
    what: whatHappens(before, after),
    lines: shown.map(({ kind, text }): DiffLine => ({ kind, text: cutVisible(text, bounds) })),
    added: lines.filter(({ kind }) => kind === 'added').length,
    removed: lines.filter(({ kind }) => kind === 'removed').length,
    hiddenLines: lines.length - shown.length,
  };
}

function whatHappens(before: string | null, after: string | null): string {
  if (before === null) return 'is new';
  if (after === null) return 'is removed';
  return before === after ? 'stays' : 'changes';
}

function cutVisible(text: string, { value }: CardBounds) {
  if (!text.includes('\t')) return cutLine(text, value);
  const shown = visibleText(text, { lines: true });
  return shown.length <= value ? { text: shown } : cutLine(text, value);
}

const lineKinds = { '+': 'added', '-': 'removed', ' ': 'same', '\\': 'place' } as const;

/** Returns the changed lines with three lines around each change, as `diff -u` does. */
function diffLines(before: string, after: string): { kind: DiffLine['kind']; text: string }[] {
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: mostEdits });
  // There is no patch if the texts differ in more than `mostEdits` lines.
  if (patch === undefined) {
    const whole = (kind: 'added' | 'removed', text: string) => text.split('\n').map((line) => ({ kind, text: line }));
    return [...whole('removed', before), ...whole('added', after)];
  }
  return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    { kind: 'place' as const, text: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@` },
    ...lines.map((line) => ({ kind: lineKinds[line[0] as keyof typeof lineKinds], text: line.slice(1) })),
  ]);
}

/** Builds the table of a card: the first rows, each cell cut, and the totals of all rows. */
function tableChange({ name, columns, rows }: Change & { kind: 'table' }, bounds: CardBounds): CardChange {
  const shown = rows.slice(0, bounds.rows);
  // A row may have more cells than there are columns, so the widest row counts.
  const widths = shown.map(({ before, after }) => Math.max(before?.length ?? 0, after?.length ?? 0));
  const width = widths.reduce((widest, each) => Math.max(widest, each), columns.length);
  const indexes = Array.from({ length: width }, (_, index) => index);
  let cutCells = 0;
  const textOf = (value: Json | undefined): string | null => {
    if (value === undefined) return null;
    const { value: most } = bounds;
    const cell = typeof value === 'string' ? cutLine(value, most) : cutJson(jsonText(value), most);
    if (isCut(cell)) cutCells += 1;
    return inline(cell);
  };
  const tableRows = shown.map(({ before, after }): TableRow => {
    const cells = indexes.map((index) => cellOf(before?.[index], after?.[index], textOf));
    return { kind: kindOfRow(before, after, cells), cells };
  });
  return {
    kind: 'table',
    name: cutInline(name, bounds.value),
    columns: indexes.map((index) => (index < columns.length ? cutInline(columns[index]!, bounds.value) : '')),
    rows: tableRows,
    hiddenRows: rows.length - shown.length,
    cutCells,
    totals: tableTotals(columns, rows),
  };
}

/** Builds a cell. If its values differ only in a part that is cut, a note says so. */
function cellOf(before: Json | undefined, after: Json | undefined, textOf: (value: Json | undefined) => string | null) {
  const cell = { before: textOf(before), after: textOf(after) };
  const differsWhereCut = cell.before === cell.after && JSON.stringify(before) !== JSON.stringify(after);
  return differsWhereCut ? { ...cell, after: `${cell.after} [changes where it is hidden]` } : cell;
}

function kindOfRow(before: unknown, after: unknown, cells: TableRow['cells']): TableRow['kind'] {
  if (before === null) return 'added';
  if (after === null) return 'removed';
  return cells.every((cell) => cell.before === cell.after) ? 'same' : 'changed';
}

type Rows = (Change & { kind: 'table' })['rows'];

const mostDecimals = 6;

/** Counts rows by kind, also those that the card hides. From two rows on, also adds up columns of numbers. */
export function tableTotals(columns: readonly string[], rows: Rows): string[] {
  const kinds = rows.map(({ before, after }) => {
    if (before === null) return 'added';
    if (after === null) return 'removed';
    return JSON.stringify(before) === JSON.stringify(after) ? 'as before' : 'changed';
  });
  const counts = (['added', 'changed', 'removed', 'as before'] as const).flatMap((kind) => {
    const count = kinds.filter((each) => each === kind).length;
    return count === 0 ? [] : [`${countedNoun(count, 'row')} ${kind}`];
  });
  const sums = columns.flatMap((column, index) => {
    const [before, after] = [sumOf(rows, 'before', index), sumOf(rows, 'after', index)];
    if (before === undefined || after === undefined || rows.length < 2) return [];
    const change = before === after ? after : `${before} → ${after}`;
    return [`${cutInline(column, 60)} in total: ${change}`];
  });
  return [...counts, ...sums];
}

/** Returns the exact sum of a column; undefined if a cell has no number, or too many decimals to add exactly. */
function sumOf(rows: Rows, side: 'before' | 'after', index: number): string | undefined {
  const values = rows.flatMap((row): (Json | undefined)[] => (row[side] === null ? [] : [row[side][index]]));
  let sum = 0n;
  for (const value of values) {
    const number = typeof value === 'number' ? /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value)) : null;
    if (number === null) return undefined;
    const [, sign, integer, fraction = ''] = number;
    if (fraction.length > mostDecimals) return undefined;
    const scaled = BigInt(`${integer}${fraction.padEnd(mostDecimals, '0')}`);
    sum += sign === '-' ? -scaled : scaled;
  }
  const text = String(sum < 0n ? -sum : sum).padStart(mostDecimals + 1, '0');
  const decimals = text.slice(-mostDecimals).replace(/0+$/, '');
  const whole = grouped(text.slice(0, -mostDecimals));
  return `${sum < 0n ? '-' : ''}${whole}${decimals === '' ? '' : `.${decimals}`}`;
}

type RowKind = TableRow['kind'];

const rowMarks: Record<RowKind, string> = { same: '', removed: '-', added: '+', changed: '~' };
const cellGap = '  ';
/** Cells are padded to at most this width. Otherwise one long cell would lengthen thousands of rows. */
const widestColumn = 2_000;

/** Converts a table to rows of texts. A row begins with the sign of its kind; a changed cell is `BEFORE → AFTER`. */
export function changeTable({ columns, rows }: TableChange): { kind: RowKind | 'head'; cells: string[] }[] {
  return [
    { kind: 'head', cells: ['', ...columns] },
    ...rows.map(({ kind, cells }) => ({
      kind,
      cells: [
        rowMarks[kind],
        ...cells.map(({ before, after }) => {
          if (kind === 'removed') return before ?? '';
          if (kind === 'added' || before === after) return after ?? '';
          return `${before ?? 'nothing'} → ${after ?? 'nothing'}`;
        }),
      ],
    })),
  ];
}

/** Converts a table to aligned lines. `columnsOf` returns how many columns of a terminal a text takes. */
export function tableText(
  change: TableChange,
  columnsOf: (text: string) => number,
): { kind: RowKind | 'head'; text: string }[] {
  const rows = changeTable(change);
  const widths = rows[0]!.cells.map((_, column) => {
    const widest = rows.reduce((most, { cells }) => Math.max(most, columnsOf(cells[column]!)), 0);
    return Math.min(widestColumn, widest);
  });
  return rows.map(({ kind, cells }) => {
    const padded = cells.map((cell, column) => cell + ' '.repeat(Math.max(0, widths[column]! - columnsOf(cell))));
    return { kind, text: padded.join(cellGap).trimEnd() };
  });
}
