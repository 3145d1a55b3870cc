import type { BookedRequest, Ledger, Reduction } from './ledger-state.ts';
import { counted, irreversibleCount, journaled, unchanged } from './ledger-state.ts';
import type { JournalEntry } from './journal-entry.ts';
import type { Ruling } from './ruling.ts';

/** Books an open request. One that stands in another's place asks about the same call, which counted already. */
export function openRequestOf(ledger: Ledger, booked: BookedRequest, ruling: Ruling, atMs: number): Reduction {
  const { requestId, toolName, digest, deadline, assessment, replaces } = booked.request;
  const more = { calls: replaces === undefined ? 1 : 0, asks: 1, irreversible: irreversibleCount(assessment) };
  return journaled(unchanged({ ...ledger, open: [...ledger.open, booked], counts: counted(ledger, more) }), atMs, {
    kind: 'opened',
    callId: booked.callId,
    requestId,
    toolName,
    digest,
    deadline,
    ...(replaces === undefined ? {} : { by: replaces.by, byId: replaces.requestId }),
    ...factsOf(ruling),
  });
}

/** What an entry says of the ruling behind it. */
export function factsOf(ruling: Ruling | undefined): Partial<JournalEntry> {
  if (ruling === undefined) return {};
  const { action, rule, layer, severity, reason } = ruling;
  return { action, rule, layer, severity, reason };
}
