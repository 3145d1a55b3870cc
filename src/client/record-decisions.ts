import { type Receipt, decideName } from '../contract.ts';
import type { Settlement } from '../core/approval.ts';
import type { ParsedDecision } from '../core/decision.ts';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';
import { glanceAtApproval } from './get-approval.ts';
import { type Unanswered, isClosedOrMissing } from './send-decisions.ts';

/** How long one look at a request may take, in milliseconds. */
const glanceMs = 2_000;

/**
 * Writes decisions into the run's history by signal, where they wait for a worker, then looks once at what became of
 * them. A receipt without `outcome` means recorded, not yet applied; the decision id keeps a repetition harmless.
 * Throws `run_closed`, `run_not_found`, `server_unreachable`.
 */
export async function recordBySignal(
  session: Session,
  workflowId: string,
  decisions: ParsedDecision[],
  unanswered: Unanswered,
): Promise<Receipt[]> {
  const open = await signal(session, workflowId, decisions);
  const receipts: Receipt[] = [];
  let silent = unanswered.silent && open;
  for (const decision of decisions) {
    const { requestId } = decision;
    const seen = silent ? undefined : await glanceAtApproval(session, workflowId, requestId, glanceMs);
    if (seen === undefined) silent = true;
    if (seen?.settled !== undefined) receipts.push(receiptFrom(decision, seen.settled));
    else if (open) {
      receipts.push({
        requestId,
        accepted: true,
        message: `The decision is recorded, not yet applied: ${unanswered.reason}.`,
      });
    } else {
      const message = `Run '${workflowId}' is closed: request ${requestId} can no longer be decided.`;
      receipts.push({ requestId, accepted: false, code: 'run_closed', message });
    }
  }
  return receipts;
}

/** False where the run is closed. */
async function signal(session: Session, workflowId: string, decisions: ParsedDecision[]): Promise<boolean> {
  const handle = session.client.workflow.getHandle(workflowId);
  return callServer(
    session,
    async () => {
      try {
        await handle.signal(decideName, decisions.length === 1 ? decisions[0] : decisions);
        return true;
      } catch (error) {
        if (!isClosedOrMissing(error)) throw error;
        await handle.describe();
        return false;
      }
    },
    { workflowId },
  );
}

function receiptFrom(decision: ParsedDecision, settlement: Settlement): Receipt {
  const { requestId } = decision;
  const { outcome, reviewerId } = settlement;
  const ours = settlement.decisionId !== undefined && settlement.decisionId === decision.decisionId;
  if (ours && outcome === (decision.approved ? 'approved' : 'denied')) {
    return { requestId, accepted: true, outcome, message: `request ${requestId}: ${outcome}` };
  }
  const by = reviewerId === undefined ? '' : ` by ${reviewerId}`;
  return {
    requestId,
    accepted: false,
    outcome,
    ...(reviewerId === undefined ? {} : { settledBy: reviewerId }),
    code: outcome === 'expired' ? 'expired' : outcome === 'cancelled' ? 'run_closed' : 'already_settled',
    message: `request ${requestId} was already settled${by}: ${outcome}`,
  };
}
