import type { Receipt } from '../../contract.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { callServer } from '../server/call-server.ts';
import type { Session } from '../server/connect.ts';
import { knowsRequest } from './find-request.ts';
import { describeRun, memoRows } from '../server/memo-rows.ts';
import type { Unanswered } from './send-by-update.ts';

/**
 * Whether a run has a request. `known`: the memo lists the request, or the run confirms it. `unknown`: the run denies
 * it. `unlisted`: the memo does not list the request, and no worker answers.
 */
export type Listing = 'known' | 'unknown' | 'unlisted';

/**
 * Checks for each request whether a run has it. Call it before messages about the requests are sent by signal: every
 * workflow accepts a signal, and a workflow without the request ignores the message. Throws `run_not_found`.
 */
export async function listingsOf(
  session: Session,
  workflowId: string,
  requestIds: readonly (string | undefined)[],
  { silent }: Pick<Unanswered, 'silent'>,
): Promise<Listing[]> {
  if (requestIds.every((requestId) => requestId === undefined)) return requestIds.map(() => 'known');
  const run = await callServer(session, () => describeRun(session, workflowId), { workflowId });
  const { rows, unread } = memoRows(run);
  const isListed = (requestId: string): boolean =>
    unread === undefined ? rows.some((row) => row.requestId === requestId) : run.openIds.includes(requestId);
  return Promise.all(
    requestIds.map(async (requestId) => {
      // A closed run counts as one that has the request: it records no message, and its earlier answer is looked up
      // afterwards.
      if (requestId === undefined || !run.isRunning || isListed(requestId)) return 'known';
      const answer = silent ? 'silent' : await knowsRequest(session, workflowId, requestId);
      return answer === 'yes' ? 'known' : answer === 'no' ? 'unknown' : 'unlisted';
    }),
  );
}

/** The error if a run does not have a request. */
export function unknownRequest(workflowId: string, requestId: string): ProblemError {
  return new ProblemError({ code: 'unknown_request', message: `Run '${workflowId}' has no request ${requestId}.` });
}

/** The receipt for a message that is recorded in the run but not applied yet. `before`: a sentence to append. */
export function recordedReceipt(
  what: string,
  { reason }: Pick<Unanswered, 'reason'>,
  about: { requestId?: string; workflowId?: string; standing?: Listing; before?: string } = {},
): Receipt {
  const { requestId = '', workflowId, standing, before = '' } = about;
  const doubt =
    standing !== 'unlisted'
      ? ''
      : ` It went to run '${workflowId}', whose memo does not list request ${requestId}: it counts only if that run has it.`;
  return {
    requestId,
    accepted: true,
    recorded: true,
    message: `The ${what} is recorded, not yet applied: ${reason}.${doubt}${before}`,
  };
}
