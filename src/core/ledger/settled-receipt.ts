import type { OutcomeName, Receipt } from './approval.ts';
import type { Ledger } from './ledger-state.ts';

/** What is said to a message about a request that is not open: there is none, or it was settled before. */
export function notOpenReceipt({ settled, past }: Ledger, requestId: string): Receipt {
  const found = settled.find(({ request }) => request.requestId === requestId)?.settlement;
  const outcome = found?.outcome ?? past.find((each) => each.requestId === requestId)?.outcome;
  if (outcome !== undefined) return settledReceipt(requestId, outcome, found?.reviewerId);
  return { requestId, accepted: false, code: 'unknown_request', message: `this run has no request ${requestId}` };
}

/** What whoever sends something about a request learns that was settled before: how, and by whom (I3). */
export function settledReceipt(requestId: string, outcome: OutcomeName, settledBy: string | undefined): Receipt {
  const by = settledBy === undefined ? '' : ` by ${settledBy}`;
  return {
    requestId,
    accepted: false,
    outcome,
    ...(settledBy !== undefined && { settledBy }),
    code: outcome === 'expired' ? 'expired' : outcome === 'cancelled' ? 'run_closed' : 'already_settled',
    message: `request ${requestId} was already settled${by}: ${outcome}`,
  };
}

/** What whoever voted learns while the votes settle nothing yet. */
export function votedReceipt(requestId: string, votes: { have: number; need: number }): Receipt {
  const message = `request ${requestId}: recorded, ${votes.have} of ${votes.need} approvals`;
  return { requestId, accepted: true, votes, message };
}
