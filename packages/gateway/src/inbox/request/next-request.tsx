import type { InboxRow } from '../../http/inbox/api.ts';
import { readQuery } from '../list/filters.ts';
import { listedRows } from '../list/use-open-view.ts';
import { currentLocation, inListHref, navigate } from '../state/location.ts';
import { openRequests } from '../state/open-requests.ts';
import { isSameRequest, type RequestIds } from '../state/paths.ts';
import { useStore } from '../state/store.ts';
import { decisions, isAnswered } from './decisions.ts';

/** A link to the next request that waits for the reviewer, by the list as it is now; empty if there is none. */
export function NextRequest({ class: look, ...shown }: RequestIds & { class?: string }) {
  useStore(decisions);
  useStore(currentLocation);
  useStore(openRequests);
  const next = nextRequest(rowsOfAddress(), shown);
  if (next === undefined) return null;
  return (
    <a class={look} href={inListHref(next)}>
      Next request →
    </a>
  );
}

export function goToNext(shown: RequestIds): void {
  const next = nextRequest(rowsOfAddress(), shown);
  if (next !== undefined) navigate(inListHref(next));
}

function rowsOfAddress(): readonly InboxRow[] {
  return listedRows(openRequests.get().open, readQuery(currentLocation.get().query));
}

/** The next request of the list that waits for the reviewer: after `shown`, then from the top of the list on. */
function nextRequest(rows: readonly InboxRow[], shown: RequestIds): InboxRow | undefined {
  const at = rows.findIndex((row) => isSameRequest(row, shown));
  return [...rows.slice(at + 1), ...rows.slice(0, Math.max(0, at))].find(
    (row) => row.waitsFor !== 'others' && !isAnswered(row),
  );
}
