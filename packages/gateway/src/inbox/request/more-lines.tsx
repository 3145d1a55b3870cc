import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { TableFrame } from '../parts/tables.tsx';
import { Button } from '../parts/controls.tsx';

/** How many lines or rows are drawn at first. A button draws more. */
export const mostLines = 500;

export function MoreLines({ all, shown, show }: { all: number; shown: number; show: (count: number) => void }) {
  if (all <= shown) return null;
  return (
    <Button onClick={() => show(shown + mostLines * 4)}>Show more ({(all - shown).toLocaleString('en')} left)</Button>
  );
}

interface CardTableProps<Row> {
  label: string;
  head: ComponentChildren;
  rows: readonly Row[];
  draw: (row: Row, index: number) => VNode;
}

/** A table with `mostLines` rows at first, and a button for more. `draw`: makes the element of a row. */
export function CardTable<Row>({ label, head, rows, draw }: CardTableProps<Row>) {
  const [shown, setShown] = useState(mostLines);
  return (
    <>
      <TableFrame label={label} isPart head={head}>
        {rows.slice(0, shown).map(draw)}
      </TableFrame>
      <MoreLines all={rows.length} shown={shown} show={setShown} />
    </>
  );
}
