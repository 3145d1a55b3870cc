import type { OutcomeName, Receipt } from './approval.ts';

/** What whoever decides a request learns that was settled before: how, and by whom (I3). */
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
