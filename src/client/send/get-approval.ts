import { type ApprovalDetails, queryNames } from '../../contract.ts';
import { ProblemError, isProblemError } from '../../core/base/problem.ts';
import type { Session } from '../server/connect.ts';
import { findRequest, malformedRequestId } from './find-request.ts';
import { lookUp } from '../server/look-up.ts';
import { queryRun } from '../server/query-run.ts';

/**
 * Reads one request, open or settled, with its full arguments from its run. With `workflowId` no search for the run is
 * needed. Throws `unknown_request` after the client's `lookUpTimeoutMs`, `run_not_found`, `no_worker`.
 */
export async function getApproval(
  session: Session,
  requestId: string,
  options: { workflowId?: string; timeoutMs?: number } = {},
): Promise<ApprovalDetails> {
  const malformed = malformedRequestId(requestId);
  if (malformed !== undefined) throw malformed;
  const workflowId = options.workflowId ?? (await findRequest(session, requestId));
  const details = await lookUp(
    () => approvalIn(session, workflowId, requestId, options.timeoutMs),
    session.limits.lookUpTimeoutMs,
  );
  if (details !== undefined) return details;
  throw new ProblemError({ code: 'unknown_request', message: `Run '${workflowId}' has no request ${requestId}.` });
}

/** Reads a request from a run; undefined if the run does not have it now. */
async function approvalIn(
  session: Session,
  workflowId: string,
  requestId: string,
  timeoutMs: number | undefined,
): Promise<ApprovalDetails | undefined> {
  const args = [{ requestId }];
  const details = await queryRun<ApprovalDetails | null>(session, workflowId, queryNames.approvals, args, timeoutMs);
  if (details === null) return undefined;
  // Any workflow may answer a query of this name, with any content.
  return details.requestId === requestId && details.workflowId === workflowId ? details : undefined;
}

/** Reads a request once: undefined if it cannot be read now, for any reason. */
export async function glanceAtApproval(
  session: Session,
  workflowId: string,
  requestId: string,
  timeoutMs: number,
): Promise<ApprovalDetails | undefined> {
  try {
    return await approvalIn(session, workflowId, requestId, timeoutMs);
  } catch (error) {
    if (isProblemError(error)) return undefined;
    throw error;
  }
}
