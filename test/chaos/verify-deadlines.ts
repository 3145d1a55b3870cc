import type { JournalEntry } from '../../src/contract.ts';
import { longestWaitMs } from './approval-settings.ts';
import { orderedEntries } from '../../src/events/journal.ts';
import type { RunBook } from './run-book.ts';

interface Open {
  openedMs: number;
  deadlineMs: number;
}

/** Follows every deadline from the opening through each extension to the settlement, from the journal alone. */
export function deadlinesAreKept(book: RunBook): string[] {
  const open = new Map<string, Open>();
  const wrong: string[] = [];
  for (const entry of orderedEntries(book.entries)) {
    const { kind, at, requestId = '', deadline } = entry;
    const atMs = Date.parse(at);
    const deadlineMs = Date.parse(deadline ?? '');
    const request = open.get(requestId);
    if (kind === 'opened') {
      open.set(requestId, { openedMs: atMs, deadlineMs });
      if (deadlineMs !== atMs + book.plan.timeoutMs) {
        wrong.push(`request ${requestId} was opened at ${at}, and its deadline is ${deadline}`);
      }
    } else if (kind === 'extended') {
      wrong.push(...extensionProblems(book, entry, request).map((what) => `request ${requestId}: ${what}`));
      if (request !== undefined) request.deadlineMs = deadlineMs;
    } else if (kind === 'settled' && request !== undefined) {
      const isLate = atMs > request.deadlineMs;
      if (isLate !== (entry.outcome === 'expired') && entry.outcome !== 'cancelled') {
        wrong.push(`request ${requestId}: ${entry.outcome} at ${at}, and its deadline was ${iso(request.deadlineMs)}`);
      }
    }
  }
  return wrong;
}

function extensionProblems({ controls }: RunBook, entry: JournalEntry, request: Open | undefined): string[] {
  const { at, requestId, deadline, reviewerId } = entry;
  const atMs = Date.parse(at);
  const untilMs = Date.parse(deadline ?? '');
  if (request === undefined) return ['it was extended, and is not known'];
  const { openedMs, deadlineMs } = request;
  const wasSent = controls.some(
    (sent) =>
      sent.control.fault === undefined &&
      sent.requestId === requestId &&
      sent.untilMs === untilMs &&
      sent.control.by === reviewerId &&
      sent.sentAtMs <= atMs,
  );
  return [
    ...(wasSent ? [] : [`nobody extended it to ${deadline} before ${at}`]),
    ...(atMs > deadlineMs ? [`it was extended at ${at}, after its deadline ${iso(deadlineMs)}`] : []),
    ...(untilMs > deadlineMs ? [] : [`its deadline moved back from ${iso(deadlineMs)} to ${deadline}`]),
    ...(untilMs > openedMs + longestWaitMs ? [`it was extended to ${deadline}, beyond the ceiling`] : []),
  ];
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
