import { callDigest } from '../core/digest.ts';
import type { BookedRequest } from '../core/ledger.ts';
import { iso } from '../core/ledger.ts';
import type { Ruling } from '../core/ruling.ts';
import type { Book } from './book.ts';

/**
 * After a reset, what was open at that point is asked again under another id: the server applies old decisions once
 * more, and they answered the run as it was (I7). `resetBy` makes the ids of one reset its own; they do not follow from
 * the run's random numbers, which start anew only later in this activation.
 */
export function askAgain(book: Book, resetBy: string, atMs: number): void {
  for (const booked of book.ledger.open) {
    const { request, deadlineMs, terms } = booked;
    const { requestId } = request;
    const successorId = callDigest({ tool: requestId, args: {}, definition: resetBy }).slice(0, 32);
    const nextDeadlineMs = deadlineMs === null || terms.timeoutMs === null ? deadlineMs : atMs + terms.timeoutMs;
    const successor: BookedRequest = {
      ...booked,
      deadlineMs: nextDeadlineMs,
      request: {
        ...request,
        requestId: successorId,
        requestedAt: iso(atMs),
        deadline: nextDeadlineMs === null ? null : iso(nextDeadlineMs),
        replaces: { requestId, by: 'reset' },
      },
      votes: [],
      delegations: [],
      ladderMs: atMs - 1,
    };
    book.apply({ kind: 'reset', atMs, requestId, successor, ruling: rulingOf(booked) });
  }
}

/** What asked is in the request; the policy is not looked at again. */
function rulingOf({ request }: BookedRequest): Ruling {
  const { rule, reason, assessment } = request;
  return {
    action: 'ask',
    rule,
    layer: rule === null ? 'default' : 'run',
    reason,
    severity: assessment.severity,
    engine: 1,
  };
}
