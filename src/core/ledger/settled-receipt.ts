import type { OutcomeName, Receipt } from './approval.ts';
import type { Ledger } from './ledger-state.ts';

/** The receipt for a message about a request that is not open: it is unknown, or settled already. */
export function notOpenReceipt({ settled, past }: Ledger, requestId: string): Receipt {
  const found = settled.find(({ request }) => request.requestId === requestId)?.settlement;
  const outcome = found?.outcome ?? past.find((each) => each.requestId === requestId)?.outcome;
  if (outcome !== undefined) return settledReceipt(requestId, outcome, found?.reviewerId);
  return { requestId, accepted: false, code: 'unknown_request', message: `this run has no request ${requestId}` };
}

/** The receipt for a message about a request that was settled before: how, and by whom (I3). */
export function settledReceipt(requestId: string, outcome: OutcomeName, settledBy: string | undefined): Receipt {
  const by = settledBy === undefined ? '' : ` by ${settledBy}`;
  return {
    requestId,
    accepted: false,
    outcome,
    settledBy,
    code: outcome === 'expired' ? 'expired' : outcome === 'cancelled' ? 'run_closed' : 'already_settled',
    message: `request ${requestId} was already settled${by}: ${outcome}`,
  };
}

/** The receipt for a vote that does not settle its request yet. */
export function votedReceipt(requestId: string, votes: { have: number; need: number }): Receipt {
  const message = `request ${requestId}: recorded, ${votes.have} of ${votes.need} approvals`;
  return { requestId, accepted: true, votes, message };
}
