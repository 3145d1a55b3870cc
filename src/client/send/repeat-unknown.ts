import { type ApprovalRequest, type Receipt, queryNames } from '../../contract.ts';
import { isProblemError } from '../../core/base/problem.ts';
import type { Session } from '../server/connect.ts';
import { lookUp } from '../server/look-up.ts';
import { queryRun } from '../server/query-run.ts';

/**
 * Sends decisions to a run, and for the client's `lookUpTimeoutMs` repeats those whose request the run does not know: a query may have shown
 * the request during a task that the worker had not finished. Meanwhile queries ask the run, which adds nothing to its
 * history; only decisions whose request has appeared are sent again.
 */
export async function repeatUnknown<One extends { requestId: string }>(
  session: Session,
  workflowId: string,
  decisions: One[],
  send: (decisions: One[], isAgain?: boolean) => Promise<Receipt[]>,
): Promise<Receipt[]> {
  const receipts = await send(decisions);
  await lookUp(async () => {
    const unknown = decisions.filter((_decision, index) => receipts[index]?.code === 'unknown_request');
    if (unknown.length === 0) return 'none';
    const open = await openIn(session, workflowId);
    const again = unknown.filter(({ requestId }) => open.has(requestId));
    const answers = again.length === 0 ? [] : await send(again, true);
    for (const [at, decision] of again.entries()) receipts[decisions.indexOf(decision)] = answers[at] as Receipt;
    return undefined;
  }, session.limits.lookUpTimeoutMs);
  return receipts;
}

async function openIn(session: Session, workflowId: string): Promise<Set<string>> {
  try {
    const open = await queryRun<ApprovalRequest[]>(
      session,
      workflowId,
      queryNames.approvals,
      [],
      session.limits.glanceTimeoutMs,
    );
    return new Set(open.map(({ requestId }) => requestId));
  } catch (error) {
    if (isProblemError(error)) return new Set();
    throw error;
  }
}
