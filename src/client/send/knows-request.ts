import { type ApprovalDetails, queryNames } from '../../contract.ts';
import { isProblemError } from '../../core/base/problem.ts';
import type { Session } from '../server/connect.ts';
import { queryRun } from '../server/query-run.ts';

/** How long a run may take to say whether it has a request, in milliseconds. */
const answerMs = 2_000;

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
    const answer = await queryRun<unknown>(session, workflowId, queryNames.approvals, [{ requestId }], answerMs);
    const details = (answer ?? {}) as Partial<ApprovalDetails>;
    return details.requestId === requestId && details.workflowId === workflowId ? 'yes' : 'no';
  } catch (error) {
    if (!isProblemError(error)) throw error;
    return error.code === 'run_not_found' ? 'no' : 'silent';
  }
}
