import { withShare } from './argument-sums.ts';
import type { ApprovalRequest } from './approval.ts';
import { earlierDenialOf } from './denials.ts';
import { deputiesOf } from './deputies.ts';
import type { Directories, RequestRecord, Ledger, Reduction } from './ledger-state.ts';
import { counted, requestOf, irreversibleCount, journaled, unchanged } from './ledger-state.ts';
import type { JournalEntry } from './journal-entry.ts';
import type { Ruling } from '../policy/ruling.ts';

/** Adds an open request. The seats of people who are away go to their deputies. */
export function openRequest(
  ledger: Ledger,
  asked: RequestRecord,
  ruling: Ruling,
  atMs: number,
  directories: Directories,
): Reduction {
  const deputies = deputiesOf(asked, directories, atMs);
  const delegations = [...asked.delegations, ...deputies.map(({ from, to }) => ({ from, to, by: 'away' as const }))];
  const deniedBefore = earlierDenialOf(ledger.denied, asked.request.digest);
  const record = {
    ...asked,
    ...(deputies.length > 0 && { delegations }),
    ...(deniedBefore !== undefined && { deniedBefore }),
  };
  const { requestId, toolName, digest, deadline, assessment, replaces, reviewers, advice } = record.request;
  // A call is not counted again if its request is replaced, nor are its numbers if it was started before.
  const wasStarted = replaces?.by === 'unknown';
  const wasCounted = replaces !== undefined && replaces.by !== 'edit' && countsAsIrreversible(ledger, replaces);
  const irreversible = wasCounted ? 0 : irreversibleCount(assessment);
  const more = { calls: replaces === undefined ? 1 : 0, asks: 1, irreversible };

  const counting = wasStarted ? ledger : withShare(ledger, record.callId, toolName, record.request.arguments);
  const open = unchanged({ ...counting, open: [...ledger.open, record], counts: counted(ledger, more) });
  const opened = journaled(open, atMs, {
    kind: 'opened',
    callId: record.callId,
    requestId,
    toolName,
    digest,
    deadline,
    by: replaces?.by,
    byId: replaces?.requestId,
    to: reviewers.length > 0 ? reviewers : undefined,
    advice,
    ...factsOf(ruling),
  });
  return deputies.reduce(
    (before, { from, to, untilAt }) =>
      journaled(before, atMs, {
        kind: 'delegated',
        callId: record.callId,
        requestId,
        toolName,
        reviewerId: from,
        to: [to],
        by: 'away',
        reason: `away until ${untilAt}`,
      }),
    opened,
  );
}

/**
 * True if the call of a request that is replaced was counted as irreversible: the call may have run, or was allowed
 * to. False after an edit, because the ledger does not know whether the edited call can be undone.
 */
export function countsAsIrreversible(
  ledger: Ledger,
  { by, requestId = '' }: NonNullable<ApprovalRequest['replaces']>,
): boolean {
  if (by === 'unknown') return true;
  const found = requestOf(ledger, requestId);
  if (found === undefined || !('settlement' in found)) return false;
  const { runs, edited } = found.settlement;
  return runs && edited === undefined && irreversibleCount(found.request.assessment) > 0;
}

export function factsOf(ruling: Ruling | undefined): Partial<JournalEntry> {
  if (ruling === undefined) return {};
  const { action, rule, layer, severity, reason } = ruling;
  return { action, rule, layer, severity, reason };
}
