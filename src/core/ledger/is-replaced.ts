import type { JournalEntry } from './journal-entry.ts';

/** True if another request, `byId`, continues the question about the same call. */
export function isReplaced({ by }: Pick<JournalEntry, 'by'>): boolean {
  return by === 'edit';
}
