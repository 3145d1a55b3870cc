import { navigate, requestHref } from '../state/location.ts';
import { openRequests } from '../state/open-requests.ts';
import { isSameRequest, type RequestIds } from '../state/request-key.ts';
import { useShortcuts } from '../state/shortcuts.ts';
import { useStore } from '../state/store.ts';

/** Leads to the next open request that waits for this reviewer. */
export function NextRequest(shown: RequestIds) {
  const rows = useStore(openRequests).open?.rows ?? [];
  const at = rows.findIndex((row) => isSameRequest(row, shown));
  const next = [...rows.slice(at + 1), ...rows.slice(0, Math.max(0, at))].find(({ waitsFor }) => waitsFor !== 'others');
  useShortcuts({
    n: () => {
      if (next !== undefined) navigate(requestHref(next));
    },
  });
  if (next === undefined) return null;
  return (
    <a class="next" href={requestHref(next)}>
      Next request →
    </a>
  );
}
