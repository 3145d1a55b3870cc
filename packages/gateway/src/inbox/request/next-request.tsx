import type { InboxRow } from '../../http/inbox/api.ts';
import { requestHref } from '../state/location.ts';
import { openRequests } from '../state/open-requests.ts';
import { isSameRequest, type RequestIds } from '../state/request-key.ts';
import { useStore } from '../state/store.ts';

/** Leads to the next open request that waits for this reviewer. */
export function NextRequest({ class: look, ...shown }: RequestIds & { class?: string }) {
  const next = nextRequest(useStore(openRequests).open?.rows ?? [], shown);
  if (next === undefined) return null;
  return (
    <a class={look} href={requestHref(next)}>
      Next request →
    </a>
  );
}

/** The request that follows in the list, beginning again at its top; undefined: no other waits for this reviewer. */
export function nextRequest(rows: readonly InboxRow[], shown: RequestIds): InboxRow | undefined {
  const at = rows.findIndex((row) => isSameRequest(row, shown));
  return [...rows.slice(at + 1), ...rows.slice(0, Math.max(0, at))].find(({ waitsFor }) => waitsFor !== 'others');
}
