import { useEffect, useRef, useState } from 'preact/hooks';
import type { FoundRequests, OpenView } from '../../http/inbox/api.ts';
import { openView, type OpenQuery } from '../../http/inbox/open-view.ts';
import { serverNowMs } from '../api/fetch-json.ts';
import { useJson } from '../api/use-json.ts';
import type { OpenRequests } from '../state/open-requests.ts';
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
  if (open === undefined) return { isSearching: false };
  if (!hasAll && value !== undefined) return { view: value, isSearching: false, problem: problem?.message };
  const local = openView(open.rows, query, { waitsFor: ({ waitsFor }) => waitsFor, limit, nowMs: serverNowMs() });
  return { view: local, isSearching: !hasAll && problem === undefined, problem: problem?.message };
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
