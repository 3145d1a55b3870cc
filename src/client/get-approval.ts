import { type ApprovalDetails, queryNames } from '../contract.ts';
import { ProblemError, isProblemError } from '../core/problem.ts';
import { isUndecodable } from '../core/undecodable.ts';
import type { Session } from './connect.ts';
import { findRequest } from './find-request.ts';
import { queryRun } from './query-run.ts';

/**
 * One request with its full arguments, settled ones included, from the run itself.
 * With `workflowId` no look-up is needed. Throws `unknown_request`, `run_not_found`, `no_worker`.
 */
export async function getApproval(
  session: Session,
  requestId: string,
  options: { workflowId?: string; timeoutMs?: number } = {},
): Promise<ApprovalDetails> {
  const workflowId = options.workflowId ?? (await findRequest(session, requestId));
  const details = await queryRun<ApprovalDetails | null | undefined>(
    session,
    workflowId,
    queryNames.approvals,
    [{ requestId }],
    options.timeoutMs,
  );
  if (details === null || details === undefined || isUndecodable(details)) {
    throw new ProblemError({ code: 'unknown_request', message: `Run '${workflowId}' has no request ${requestId}.` });
  }
  return details;
}

/** The same as a glance: undefined where it cannot be seen now, for whatever reason. */
export async function glanceAtApproval(
  session: Session,
  workflowId: string,
  requestId: string,
  timeoutMs: number,
): Promise<ApprovalDetails | undefined> {
  try {
    return await getApproval(session, requestId, { workflowId, timeoutMs });
  } catch (error) {
    if (isProblemError(error)) return undefined;
    throw error;
  }
}
