import { type ApprovalDetails, queryNames } from '../../contract.ts';
import { isProblemError } from '../../core/base/problem.ts';
import type { Session } from '../server/connect.ts';
import { queryRun } from '../server/query-run.ts';

/**
 * Asks a run whether it has a request, open or recently settled. `no` also for a workflow that is not a run of ours;
 * `silent` if no worker answers.
 */
export async function knowsRequest(
  session: Session,
  workflowId: string,
  requestId: string,
): Promise<'yes' | 'no' | 'silent'> {
  try {
    const answer = await queryRun<unknown>(
      session,
      workflowId,
      queryNames.approvals,
      [{ requestId }],
      session.limits.glanceTimeoutMs,
    );
    const details = (answer ?? {}) as Partial<ApprovalDetails>;
    return details.requestId === requestId && details.workflowId === workflowId ? 'yes' : 'no';
  } catch (error) {
    if (!isProblemError(error)) throw error;
    return error.code === 'run_not_found' ? 'no' : 'silent';
  }
}
