import type { InboxRow, ApprovalView } from '../../http/inbox/api.ts';
import { whyNotApprove } from '../request/why-not-approve.ts';

/** A selected request: with its card if one was read, and why it is left out of the answer. */
export interface BulkItem {
  row: InboxRow;
  view?: ApprovalView;
  leftOut?: string;
}

/** Why an answer to a row would be refused, as far as the list knows it. */
export function whyLeftOut({ waitsFor }: InboxRow): string | undefined {
  return waitsFor === 'others' ? 'it waits for others' : undefined;
}

/** The item of a row whose request was read. An approval is only about what can all be read in the dialog. */
export function readItem(row: InboxRow, view: ApprovalView): BulkItem {
  const { request, card, waitsFor } = view;
  if (request.settled !== undefined) return { row, leftOut: 'it is settled' };
  if (request.digest !== row.digest) return { row, leftOut: 'it has changed' };
  if (waitsFor === 'others') return { row, leftOut: 'it waits for others' };
  if (whyNotApprove(request, card.whole) === undefined) return { row, view };
  return {
    row,
    leftOut:
      card.preview?.state === 'pending' ? 'the tool still works out what would change' : 'not all of it fits here',
  };
}
