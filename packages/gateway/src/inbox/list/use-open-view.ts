import { useEffect, useRef, useState } from 'preact/hooks';
import type { FoundRequests, InboxRow, OpenView } from '../../http/inbox/api.ts';
import { openView, type OpenQuery } from '../../http/inbox/open-view.ts';
import { serverNowMs } from '../api/fetch-json.ts';
import { useJson } from '../api/use-json.ts';
import type { OpenRequests } from '../state/open-requests.ts';
import type { OpenRows } from '../state/open-rows.ts';
import { writeQuery } from './filters.ts';

/** The list as it is shown. */
export interface ShownView {
  /** Absent: nothing was read yet. */
  view?: OpenView;
  /** True: the gateway is searching all open requests, and `view` has only those that the page knows. */
  isSearching: boolean;
  /** Why the gateway could not search. */
  problem?: string;
}

/** How long a search waits for the next key, in milliseconds. */
const typingMs = 200;

/**
 * The open requests of a query. A page that has all of them answers at once; if there are too many, the gateway searches
 * them, again after each change.
 */
export function useOpenView({ open }: OpenRequests, query: OpenQuery, limit: number): ShownView {
  const hasAll = open === undefined || open.more === 0;
  const address = writeQuery(query);
  const path = useSettled(`/approvals/search${address}${address === '' ? '?' : '&'}limit=${limit}`);
  const version = useRef({ of: open, number: 0 });
  if (version.current.of !== open) version.current = { of: open, number: version.current.number + 1 };
  const { value, problem } = useJson<FoundRequests>(hasAll ? undefined : path, version.current.number);
  const view = hasAll ? undefined : value;
  useEffect(() => {
    found = view === undefined ? undefined : { address, view };
  }, [view]);
  if (view !== undefined) return { view, isSearching: false, problem: problem?.message };
  if (open === undefined) return { isSearching: false };
  const isSearching = !hasAll && problem === undefined;
  return { view: localView(open, query, limit), isSearching, problem: problem?.message };
}

/** What the gateway found last. */
let found: { address: string; view: OpenView } | undefined;

/** The rows that the gateway found for a query; undefined if it did not search for it. */
export function shownRows(query: OpenQuery): readonly InboxRow[] | undefined {
  return found?.address === writeQuery(query) ? found.view.rows : undefined;
}

/** The view of the requests that the page has. */
export function localView(open: OpenRows | undefined, query: OpenQuery, limit = Infinity): OpenView | undefined {
  const nowMs = serverNowMs();
  return open && openView(open.rows, query, { waitsFor: ({ waitsFor }) => waitsFor, limit, nowMs });
}

/** The value once it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), typingMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
