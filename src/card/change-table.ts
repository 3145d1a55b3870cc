import type { CardChange } from './card.ts';

type TableChange = CardChange & { kind: 'table' };
type RowKind = TableChange['rows'][number]['kind'];

const rowMarks: Record<RowKind, string> = { same: '', removed: '-', added: '+', changed: '~' };
const gap = '  ';
/** Beside a wider cell, others are not filled up: one long cell among thousands would make a text of gigabytes. */
const widestColumn = 2_000;

/** A table of a change as cells: one that changes is `BEFORE → AFTER`, and the first column says what happens. */
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

/** The same as lines of text, in columns. `columnsOf`: the columns that a text takes. */
export function tableText(
  change: TableChange,
  columnsOf: (text: string) => number,
): { kind: RowKind | 'head'; text: string }[] {
  const rows = changeTable(change);
  const widths = rows[0]!.cells.map((_, column) =>
    Math.min(
      widestColumn,
      rows.reduce((most, { cells }) => Math.max(most, columnsOf(cells[column]!)), 0),
    ),
  );
  return rows.map(({ kind, cells }) => {
    const padded = cells.map((cell, column) => cell + ' '.repeat(Math.max(0, widths[column]! - columnsOf(cell))));
    return { kind, text: padded.join(gap).trimEnd() };
  });
}
