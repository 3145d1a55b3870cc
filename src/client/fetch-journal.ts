import type { Projection } from '../core/ledger/journal.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import type { Session } from './connect.ts';
import { fetchHistoryChain } from './history-chain.ts';
import { entriesOf, projectHistories } from './journal-of.ts';

/** What a run decided, as its history keeps it. */
export interface Journal extends Projection {
  /** Every entry once, in the order of the decisions. */
  entries: JournalEntry[];
  /** Temporal's run id of the newest execution that retention has removed: the entries before it are gone. */
  missing?: string;
}

/** Reads the journal of a run from the histories of all its executions. */
export async function fetchJournal(session: Session, workflowId: string): Promise<Journal> {
  const { links, missing } = await fetchHistoryChain(session, workflowId);
  const bySeq = new Map(entriesOf(links).map((entry) => [entry.seq, entry]));
  const entries = [...bySeq.values()].toSorted((one, other) => one.seq - other.seq);
  return { entries, ...projectHistories(links), ...(missing !== undefined && { missing }) };
}
