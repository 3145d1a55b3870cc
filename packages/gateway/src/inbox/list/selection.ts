import type { InboxRow } from '../../http/inbox/api.ts';
import { requestKey } from '../state/request-key.ts';

/**
 * The rows that are selected, as they were when they were selected: rows that come later never join, and one that changes
 * or goes stays as it was.
 */
export type Selection = ReadonlyMap<string, InboxRow>;

export function toggled(selection: Selection, row: InboxRow): Selection {
  const next = new Map(selection);
  if (!next.delete(requestKey(row))) next.set(requestKey(row), row);
  return next;
}

export function selectionOf(rows: readonly InboxRow[]): Selection {
  return new Map(rows.map((row) => [requestKey(row), row]));
}
