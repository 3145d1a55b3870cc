import type { temporal } from '@temporalio/proto';
import { ProblemError, isProblemError } from '../../core/base/problem.ts';
import { settledTag } from '../../core/ledger/approval-index.ts';
import { callServer, type Session } from '../server/session.ts';
import { lookUp } from '../server/look-up.ts';
import { type WithMemo, indexedIds, memoRows, statusRunning, withMemos } from '../server/memo-rows.ts';
import { type ApprovalDetails, queryNames } from '../../contract.ts';
import { queryRun } from '../server/ask-worker.ts';

const requestIdShape = /^[0-9a-f]{32}$/;
/** The most rows of one look-up: a run that continued as new often has a row for each of its executions. */
const rowsRead = 100;
const mostQueried = 10;

/** A workflow whose row in visibility has the request's id. Everyone who starts workflows can write such a row. */
interface Claim {
  workflowId: string;
  /** `lists`: the memo has the request. `cut`: the memo lacks some, or is unreadable. `carries`: otherwise. */
  memo: 'lists' | 'cut' | 'carries';
  /** True if the row has the id only among its settled requests. */
  isSettled: boolean;
}

/**
 * Finds the run of a request by rows of visibility, which any workflow can have. Workflows must confirm that they have
 * the request, unless only one has the id and its memo lists it. Visibility lags, so `unknown_request` is thrown only
 * after the client's `lookUpTimeoutMs`. Throws `no_worker` if a workflow that may have the request did not answer.
 */
export async function findRequest(session: Session, requestId: string): Promise<string> {
  const malformed = malformedRequestId(requestId);
  if (malformed !== undefined) throw malformed;
  let others: Judged[] = [];
  const owners = await lookUp(async () => {
    const claims = await claimsOf(session, requestId);
    const judged = await judge(session, requestId, claims);
    others = judged.filter(({ holds }) => !holds);
    const found = judged.filter(({ holds }) => holds).map(workflowIdOf);
    return found.length === 0 ? undefined : found;
  }, session.limits.lookUpTimeoutMs);
  if (owners === undefined) throw notFound(requestId, others);
  if (owners.length > 1) throw ambiguous(requestId, owners);
  return owners[0]!;
}

/** The error for a request that no run is known to have. `others` list its id; a silent one may still have it. */
function notFound(requestId: string, others: readonly Judged[]): ProblemError {
  const silent = others.filter(({ isSilent }) => isSilent);
  if (silent.length > 0) {
    const message = `It is not known yet which run has request ${requestId}: ${quotedIds(silent.map(workflowIdOf))} lists its id and could not be asked. Ask again, or name the run: --run, or workflowId.`;
    return new ProblemError({ code: 'no_worker', message });
  }
  const ids = quotedIds(others.map(workflowIdOf));
  const note = others.length === 0 ? '' : ` ${ids} lists its id but does not have it.`;
  const message = `No run lists request ${requestId}, and one that has just opened may not be listed yet: \`countersign approvals\` lists the open ones.${note}`;
  return new ProblemError({ code: 'unknown_request', message });
}

/** Returns the error for a text that is no request id; undefined for any other text. */
export function malformedRequestId(requestId: string): ProblemError | undefined {
  if (requestIdShape.test(requestId)) return undefined;
  const message = `'${requestId.slice(0, 80)}' is not a request id: it has 32 hex characters, as \`countersign approvals --json\` shows them.`;
  return new ProblemError({ code: 'unknown_request', message });
}

interface Judged {
  workflowId: string;
  /** True if the workflow has the request, as far as known. */
  holds: boolean;
  /** True if the workflow did not answer. */
  isSilent: boolean;
}

