import { activityInfo } from '@temporalio/activity';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { callServer } from '../../client/server/call-server.ts';
import type { Session } from '../../client/server/connect.ts';
import { queryRun } from '../../client/server/query-run.ts';
import { type ApprovalDetails, queryNames } from '../../contract.ts';
import { isProblemError } from '../../core/base/problem.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';

/** Reads requests from their run. Those that it does not have are left out. */
export type RequestsOfRun = (workflowId: string, requestIds: readonly string[]) => Promise<ApprovalDetails[]>;

/**
 * Channels speak for runs that this worker trusts, and for no other workflow: an execution of one of `workflowTypes`, on
 * the task queue of the call. Anybody else's workflow may answer the same query, with any content.
 */
export function createRequestsOfRun(session: () => Session, workflowTypes: readonly string[]): RequestsOfRun {
  return async (workflowId, requestIds) => {
    const run = await described(session(), workflowId);
    if (run === undefined || !workflowTypes.includes(run.type) || run.taskQueue !== activityInfo().taskQueue) return [];
    const found = await read(session(), run, requestIds);
    if (run.status.name === 'RUNNING') return found;
    // A run that was terminated has settled nothing.
    const settledAt = new Date().toISOString();
    const settled = { outcome: 'cancelled', runs: false, reason: 'the run has ended', settledAt } as const;
    return found.map((details) => ({ settled, ...details }));
  };
}

/** Undefined if there is no such execution. */
async function described(session: Session, workflowId: string): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await callServer(session, () => session.client.workflow.getHandle(workflowId).describe(), { workflowId });
  } catch (error) {
    if (isProblemError(error) && error.code === 'run_not_found') return undefined;
    throw error;
  }
}

type Answer = (ApprovalDetails | null)[];

/** Asks for all at once, and again for those that the answer had no room for. */
async function read(
  session: Session,
  { workflowId, runId }: WorkflowExecutionDescription,
  requestIds: readonly string[],
): Promise<ApprovalDetails[]> {
  const found: ApprovalDetails[] = [];
  for (let asked = 0; asked < requestIds.length;) {
    const args = [{ requestIds: requestIds.slice(asked) }];
    // The execution that was described: another one of this id may be anybody's.
    const answer = await queryExecution(session, workflowId, runId, args);
    if (answer.length === 0) break;
    for (const [index, details] of answer.entries()) {
      if (details?.requestId === requestIds[asked + index] && details?.workflowId === workflowId) found.push(details);
    }
    asked += answer.length;
  }
  return found;
}

async function queryExecution(session: Session, workflowId: string, runId: string, args: unknown[]): Promise<Answer> {
  try {
    const answer = await queryRun<Answer>(session, workflowId, queryNames.approvals, args, undefined, runId);
    return Array.isArray(answer) && !isUndecodable(answer) ? answer : [];
  } catch (error) {
    if (isProblemError(error) && (error.code === 'run_not_found' || error.code === 'run_closed')) return [];
    throw error;
  }
}
