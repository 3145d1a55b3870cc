import type { JournalEntry } from '../ledger/journal-entry.ts';
import { timeOf } from './answers-of.ts';
import { viewedProblem } from '../messages/viewed.ts';

const texts = ['callId', 'requestId', 'toolName', 'agent', 'outcome', 'layer', 'reviewerId', 'identity'] as const;

/** True if the members of an entry have the types that the gate gives them. */
export function isWellFormedEntry(entry: JournalEntry): boolean {
  const { seq, kind, at, rule, viewed } = entry;
  return (
    Number.isSafeInteger(seq) &&
    typeof kind === 'string' &&
    typeof at === 'string' &&
    !Number.isNaN(timeOf(at)) &&
    (rule === undefined || rule === null || typeof rule === 'string') &&
    texts.every((name) => entry[name] === undefined || typeof entry[name] === 'string') &&
    (viewed === undefined || viewedProblem(viewed) === undefined)
  );
}
