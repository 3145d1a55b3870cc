import { withoutShare } from './argument-sums.ts';
import type { OutcomeName, ReviewerVote, Settlement, Receipt } from './approval.ts';
import type { ProblemCode } from '../base/problem.ts';
import { withDenial } from './denials.ts';
import { isReplaced } from './journal-entry.ts';
import type { RequestRecord, Ledger, Reduction, SettledRequest, Directories } from './ledger-state.ts';
import {
  counted,
  iso,
  irreversibleCount,
  journaled,
  kept,
  pastKept,
  settledKept,
  unchanged,
  withOutcome,
} from './ledger-state.ts';
import { personOf, shownPerson } from '../people/directory.ts';
import { personKeyOfRun } from './panel.ts';

/** Settles an open request for good (I3). If another request replaces it, the other records the call's outcome. */
export function settle(ledger: Ledger, record: RequestRecord, settlement: Settlement, atMs: number): Reduction {
  const { callId, request } = record;
  const { requestId, toolName, digest } = request;
  const { outcome, runs, reason, reviewerId, reviewerName, identity, decisionId, viewed, by, byId } = settlement;
  // If the request is itself about an edited call, its settlement shows the edit, too.
  const isOfEditedCall = runs && settlement.edited === undefined && request.replaces?.by === 'edit';
  const edited = isOfEditedCall ? { arguments: request.arguments, digest } : settlement.edited;
  const shown = edited === undefined ? settlement : { ...settlement, edited };
  const all = [...ledger.settled, { ...record, request: kept(request), settlement: shown }];
  const dropped = all.length <= settledKept ? undefined : leastNeeded(all);
  const past =
    dropped === undefined ? [] : [{ requestId: dropped.request.requestId, outcome: dropped.settlement.outcome }];
  const call = { callId, toolName, requestId, outcome, ran: runs ? 'pending' : 'no' } as const;
  // A call that will not run is no longer counted, unless it may have run before. Its next request counts it anew.
  const staysCounted = runs || request.replaces?.by === 'unknown';
  const irreversible = staysCounted ? 0 : -irreversibleCount(request.assessment);
  const closed: Ledger = {
    ...(runs ? ledger : withoutShare(ledger, callId)),
    open: ledger.open.filter((each) => each.request.requestId !== requestId),
    settled: all.filter((each) => each !== dropped),
    past: [...ledger.past, ...past].slice(-pastKept),
    outcomes: isReplaced(settlement) ? ledger.outcomes : withOutcome(ledger, call),
    counts: counted(ledger, { irreversible }),
  };
  const denial = { toolName, digest, reason, by: { at: iso(atMs), reviewerId } };
  return journaled(unchanged(outcome === 'denied' ? withDenial(closed, denial) : closed), atMs, {
    kind: 'settled',
    callId,
    requestId,
    toolName,
    outcome,
    runs,
    by,
    byId,
    reason,
    reviewerId,
    reviewerName,
    identity,
    decisionId,
    viewed,
    digest: edited?.digest ?? digest,
  });
}

/** The fields of a vote that its journal entry and its settlement record. */
export function votedFields(vote: ReviewerVote): Partial<Settlement> {
  const { identity, reason, reviewerId, reviewerName, decisionId, viewed } = vote;
  return { identity, reason, reviewerId, reviewerName, decisionId, viewed };
}

/** The settled request to drop: the oldest replaced one, else the oldest. A run may still need the others. */
function leastNeeded(settled: readonly SettledRequest[]): SettledRequest {
  return settled.find(({ settlement }) => isReplaced(settlement)) ?? settled[0]!;
}

/** The receipt for a message about a request that is not open: it is unknown, or settled already. */
export function notOpenReceipt(
  { settled, past }: Ledger,
  requestId: string,
  directories: Pick<Directories, 'ceiling'>,
): Receipt {
  const settlement = settled.find(({ request }) => request.requestId === requestId)?.settlement;
  const outcome = settlement?.outcome ?? past.find((each) => each.requestId === requestId)?.outcome;
  if (outcome === undefined) {
    return { requestId, accepted: false, code: 'unknown_request', message: `this run has no request ${requestId}` };
  }
  const keyOf = personKeyOfRun(directories);
  const nameOf: typeof shownPerson = (id, name) =>
    shownPerson(id, personOf(directories.ceiling, id, keyOf)?.name ?? name);
  return settledReceipt(requestId, { ...settlement, outcome }, nameOf);
}

const settledCodes: Partial<Record<OutcomeName, ProblemCode>> = { expired: 'expired', cancelled: 'run_closed' };

/** The receipt for a message about a settled request: the outcome, and who settled it (I3), written by `nameOf`. */
export function settledReceipt(
  requestId: string,
  { outcome, reviewerId: settledBy, reviewerName }: Pick<Settlement, 'outcome' | 'reviewerId' | 'reviewerName'>,
  nameOf: typeof shownPerson = shownPerson,
): Receipt {
  const by = settledBy === undefined ? '' : ` by ${nameOf(settledBy, reviewerName)}`;
  return {
    requestId,
    accepted: false,
    outcome,
    settledBy,
    code: settledCodes[outcome] ?? 'already_settled',
    message: `request ${requestId} was already settled${by}: ${outcome}`,
  };
}

export function votedReceipt(requestId: string, votes: { have: number; need: number }): Receipt {
  const message = `request ${requestId}: recorded, ${votes.have} of ${votes.need} approvals`;
  return { requestId, accepted: true, votes, message };
}
