import type { JournalEntry } from './journal-entry.ts';

/** True where another request, `byId`, carries the same call's question on. */
export function isReplaced({ by }: Pick<JournalEntry, 'by'>): boolean {
  return by === 'edit';
}
