import { type ApprovalDetails, type Receipt, decideName } from '../../contract.ts';
import { decisionDigest } from '../../core/messages/content-digest.ts';
import type { ParsedDecision } from '../../core/messages/decision.ts';
import { settledReceipt, votedReceipt } from '../../core/ledger/settled-receipt.ts';
import type { Session } from '../server/connect.ts';
import type { MessageRoute } from './deliver.ts';
import { glanceAtApproval } from './get-approval.ts';
import { type RecordedDecision, recordedBefore, unappliedDecisions } from '../history/recorded-before.ts';

/** The time limit of one query for a request, in milliseconds. */
const glanceMs = 2_000;

/** How decisions are sent to a run. The decision id makes a repetition harmless. */
export const decisionRoute: MessageRoute<ParsedDecision> = {
  name: decideName,
  what: 'decision',
  look: async (session, workflowId, decision) => {
    const seen = await glanceAtApproval(session, workflowId, decision.requestId, glanceMs);
    return seen === undefined ? undefined : receiptFrom(decision, seen);
  },
  readUnapplied: async (session: Session, workflowId: string) => {
    const unapplied = await unappliedDecisions(session, workflowId);
    return (decision) => {
      const [first] = recordedBefore(unapplied, decision);
      if (first === undefined) return '';
      return ` An earlier decision about it (${wordsOf(first)}) was recorded before and is applied first: the first valid decision wins.`;
    };
  },
};

function wordsOf({ decision, at }: RecordedDecision): string {
  const { approved, response, reviewerId } = decision;
  const word = response !== undefined ? 'answered' : approved ? 'approved' : 'denied';
  return `${word} by ${reviewerId ?? 'somebody without a name'} at ${at}`;
}

/** The receipt that follows from the state of the request; undefined if the request is open and lacks this decision. */
function receiptFrom(
  decision: ParsedDecision,
  { settled, votes = [], approvals }: ApprovalDetails,
): Receipt | undefined {
  const { requestId, decisionId } = decision;
  const contentDigest = decisionDigest(decision);
  const isCounted = votes.some(
    (vote) => decisionId !== undefined && vote.decisionId === decisionId && vote.contentDigest === contentDigest,
  );
  if (settled === undefined) {
    if (!isCounted || approvals === undefined) return undefined;
    return votedReceipt(requestId, approvals);
  }
  const { outcome, reviewerId, by, byId } = settled;
  if (isCounted) {
    const successor = by === 'edit' && typeof byId === 'string' ? { successor: byId } : {};
    return { requestId, accepted: true, outcome, ...successor, message: `request ${requestId}: ${outcome}` };
  }
  return settledReceipt(requestId, outcome, reviewerId);
}
