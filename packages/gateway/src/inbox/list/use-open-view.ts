import { useEffect, useRef, useState } from 'preact/hooks';
import type { FoundRequests, InboxRow, OpenView, WaitsFor } from '../../http/inbox/api.ts';
import { openView, type OpenQuery } from '../../http/inbox/open-view.ts';
import { serverNowMs } from '../api/fetch-json.ts';
import { useJson } from '../api/use-json.ts';
import type { OpenRequests } from '../state/open-requests.ts';
import type { OpenRows } from '../state/open-rows.ts';
import { useStore } from '../state/store.ts';
import { decisions, isAnswered, isSettled } from '../request/decisions.ts';
import { writeQuery } from './filters.ts';

export interface ShownView {
  /** Absent: the page has not read anything yet. */
  view?: OpenView;
  /** True: the gateway is still searching, and `view` has only the requests that the page knows. */
  isSearching: boolean;
  problem?: string;
}

export const fewRows = 200;

/** How long a search waits for further typing, in milliseconds. */
const typingMs = 200;

/** The filtered list. If the page lacks some open requests, the gateway searches all, now and after each change. */
export function useOpenView({ open }: OpenRequests, query: OpenQuery, limit: number): ShownView {
  const hasAll = open === undefined || open.more === 0;
  const address = writeQuery(query);
  const path = useAfterTyping(`/approvals/search${address}${address === '' ? '?' : '&'}limit=${limit}`);
  // The number of changes of `open`. When it grows, `useJson` asks the gateway to search again.
  const version = useRef({ open, number: 0 });
  if (version.current.open !== open) version.current = { open, number: version.current.number + 1 };
  const { value, problem } = useJson<FoundRequests>(hasAll ? undefined : path, version.current.number);
  const view = hasAll ? undefined : value;
  useEffect(() => {
    lastSearch = view === undefined ? undefined : { address, view };
  }, [view]);
  // An answer on this page removes rows from the list, so the component must be drawn again.
  useStore(decisions);
  if (view !== undefined) return { view: withoutAnswered(view), isSearching: false, problem: problem?.message };
  if (open === undefined) return { isSearching: false };
  const isSearching = !hasAll && problem === undefined;
  return { view: localView(open, query, limit), isSearching, problem: problem?.message };
}

/** The last search result of the gateway, and its filters as an address. `listedRows` reads them. */
let lastSearch: { address: string; view: OpenView } | undefined;

/** All rows of a list, with those just answered, so that `NextRequest` finds the row after the answered one. */
export function listedRows(open: OpenRows | undefined, query: OpenQuery): readonly InboxRow[] {
  if (lastSearch?.address === writeQuery(query)) return lastSearch.view.rows;
  const waitsFor = (row: InboxRow): WaitsFor => row.waitsFor;
  return openView(open?.rows ?? [], query, { waitsFor, limit: Infinity, nowMs: serverNowMs() }).rows;
}

/** Makes the list of the requests that the page has. A request answered here waits for others, or is left out. */
function localView({ rows }: OpenRows, query: OpenQuery, limit: number): OpenView {
  const left = rows.filter((row) => !isSettled(row));
  const waitsFor = (row: InboxRow): WaitsFor => (isAnswered(row) ? 'others' : row.waitsFor);
  return openView(left, query, { waitsFor, limit, nowMs: serverNowMs() });
}

/** Removes the requests that were answered on this page since the gateway's last search. */
function withoutAnswered(view: OpenView): OpenView {
  const isLeft = (row: InboxRow): boolean => (view.tab === 'others' ? !isSettled(row) : !isAnswered(row));
  return view.rows.every(isLeft) ? view : { ...view, rows: view.rows.filter(isLeft) };
}

/** The value once it has stayed the same for `typingMs`; until then, the former value. */
function useAfterTyping(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), typingMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
