import type { JournalEntry } from '../../src/contract.ts';
import { orderedEntries } from '../../src/events/journal.ts';
import type { RunBook } from './run-book.ts';
import type { Seats } from './seats.ts';
import { isDelegation, seatsOf } from './seats.ts';

const answers: readonly (string | undefined)[] = ['approved', 'denied', 'responded'];

/**
 * A person who decided, extended or delegated a request must have held a seat at that moment. A delegate holds one only
 * after the delegation.
 */
export function seatsAreKept(book: RunBook): string[] {
  const { reviewers } = book.plan;
  const wrong: string[] = [];
  const open = new Map<string, Seats>();
  for (const entry of orderedEntries(book.entries)) {
    const { kind, requestId = '', reviewerId = '', to: [to = ''] = [] } = entry;
    if (kind === 'opened') open.set(requestId, seatsOf(reviewers));
    const seats = open.get(requestId);
    if (seats === undefined) continue;
    const isTheirs =
      ['vote', 'extended', 'delegated'].includes(kind) || (kind === 'settled' && answers.includes(entry.outcome));
    if (isTheirs && !seats.holds(reviewerId)) {
      wrong.push(`request ${requestId}: ${reviewerId} had no seat, and it was ${entry.outcome ?? kind}`);
    }
    if (kind !== 'delegated') continue;
    if (reviewers.length === 0) wrong.push(`request ${requestId} names nobody, and ${reviewerId} delegated it`);
    if (!wasSent(book, entry, to)) {
      wrong.push(`request ${requestId}: ${reviewerId} delegated it to ${to}, which nobody had sent`);
    }
    seats.move(reviewerId, to);
  }
  return wrong;
}

function wasSent({ controls }: RunBook, { requestId, reviewerId, at }: JournalEntry, to: string): boolean {
  return controls.some(
    (sent) =>
      isDelegation(sent) &&
      sent.requestId === requestId &&
      sent.control.by === reviewerId &&
      sent.control.to === to &&
      sent.sentAtMs <= Date.parse(at),
  );
}
