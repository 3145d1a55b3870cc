import type { Decision, Receipt } from '../../contract.ts';
import { ProblemError, isProblemError } from '../../core/base/problem.ts';
import { maxDecisions } from '../../core/messages/decision.ts';
import type { Session } from '../server/connect.ts';
import type { SendOptions } from './control-run.ts';
import { decideMany } from './decide.ts';
import { refusedReceipt } from './deliver.ts';
import { findRequest } from './find-request.ts';
import { inParallel } from '../server/call-server.ts';

/** A reviewed request, such as a row of `approvals.list` or a request of `approvals.get`. */
export interface ReviewedRequest {
  /** 32 hex characters. */
  requestId: string;
  /** 64 hex characters: identifies the reviewed call. */
  digest: string;
  /** The run of the request. Default: the run that is found by the request id. */
  workflowId?: string;
}

/** One answer to several requests. */
export interface CommonDecision extends Pick<
  Decision,
  'approved' | 'reason' | 'reviewerId' | 'reviewerName' | 'viewed'
> {
  /**
   * Makes a retry safe: the same requests, answer and id again return the original receipts. At most 160 characters.
   */
  decisionId?: string;
}

/** The number of runs called at the same time. */
const runsAtOnce = 8;

/**
 * Gives the same answer to exactly these requests, whatever other requests are open now. All requests of a run are sent
 * in one update, and each has its own receipt, in order. Never throws: an error is in the receipts of the requests
 * concerned.
 */
export async function decideAll(
  session: Session,
  reviewed: readonly ReviewedRequest[],
  common: CommonDecision,
  options: SendOptions = {},
): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  const groups = new Map<string, number[]>();
  // Once the server does not answer, no further run is called: each call would take its whole time limit.
  let away: Error | undefined;
  const failed = (index: number, error: unknown): void => {
    receipts[index] = failure(reviewed[index]!, error);
    if (isProblemError(error) && error.code === 'server_unreachable') away = error;
  };
  await inParallel([...reviewed.entries()], runsAtOnce, async ([index, each]) => {
    try {
      if (away !== undefined) throw away;
      const workflowId = await runOf(session, each);
      groups.set(workflowId, [...(groups.get(workflowId) ?? []), index]);
    } catch (error) {
      failed(index, error);
    }
  });
  await inParallel([...groups], runsAtOnce, async ([workflowId, members]) => {
    // If two decisions are about one request, the first one in the list is sent first.
    members.sort((one, other) => one - other);
    for (let from = 0; from < members.length; from += maxDecisions) {
      const group = members.slice(from, from + maxDecisions);
      try {
        if (away !== undefined) throw away;
        const decisions = group.map((index) => decisionFor(reviewed[index]!, common));
        const answers = await decideMany(session, decisions, { ...options, workflowId });
        for (const [at, index] of group.entries()) receipts[index] = answers[at]!;
      } catch (error) {
        for (const index of group) failed(index, error);
      }
    }
  });
  return receipts;
}

async function runOf(session: Session, reviewed: ReviewedRequest): Promise<string> {
  // Without a digest, the decision would apply to the request in any state.
  if (typeof reviewed?.digest !== 'string') {
    throw new ProblemError({ code: 'invalid_decision', message: `'digest' is missing: it says what was reviewed` });
  }
  return reviewed.workflowId ?? findRequest(session, reviewed.requestId);
}

function decisionFor({ requestId, digest }: ReviewedRequest, { decisionId, ...answer }: CommonDecision): Decision {
  const own = decisionId === undefined ? {} : { decisionId: `${decisionId}-${requestId}` };
  return { ...answer, ...own, requestId, digest };
}

function failure(source: { requestId: string }, error: unknown): Receipt {
  const { code, message } = isProblemError(error) ? error : { code: 'internal' as const, message: String(error) };
  return refusedReceipt(source, { code, message });
}
