import type { InboxRow } from '../../http/inbox/api.ts';
import { navigate, requestHref } from '../state/location.ts';
import { openRequests } from '../state/open-requests.ts';
import { isSameRequest, type RequestIds } from '../state/paths.ts';
import { useStore } from '../state/store.ts';
import { decisionOf, decisions } from './decisions.ts';

/** Leads to the next open request of this reviewer. */
export function NextRequest({ class: look, ...shown }: RequestIds & { class?: string }) {
  useStore(decisions);
  const next = nextRequest(useStore(openRequests).open?.rows ?? [], shown);
  if (next === undefined) return null;
  return (
    <a class={look} href={requestHref(next)}>
      Next request →
    </a>
  );
}

/** Opens the next open request of this reviewer, if there is one. */
export function goToNext(shown: RequestIds): void {
  const next = nextRequest(openRequests.get().open?.rows ?? [], shown);
  if (next !== undefined) navigate(requestHref(next));
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
