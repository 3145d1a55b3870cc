import { useRef } from 'preact/hooks';
import type { RefObject } from 'preact';
import type { InboxRow } from '../../http/inbox/api.ts';
import { navigate, requestHref } from '../state/location.ts';
import { useShortcuts } from '../state/shortcuts.ts';

interface ListKeys {
  rows: readonly InboxRow[];
  toggle: (row: InboxRow) => void;
  /** Asks for one answer to all that is selected; undefined: nothing is. */
  answer: ((answer: 'approve' | 'deny') => void) | undefined;
}

/**
 * The keys of the list: `j` and `k` move, Enter opens (the row is a link), `x` selects. `a` and `d` answer nothing by
 * themselves: they open the dialog about the selection, or the request with that answer prepared.
 */
export function useListKeys({ rows, toggle, answer }: ListKeys): RefObject<HTMLUListElement | null> {
  const list = useRef<HTMLUListElement>(null);
  const links = (): HTMLAnchorElement[] => [...(list.current?.querySelectorAll<HTMLAnchorElement>('a.open') ?? [])];
  const at = (): number => links().findIndex((link) => link.closest('li')?.contains(document.activeElement) === true);
  const move = (by: number): void => {
    const all = links();
    const from = at();
    all[from === -1 ? 0 : Math.max(0, Math.min(all.length - 1, from + by))]?.focus();
  };
  const chosen = (): InboxRow | undefined => rows[at()];
  const prepare = (which: 'approve' | 'deny') => () => {
    const row = chosen();
    if (answer !== undefined) answer(which);
    else if (row !== undefined) navigate(`${requestHref(row)}?answer=${which}`);
  };
  useShortcuts({
    j: () => move(1),
    ArrowDown: () => move(1),
    k: () => move(-1),
    ArrowUp: () => move(-1),
    x: () => {
      const row = chosen();
      if (row !== undefined) toggle(row);
    },
    a: prepare('approve'),
    d: prepare('deny'),
  });
  return list;
}
