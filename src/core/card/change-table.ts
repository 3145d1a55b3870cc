import type { CardChange } from './card.ts';

type TableChange = CardChange & { kind: 'table' };

/** A table of a change as texts: a cell that changes is `BEFORE → AFTER`, and the first column says what happens. */
export function changeTable({ columns, rows }: TableChange): {
  head: string[];
  rows: { kind: TableChange['rows'][number]['kind']; cells: string[] }[];
} {
  return {
    head: ['', ...columns],
    rows: rows.map(({ kind, cells }) => ({
      kind,
      cells: [
        { same: '', removed: '-', added: '+', changed: '~' }[kind],
        ...cells.map(({ before, after }) => {
          if (kind === 'removed') return before ?? '';
          if (kind === 'added' || before === after) return after ?? '';
          return `${before ?? 'nothing'} → ${after ?? 'nothing'}`;
        }),
      ],
    })),
  };
}
