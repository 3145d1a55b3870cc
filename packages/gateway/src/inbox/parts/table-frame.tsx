import type { ComponentChildren } from 'preact';

interface TableFrameProps {
  /** Its name for a screen reader. */
  label: string;
  /** True: a part of a card, which has a frame already. */
  isPart?: boolean;
  children: ComponentChildren;
}

/** A table that scrolls sideways if it is wider than its place. */
export function TableFrame({ label, isPart = false, children }: TableFrameProps) {
  return (
    <div class={isPart ? 'table' : 'scroll'} role={isPart ? 'group' : 'region'} aria-label={label} tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}
