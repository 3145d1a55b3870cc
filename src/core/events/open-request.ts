import type { ApprovalSummary } from '../ledger/approval-index.ts';
import type { JournalEntry } from '../ledger/journal-entry.ts';

/** What history says of a request that is not settled yet. At least one of the first two is known. */
export interface OpenRequest {
  opened?: JournalEntry;
  row?: ApprovalSummary;
  /** True once it has an event. */
  isAnnounced: boolean;
}
