import { useEffect, useState } from 'preact/hooks';
import type { InboxRow, RequestView } from '../../http/inbox/api.ts';
import { apiPath, getJson } from '../api/fetch-json.ts';
import { problemText } from '../api/problem-text.ts';
import { type BulkItem, readItem, whyLeftOut } from './bulk-set.ts';

/** As many as a browser sends to one server at a time, but for the streams. */
const atOnce = 4;

/** The selected requests. For an approval, each is read first: undefined until then. */
export function useBulkItems(requests: readonly InboxRow[], approved: boolean): readonly BulkItem[] | undefined {
  const [items, setItems] = useState<readonly BulkItem[] | undefined>(() =>
    approved ? undefined : requests.map(itemOf),
  );
  useEffect(() => {
    if (!approved) return undefined;
    const over = new AbortController();
    void readAll(requests, over.signal).then((read) => !over.signal.aborted && setItems(read));
    return () => over.abort();
  }, []);
  return items;
}

function itemOf(row: InboxRow): BulkItem {
  const leftOut = whyLeftOut(row);
  return leftOut === undefined ? { row } : { row, leftOut };
}

async function readAll(rows: readonly InboxRow[], signal: AbortSignal): Promise<BulkItem[]> {
  const items = rows.map(itemOf);
  const waiting = items.flatMap(({ leftOut }, index) => (leftOut === undefined ? [index] : []));
  const readNext = async (): Promise<void> => {
    for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) items[at] = await readOne(rows[at]!, signal);
  };
  await Promise.all(Array.from({ length: atOnce }, readNext));
  return items;
}

async function readOne(row: InboxRow, signal: AbortSignal): Promise<BulkItem> {
  const path = `${apiPath`/approvals/${row.requestId}`}?workflowId=${encodeURIComponent(row.workflowId)}`;
  try {
    return readItem(row, await getJson<RequestView>(path, signal));
  } catch (error) {
    return { row, leftOut: problemText(error) };
  }
}
