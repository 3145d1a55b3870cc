import type { ComponentChildren } from 'preact';

interface TableFrameProps {
  label: string;
  /** True: the table is a part of a card, which has a frame already. */
  isPart?: boolean;
  head: ComponentChildren;
  children: ComponentChildren;
}

/** A table that scrolls sideways if it is wider than the page. */
export function TableFrame({ label, isPart = false, head, children }: TableFrameProps) {
  return (
    <div class={isPart ? 'table' : 'scroll'} role={isPart ? 'group' : 'region'} aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>{head}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface RowProps {
  class?: string;
  label: ComponentChildren;
  children: ComponentChildren;
}

export function Row({ class: look, label, children }: RowProps) {
  return (
    <div class={look}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The header cells of a table, made from a text such as `Rule, Action`. */
export function columnHeads(heads: string) {
  return heads.split(', ').map((each) => (
    <th key={each} scope="col">
      {each}
    </th>
  ));
}
