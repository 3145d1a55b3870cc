import { useRef } from 'preact/hooks';
import type { RefObject } from 'preact';
import type { InboxRow } from '../../http/inbox/api.ts';
import { currentLocation, inListHref, navigate } from '../state/location.ts';
import { requestKey, requestParams } from '../state/paths.ts';
import { useShortcuts } from '../state/shortcuts.ts';
import type { RowGroup } from './filters.ts';

interface ListKeys {
  groups: readonly RowGroup[];
  /** Selects rows, or deselects them. If the user cannot answer, this and `answer` are undefined. */
  toggle: ((rows: readonly InboxRow[]) => void) | undefined;
  /** Opens the dialog that answers the selected rows, or these rows if no row is selected. */
  answer: ((answer: 'approve' | 'deny', rows: readonly InboxRow[]) => void) | undefined;
  hasSelection: boolean;
}

/** The keys of the list. `a` and `d` send no answer: they open the dialog for several, or the request for one. */
export function useListKeys({ groups, toggle, answer, hasSelection }: ListKeys): RefObject<HTMLUListElement | null> {
  const list = useRef<HTMLUListElement>(null);
  const rowsOnPage = (): HTMLElement[] => [...(list.current?.querySelectorAll<HTMLElement>('li') ?? [])];
  const focusedRow = (): HTMLElement | undefined => rowsOnPage().find((each) => each.contains(document.activeElement));
  const move = (by: number): void => {
    const all = rowsOnPage();
    const openRow = all.find((each) => each.querySelector('[aria-current]') !== null);
    const from = all.indexOf((focusedRow() ?? openRow)!);
    const to = from === -1 ? 0 : Math.max(0, Math.min(all.length - 1, from + by));
    all[to]?.querySelector<HTMLElement>('.open')?.focus();
  };
  /** The rows of the focused group, or the focused row. */
  const focusedRequests = (): readonly InboxRow[] => {
    const { run, request } = focusedRow()?.dataset ?? {};
    if (run !== undefined)
      return groups.find(({ workflowId, rows }) => workflowId === run && rows.length > 1)?.rows ?? [];
    return groups.flatMap(({ rows }) => rows).filter((row) => requestKey(row) === request);
  };
  /** True if the keys belong to the request that is open beside the list, because the focus is not in the list. */
  const isForRequest = (): boolean =>
    focusedRow() === undefined && requestParams(currentLocation.get().path) !== undefined;
  const prepare = (which: 'approve' | 'deny') => () => {
    if (isForRequest()) return false;
    const rows = focusedRequests();
    if (answer !== undefined && (hasSelection || rows.length > 1)) answer(which, rows);
    else if (rows[0] !== undefined) navigate(inListHref(rows[0], { answer: which }));
    return true;
  };
  const scrollOr = (by: number) => () => {
    if (isForRequest()) return false;
    move(by);
    return true;
  };
  useShortcuts({
    j: () => move(1),
    ArrowDown: scrollOr(1),
    k: () => move(-1),
    ArrowUp: scrollOr(-1),
    x: () => {
      if (isForRequest()) return false;
      const rows = focusedRequests();
      if (rows.length > 0) toggle?.(rows);
      return true;
    },
    '/': () => document.querySelector<HTMLInputElement>('.filters .search input')?.focus(),
    a: prepare('approve'),
    d: prepare('deny'),
  });
  return list;
}
