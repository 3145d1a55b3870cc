import type { Projection } from '../core/ledger/journal.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import type { Session } from './connect.ts';
import { decodeHistory } from './decode-history.ts';
import { fetchHistoryChain } from './history-chain.ts';
import { projectHistories } from './journal-of.ts';

/** The decisions of a run, read from its history. */
export interface Journal extends Projection {
  /** Every entry once, in the order of the decisions. */
  entries: JournalEntry[];
  /** Temporal's run id of the newest execution that retention has removed: the entries before it are gone. */
  missing?: string;
  /** The number of payloads that this client cannot decode, if there are any: entries may be missing. */
  unread?: number;
}

/** Reads the journal of a run from the histories of all its executions. */
export async function fetchJournal(session: Session, workflowId: string): Promise<Journal> {
  const { executions, missing } = await fetchHistoryChain(session, workflowId);
  const unread = await decodeHistory(
    session,
    executions.flatMap(({ events }) => events),
  );
  return {
    ...projectHistories(executions),
    ...(missing !== undefined && { missing }),
    ...(unread > 0 && { unread }),
  };
}
