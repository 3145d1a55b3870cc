import type { ComponentChildren } from 'preact';

/** A table that scrolls by itself where it is wider than the page. */
export function TableFrame({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="scroll" role="region" aria-label={`Table: ${title}`} tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}
