import type { InboxPage, InboxRow } from '../../http/inbox/api.ts';
import { isSameRequest, type RequestIds } from './paths.ts';

/** The open requests that the page knows. */
export interface OpenRows {
  /** By deadline; those without one come last. */
  rows: readonly InboxRow[];
  /** The number of open requests beyond them. */
  more: number;
  /** Where the next page begins. */
  next?: string;
  unread: InboxPage['unread'];
}

/** The rows of a snapshot, which replaces all earlier ones. */
export function withSnapshot({ approvals, more, next, unread }: InboxPage): OpenRows {
  return { rows: approvals.toSorted(byDeadline), more, next, unread };
}

/** The snapshot from which another tab can build these rows. */
export function snapshotOf({ rows, more, next, unread }: OpenRows): InboxPage {
  return { approvals: [...rows], more, ...(next !== undefined && { next }), unread };
}

/** The rows with a further page of them. */
export function withPage(open: OpenRows, page: InboxPage): OpenRows {
  const added = page.approvals.reduce(withRow, open);
  return { ...added, more: page.more, next: page.next, unread: [...open.unread, ...page.unread] };
}

/** The rows with a new one, or with a new version of one. */
export function withRow(open: OpenRows, row: InboxRow): OpenRows {
  const others = open.rows.filter((each) => !isSameRequest(each, row));
  return { ...open, rows: [...others, row].sort(byDeadline) };
}

/** The rows without a request that is no longer open. */
export function withoutRow(open: OpenRows, gone: RequestIds): OpenRows {
  return { ...open, rows: open.rows.filter((each) => !isSameRequest(each, gone)) };
}

function byDeadline(one: InboxRow, other: InboxRow): number {
  return (
    dueMs(one) - dueMs(other) || compare(one.requestedAt, other.requestedAt) || compare(one.requestId, other.requestId)
  );
}

function dueMs({ deadline }: InboxRow): number {
  return deadline === null ? Number.MAX_VALUE : Date.parse(deadline) || Number.MAX_VALUE;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
