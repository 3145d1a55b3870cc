import type { JournalEntry } from '../../src/contract.ts';

/** The journal in order of `seq`, each entry once. */
export function orderedEntries(entries: readonly JournalEntry[]): JournalEntry[] {
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]));
  return [...bySeq.values()].toSorted((one, other) => one.seq - other.seq);
}
