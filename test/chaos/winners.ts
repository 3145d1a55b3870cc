import type { OutcomeName } from '../../src/contract.ts';
import type { ProjectedRequest } from '../../src/events/journal.ts';
import type { RunBook } from './run-book.ts';
import type { PlannedItem } from './schedule.ts';
import type { SentItem } from './sent-item.ts';

export const isGood = ({ item }: SentItem): boolean => item.fault === undefined;

/** The sent decisions that could have settled the request with this outcome. */
export function winners(
  { sent }: Pick<RunBook, 'sent'>,
  { requestId, outcome, reviewerId, decisionId }: ProjectedRequest,
): SentItem[] {
  return sent.filter(
    (each) =>
      isGood(each) &&
      each.requestId === requestId &&
      outcomeOf(each.item) === outcome &&
      each.item.reviewerId === reviewerId &&
      // The client adds an id to a decision without one.
      (each.item.decisionId === undefined || each.item.decisionId === decisionId),
  );
}

function outcomeOf({ approved, response }: PlannedItem): OutcomeName {
  if (approved) return 'approved';
  return response === undefined ? 'denied' : 'responded';
}
