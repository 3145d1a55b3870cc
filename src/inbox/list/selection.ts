import type { InboxRow } from '../../adapters/http/api.ts';

/** Identifies a request in a set: its run and its own id. */
export function rowKey({ workflowId, requestId }: { workflowId: string; requestId: string }): string {
  return `${workflowId}\n${requestId}`;
}

/**
 * The rows that are selected, as they were when they were selected: rows that come later never join, and one that changes
 * or goes stays as it was.
 */
export type Selection = ReadonlyMap<string, InboxRow>;

export function toggled(selection: Selection, row: InboxRow): Selection {
  const next = new Map(selection);
  if (!next.delete(rowKey(row))) next.set(rowKey(row), row);
  return next;
}
