import type { Settlement } from './approval.ts';
import { isReplaced } from './is-replaced.ts';
import type { BookedRequest, Ledger, Reduction } from './ledger-state.ts';
import {
  counted,
  journaled,
  kept,
  outcomesKept,
  pastKept,
  settledKept,
  unchanged,
  withDenial,
} from './ledger-state.ts';

/**
 * Closes an open request for good (I3): out of the open ones, into the settled ones, its call's outcome written down.
 * A request in whose place another stands leaves the call's outcome to that one.
 */
export function settle(ledger: Ledger, booked: BookedRequest, settlement: Settlement, atMs: number): Reduction {
  const { callId, request } = booked;
  const { requestId, toolName, digest } = request;
  const { outcome, runs, reason, reviewerId, identity, decisionId, by, byId } = settlement;
  const isEdit = runs && settlement.edited === undefined && request.replaces?.by === 'edit';
  const edited = isEdit ? { arguments: request.arguments, digest } : settlement.edited;
  const written = edited === undefined ? settlement : { ...settlement, edited };
  const settled = [...ledger.settled, { ...booked, request: kept(request), settlement: written }];
  const dropped = settled
    .slice(0, -settledKept)
    .map((each) => ({ requestId: each.request.requestId, outcome: each.settlement.outcome }));
  const call = { callId, toolName, requestId, outcome, ran: runs ? 'pending' : 'no' } as const;
  // A call that will not run after all no longer counts.
  const irreversible = runs || request.assessment.reversible || isReplaced(settlement) ? 0 : -1;
  const closed: Ledger = {
    ...ledger,
    open: ledger.open.filter((each) => each.request.requestId !== requestId),
    settled: settled.slice(-settledKept),
    past: [...ledger.past, ...dropped].slice(-pastKept),
    outcomes: isReplaced(settlement) ? ledger.outcomes : [...ledger.outcomes, call].slice(-outcomesKept),
    counts: counted(ledger, { irreversible }),
  };
  return journaled(unchanged(outcome === 'denied' ? withDenial(closed, toolName, digest, reason) : closed), atMs, {
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
    identity,
    decisionId,
    digest: edited?.digest ?? digest,
  });
}
