import { activityInfo } from '@temporalio/activity';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { callServer } from '../../client/server/call-server.ts';
import type { Session } from '../../client/server/connect.ts';
import { queryRun } from '../../client/server/query-run.ts';
import { type ApprovalDetails, channelsWorkflowId, queryNames } from '../../contract.ts';
import { isProblemError } from '../../core/base/problem.ts';

/**
 * Reads requests from their run. Those that it says it does not have are left out; undefined: there is no such run. Throws
 * if it could not be asked, so that the activity is tried again.
 */
export type RequestsOfRun = (
  workflowId: string,
  requestIds: readonly string[],
) => Promise<ApprovalDetails[] | undefined>;

/**
 * Channels speak for runs that this worker trusts, and for no other workflow: an execution of one of `workflowTypes`, on
 * the task queue of the call. Anybody else's workflow may answer the same query, with any content.
 */
export function createRequestsOfRun(session: () => Session, workflowTypes: readonly string[]): RequestsOfRun {
  return async (workflowId, requestIds) => {
    const run = await described(session(), workflowId);
    if (run === undefined || run.taskQueue !== activityInfo().taskQueue) return undefined;
    if (!workflowTypes.includes(run.type)) {
      // During a roll-out, another worker of the queue may name it.
      throw new Error(`this worker does not trust workflow type '${run.type}': name it in 'workflowTypes'`);
    }
    const found = await read(session(), run, requestIds);
    if (run.status.name === 'RUNNING') return found;
    // A run that was terminated has settled nothing.
    const settledAt = new Date().toISOString();
    const settled = { outcome: 'cancelled', runs: false, reason: 'the run has ended', settledAt } as const;
    return found.map((details) => ({ settled, ...details }));
  };
}

/**
 * True if the activity is called by the workflow of a run's channels, on the task queue of this worker. A workflow of that
 * type on another queue may be anybody's, with any code.
 */
export async function isCalledByChannelsOf(session: Session, workflowId: string): Promise<boolean> {
  const { workflowExecution, taskQueue } = activityInfo();
  if (workflowExecution?.workflowId !== channelsWorkflowId(workflowId)) return false;
  const caller = await described(session, workflowExecution.workflowId, workflowExecution.runId);
  return caller?.taskQueue === taskQueue;
}

/** Undefined if there is no such execution. */
async function described(
  session: Session,
  workflowId: string,
  runId?: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    const { workflow } = session.client;
    return await callServer(session, () => workflow.getHandle(workflowId, runId).describe(), { workflowId });
  } catch (error) {
    if (isProblemError(error) && error.code === 'run_not_found') return undefined;
    throw error;
  }
}

type Answer = (ApprovalDetails | null)[];

/** Asks for all at once, and again for those that the answer had no room for. */
async function read(
  session: Session,
  { workflowId, runId, status }: WorkflowExecutionDescription,
  requestIds: readonly string[],
): Promise<ApprovalDetails[]> {
  const found: ApprovalDetails[] = [];
  try {
    for (let asked = 0; asked < requestIds.length;) {
      const rest = requestIds.slice(asked);
      const args = [{ requestIds: rest }];
      // The execution that was described: another one of this id may be anybody's.
      const answer = await queryRun<unknown>(session, workflowId, queryNames.approvals, args, undefined, runId);
      if (!isAnswerFor(rest, workflowId, answer)) {
        throw new Error(`the answer of run '${workflowId}' is not about the requests that it was asked about`);
      }
      found.push(...answer.filter((details) => details !== null));
      asked += answer.length;
    }
    return found;
  } catch (error) {
    // It ended before it could have a request. The server refuses to ask some open runs, too.
    if (isProblemError(error) && error.code === 'run_closed' && status.name !== 'RUNNING') return [];
    throw error;
  }
}

/** An entry for each of the first ids, or null where the run does not have the request. */
function isAnswerFor(requestIds: readonly string[], workflowId: string, answer: unknown): answer is Answer {
  const isOf = (details: ApprovalDetails | null, index: number): boolean =>
    details === null || (details?.requestId === requestIds[index] && details?.workflowId === workflowId);
  return Array.isArray(answer) && answer.length > 0 && answer.every(isOf);
}
