import type { InboxRow } from '../../http/inbox/api.ts';
import { readQuery } from '../list/filters.ts';
import { localView, shownRows } from '../list/use-open-view.ts';
import { currentLocation, inListHref, navigate } from '../state/location.ts';
import { openRequests } from '../state/open-requests.ts';
import { isSameRequest, type RequestIds } from '../state/paths.ts';
import { useStore } from '../state/store.ts';
import { decisionOf, decisions } from './decisions.ts';

/** Leads to the next open request of this reviewer. */
export function NextRequest({ class: look, ...shown }: RequestIds & { class?: string }) {
  useStore(decisions);
  useStore(currentLocation);
  useStore(openRequests);
  const next = nextRequest(listedRows(), shown);
  if (next === undefined) return null;
  return (
    <a class={look} href={inListHref(next)}>
      Next request →
    </a>
  );
}

/** Opens the next open request of this reviewer, if there is one. */
export function goToNext(shown: RequestIds): void {
  const next = nextRequest(listedRows(), shown);
  if (next !== undefined) navigate(inListHref(next));
}

/** The requests of the list that the address names, in its order. */
function listedRows(): readonly InboxRow[] {
  const query = readQuery(currentLocation.get().query);
  return shownRows(query) ?? localView(openRequests.get().open, query)?.rows ?? [];
}

/** The following request in the list, beginning again at its top; undefined: no other waits for this reviewer. */
function nextRequest(rows: readonly InboxRow[], shown: RequestIds): InboxRow | undefined {
  const at = rows.findIndex((row) => isSameRequest(row, shown));
  return [...rows.slice(at + 1), ...rows.slice(0, Math.max(0, at))].find(
    (row) => row.waitsFor !== 'others' && !isAnswered(row),
  );
}

/** True if an answer was given on this page, and the list may not know it yet. */
function isAnswered(row: RequestIds): boolean {
  return ['delayed', 'sending', 'done'].includes(decisionOf(row)?.state.kind ?? 'idle');
}