/** Finds out which of the workflows have the request: asks each, unless the only one lists it in its memo. */
async function judge(session: Session, requestId: string, claims: readonly Claim[]): Promise<Judged[]> {
  const [first] = claims;
  // Ask nothing here: the update or query that follows shows whether the run has the request.
  if (claims.length === 1 && first?.memo === 'lists') {
    return [{ workflowId: first.workflowId, holds: true, isSilent: false }];
  }
  return Promise.all(
    claims.slice(0, mostQueried).map(async ({ workflowId, memo, isSettled }) => {
      const answer = await knowsRequest(session, workflowId, requestId);
      const isSilent = answer === 'silent';
      // Without an answer, trust the memo, or the row's tag for a settled request, which is in no memo any more.
      return { workflowId, holds: answer === 'yes' || (isSilent && (memo !== 'carries' || isSettled)), isSilent };
    }),
  );
}

/** Finds the workflows that have the id of the request in a search attribute. Every workflow can claim any id. */
async function claimsOf(session: Session, requestId: string): Promise<Claim[]> {
  const { ids, tags } = session.attributes;
  const settled = tags === null ? '' : ` OR ${tags} = "${settledTag}${requestId}"`;
  const query = `${ids} = "${requestId}"${settled}`;
  const { executions } = await callServer(session, () =>
    session.connection.workflowService.listWorkflowExecutions({
      namespace: session.namespace,
      pageSize: rowsRead,
      query,
    }),
  );
  const claims = new Map<string, Claim>();
  const ranked = executions.toSorted((one, other) => rank(one) - rank(other));
  const runs = await withMemos(session, ranked);
  for (const [index, row] of ranked.entries()) {
    const claim = claimOf(session, row, runs[index]!, requestId);
    if (!claims.has(claim.workflowId)) claims.set(claim.workflowId, claim);
  }
  return [...claims.values()];
}

type Row = temporal.api.workflow.v1.IWorkflowExecutionInfo;

/** The running one comes first if several executions have the same workflow id. */
function rank({ status }: Row): number {
  return Number(status) === statusRunning ? 0 : 1;
}

/** Returns what a row and the memo of its workflow say about the request, in the words of `Claim`. */
function claimOf(session: Session, row: Row, run: WithMemo, requestId: string): Claim {
  const { rows, more, unread } = memoRows(run);
  const isListed = rows.some((summary) => summary.requestId === requestId);
  const memoWithout = more > 0 || unread !== undefined ? 'cut' : 'carries';
  return {
    workflowId: run.workflowId,
    memo: isListed ? 'lists' : memoWithout,
    isSettled: !indexedIds(session, row).includes(requestId),
  };
}

function ambiguous(requestId: string, workflowIds: readonly string[]): ProblemError {
  const message = `Request ${requestId} is claimed by several runs: ${quotedIds(workflowIds)}. Look at each with \`countersign show\` and name the right one: --run, or workflowId.`;
  return new ProblemError({ code: 'unknown_request', message });
}

const workflowIdOf = ({ workflowId }: Judged): string => workflowId;

function quotedIds(workflowIds: readonly string[]): string {
  return workflowIds
    .slice(0, mostQueried)
    .map((id) => `'${id.slice(0, 200)}'`)
    .join(' and ');
}

/** Asks a run if it has a request, open or lately settled. `no` may be a workflow of any type. `silent`: no worker. */
export async function knowsRequest(
  session: Session,
  workflowId: string,
  requestId: string,
): Promise<'yes' | 'no' | 'silent'> {
  try {
    const { glanceTimeoutMs } = session.limits;
    const args = [{ requestId }];
    const answer = await queryRun<unknown>(session, workflowId, queryNames.approvals, args, glanceTimeoutMs);
    const details = (answer ?? {}) as Partial<ApprovalDetails>;
    return details.requestId === requestId && details.workflowId === workflowId ? 'yes' : 'no';
  } catch (error) {
    if (!isProblemError(error)) throw error;
    return error.code === 'run_not_found' ? 'no' : 'silent';
  }
}

/** Returns a request. Throws `unknown_request` (after `lookUpTimeoutMs`), `run_not_found`, `no_worker`. */
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
  // Every workflow may answer a query of this name, with any content.
  return details.requestId === requestId && details.workflowId === workflowId ? details : undefined;
}

/** Reads a request once; undefined if it cannot be read now, for any reason. */
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
