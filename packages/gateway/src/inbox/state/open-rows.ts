import type { InboxPage, InboxRow } from '../../http/inbox/api.ts';
import { inboxOrder } from '../../http/inbox/open-view.ts';
import { isSameRequest, type RequestIds } from './paths.ts';

export interface OpenRows {
  rows: readonly InboxRow[];
  more: number;
  unread: InboxPage['unread'];
}

export function withSnapshot({ approvals, more, unread }: InboxPage): OpenRows {
  return { rows: approvals.toSorted(inboxOrder), more, unread };
}

export function snapshotOf({ rows, more, unread }: OpenRows): InboxPage {
  return { approvals: [...rows], more, unread };
}

/** Adds a row. If there is an earlier version of the row, the new one replaces it. */
export function withRow(open: OpenRows, row: InboxRow): OpenRows {
  const at = open.rows.findIndex((each) => isSameRequest(each, row));
  const rows = at === -1 ? [...open.rows, row] : open.rows.with(at, row);
  return { ...open, rows: rows.toSorted(inboxOrder) };
}

export function withoutRow(open: OpenRows, gone: RequestIds): OpenRows {
  return { ...open, rows: open.rows.filter((each) => !isSameRequest(each, gone)) };
}
