import { type ApprovalDetails, type Receipt, decideName } from '../contract.ts';
import type { ParsedDecision } from '../core/decision.ts';
import { settledReceipt, votedReceipt } from '../core/settled-receipt.ts';
import type { Session } from './connect.ts';
import { glanceAtApproval } from './get-approval.ts';
import { recordBySignal } from './record-by-signal.ts';
import { type RecordedDecision, recordedBefore, unappliedDecisions } from './recorded-before.ts';
import { recordedReceipt, standingsOf, unknownIn } from './recorded-receipt.ts';
import type { Unanswered } from './send-by-update.ts';

/** How long one look at a request may take, in milliseconds. */
const glanceMs = 2_000;

/**
 * Writes decisions into the run's history by signal, where they wait for a worker, then looks once at what became of
 * them. `recorded` in a receipt means: not yet applied; the decision id keeps a repetition harmless. A decision about a
 * request that the run says it does not have is not sent. Throws `run_not_found`, `server_unreachable`.
 */
export async function decideBySignal(
  session: Session,
  workflowId: string,
  decisions: ParsedDecision[],
  unanswered: Unanswered,
): Promise<Receipt[]> {
  const ids = decisions.map(({ requestId }) => requestId);
  const standings = await standingsOf(session, workflowId, ids, unanswered);
  const sent = decisions.filter((_decision, index) => standings[index] !== 'unknown');
  const open = sent.length === 0 || (await record(session, workflowId, sent));
  let silent = unanswered.silent && open;
  let unapplied: RecordedDecision[] | undefined;
  const receipts: Receipt[] = [];
  for (const [index, decision] of decisions.entries()) {
    const { requestId } = decision;
    const standing = standings[index]!;
    if (standing === 'unknown') {
      const { code, message } = unknownIn(workflowId, requestId);
      receipts.push({ requestId, accepted: false, code, message });
      continue;
    }
    const seen = silent ? undefined : await glanceAtApproval(session, workflowId, requestId, glanceMs);
    if (seen === undefined) silent = true;
    const receipt = seen === undefined ? undefined : receiptFrom(decision, seen);
    if (receipt !== undefined) receipts.push(receipt);
    else if (open) {
      unapplied ??= await unappliedDecisions(session, workflowId);
      const before = recordedBefore(unapplied, decision);
      receipts.push(recordedReceipt('decision', unanswered, { requestId, workflowId, standing, before }));
    } else {
      const message = `Run '${workflowId}' is closed: request ${requestId} can no longer be decided.`;
      receipts.push({ requestId, accepted: false, code: 'run_closed', message });
    }
  }
  return receipts;
}

function record(session: Session, workflowId: string, decisions: ParsedDecision[]): Promise<boolean> {
  const payload = decisions.length === 1 ? decisions[0] : decisions;
  return recordBySignal(session, { workflowId, name: decideName, payload });
}

/** What a look at the request says of a decision about it; undefined where it is open and does not hold it. */
function receiptFrom(
  decision: ParsedDecision,
  { settled, votes = [], approvals }: ApprovalDetails,
): Receipt | undefined {
  const { requestId, decisionId, approved } = decision;
  const isOurs = (said: { decisionId?: string }): boolean =>
    said.decisionId !== undefined && said.decisionId === decisionId;
  const isCounted = votes.some((vote) => isOurs(vote) && vote.approved === approved);
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
