import { activityInfo } from '@temporalio/activity';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { callServer } from '../../client/server/call-server.ts';
import type { Session } from '../../client/server/connect.ts';
import { queryRun } from '../../client/server/query-run.ts';
import { type ApprovalDetails, channelsWorkflowId, queryNames } from '../../contract.ts';
import { isProblemError } from '../../core/base/problem.ts';

/**
 * Reads requests from their run, without those that the run does not have. Undefined if there is no such run. Throws if
 * the run does not answer, so that the activity is retried.
 */
export type RequestsOfRun = (
  workflowId: string,
  requestIds: readonly string[],
) => Promise<ApprovalDetails[] | undefined>;

/**
 * Returns a function that reads requests, only from runs that this worker trusts: executions of one of `workflowTypes`
 * on the task queue of the call. The workflow of a stranger may answer the same query with any content.
 */
export function createRequestsOfRun(session: () => Session, workflowTypes: readonly string[]): RequestsOfRun {
  return async (workflowId, requestIds) => {
    const run = await describeRun(session(), workflowId);
    if (run === undefined || run.taskQueue !== activityInfo().taskQueue) return undefined;
    if (!workflowTypes.includes(run.type)) {
      // This is an error, and not an absent run, because during a roll-out another worker of the queue may trust the
      // type.
      throw new Error(`this worker does not trust workflow type '${run.type}': name it in 'workflowTypes'`);
    }
    const found = await queryRequests(session(), run, requestIds);
    if (run.status.name === 'RUNNING') return found;
    // A run that was terminated could not settle its requests, so they are settled here.
    const settledAt = new Date().toISOString();
    const settled = { outcome: 'cancelled', runs: false, reason: 'the run has ended', settledAt } as const;
    return found.map((details) => ({ settled, ...details }));
  };
}

/**
 * True if the activity is called by the workflow of a run's channels, on the task queue of this worker. A workflow of
 * that type on another queue may belong to a stranger, with any code.
 */
export async function isCalledByChannelsOf(session: Session, workflowId: string): Promise<boolean> {
  const { workflowExecution, taskQueue } = activityInfo();
  if (workflowExecution?.workflowId !== channelsWorkflowId(workflowId)) return false;
  const caller = await describeRun(session, workflowExecution.workflowId, workflowExecution.runId);
  return caller?.taskQueue === taskQueue;
}

/** Describes an execution; undefined if there is none. */
async function describeRun(
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

/** Queries a run for all requests at once, and again for those that did not fit into the answer. */
async function queryRequests(
  session: Session,
  { workflowId, runId, status }: WorkflowExecutionDescription,
  requestIds: readonly string[],
): Promise<ApprovalDetails[]> {
  const found: ApprovalDetails[] = [];
  try {
    for (let asked = 0; asked < requestIds.length;) {
      const rest = requestIds.slice(asked);
      const args = [{ requestIds: rest }];
      // Query the described execution: a newer execution with this id may belong to a stranger.
      const answer = await queryRun<unknown>(session, workflowId, queryNames.approvals, args, undefined, runId);
      if (!isAnswerFor(rest, workflowId, answer)) {
        throw new Error(`the answer of run '${workflowId}' is not about the requests that it was asked about`);
      }
      found.push(...answer.filter((details) => details !== null));
      asked += answer.length;
    }
    return found;
  } catch (error) {
    // The run ended before its first task, so it has no requests. For an open run the error is thrown: the server
    // refuses to query some open runs too.
    if (isProblemError(error) && error.code === 'run_closed' && status.name !== 'RUNNING') return [];
    throw error;
  }
}

/** True if an answer has, for each of the first ids, the request of this run or null. */
function isAnswerFor(requestIds: readonly string[], workflowId: string, answer: unknown): answer is Answer {
  const isOf = (details: ApprovalDetails | null, index: number): boolean =>
    details === null || (details?.requestId === requestIds[index] && details?.workflowId === workflowId);
  return Array.isArray(answer) && answer.length > 0 && answer.every(isOf);
}
