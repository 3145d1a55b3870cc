/** Delegates all requests that one person may answer, each by its own message. */
import { queryNames, type DelegateMessage, type Receipt } from '../../contract.ts';
import { jsonDigest } from '../../core/base/digest.ts';
import { isObject } from '../../core/base/json.ts';
import { ProblemError, isProblemError } from '../../core/base/problem.ts';
import { readDelegate } from '../../core/messages/control.ts';
import { isRequestId } from '../../core/messages/decision.ts';
import { isOneOf, personKeyIn, isSamePerson, type NamedPerson } from '../../core/people/directory.ts';
import { isTexts } from '../server/memo-rows.ts';
import { type Session, inParallel } from '../server/session.ts';
import { queryRun } from '../server/ask-worker.ts';
import { refusalFor } from '../send/deliver.ts';
import { inboxBatches } from './inbox-batches.ts';
import type { WaitingRun } from './waiting-runs.ts';

/** A delegation of one person's requests to another. */
export interface DelegationOfAll {
  /** The person who gives up their seats: 1 to 200 characters. */
  by: string;
  /** The person who decides in their place: 1 to 200 characters. */
  to: string;
  /** The reason, of at most 2,000 characters. */
  reason?: string;
}

/** The receipt for one request. If it was refused, it has a `code`. */
export interface DelegatedRequest extends Receipt {
  workflowId: string;
  toolName: string;
}

/** The result for all requests of a person. */
export interface DelegatedAll {
  /** A receipt for each open request that the person may answer. Requests for everyone need no delegation. */
  receipts: DelegatedRequest[];
  /** The number of runs whose reviewers are unknown, because no worker answered for them. */
  silentRuns: number;
}

/** Sends one delegation, and throws its refusal as a `ProblemError`. */
export type SendDelegation = (message: DelegateMessage, workflowId: string) => Promise<Receipt>;

/** Delegates the open requests of a person. Throws `invalid_message`, `too_large` and `server_unreachable`. */
export async function delegateAll(
  session: Session,
  delegation: DelegationOfAll,
  send: SendDelegation,
): Promise<DelegatedAll> {
  const { by, to, reason } = soundDelegation(delegation);
  const all: DelegatedAll = { receipts: [], silentRuns: 0 };
  for await (const { requests, silentRuns } of openRequestsOf(session, by)) {
    all.silentRuns += silentRuns;
    for (const request of requests) {
      const { requestId } = request;
      const receipt = await delegateOne(request, { requestId, by, to, ...(reason !== undefined && { reason }) }, send);
      if (receipt !== undefined) all.receipts.push(receipt);
    }
  }
  return all;
}

/** Delegates one request. Undefined if only the refusal shows that the person is not a reviewer of the request. */
export async function delegateOne(
  { workflowId, toolName, isKnown }: OpenRequest,
  message: DelegateMessage,
  send: SendDelegation,
): Promise<DelegatedRequest | undefined> {
  const receipt = await send(message, workflowId).catch((error: unknown) => refusalFor(message, error));
  if (receipt.code === 'not_entitled' && !isKnown) return undefined;
  return { ...receipt, workflowId, toolName };
}

/** Returns the delegation. Throws a `ProblemError` for one that every run would refuse. */
export function soundDelegation(delegation: DelegationOfAll): DelegationOfAll {
  const { by, to, reason, ...others } = isObject(delegation)
    ? (delegation as DelegationOfAll)
    : ({} as DelegationOfAll);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalidMessage(`unknown field '${unknown.slice(0, 40)}'`);
  if (typeof by !== 'string' || by.trim() === '' || by.startsWith('group:')) {
    throw invalidMessage(`'by' must be the name of one person: whose requests are they?`);
  }
  // A placeholder for the id of any request.
  const read = readDelegate({ requestId: '0'.repeat(32), by, to, reason });
  if ('problem' in read) throw new ProblemError(read.problem);
  if (isSamePerson(by, to)) throw invalidMessage(`'${by}' would only delegate to themselves`);
  return { by, to, ...(reason !== undefined && { reason }) };
}

/** An open request that a person may answer. */
export interface OpenRequest {
  requestId: string;
  workflowId: string;
  toolName: string;
  /** False if the run does not report who may answer, so that it may refuse to delegate the request. */
  isKnown: boolean;
}

export interface OpenRequests {
  requests: OpenRequest[];
  silentRuns: number;
  /** The keys of all open requests of these runs, as visibility lists them. */
  openKeys: string[];
}

/** Returns 32 hex characters that identify a request of a run: any workflow may list another run's request id. */
export function requestKey(workflowId: string, requestId: string): string {
  return jsonDigest([workflowId, requestId]).slice(0, 32);
}

const runsInStep = 100;
const runsAtOnce = 8;

/**
 * Yields the open requests that a person may answer and has not answered, earliest deadlines first. Queries each run
 * for them, but skips a run if `isDone` is true for all its requests. Visibility lags by up to seconds.
 */
export async function* openRequestsOf(
  session: Session,
  by: string,
  isDone: (key: string) => boolean = () => false,
): AsyncGenerator<OpenRequests> {
  for await (const { runs } of inboxBatches(session, runsInStep)) {
    for (let from = 0; from < runs.length; from += runsInStep) {
      const step = runs.slice(from, from + runsInStep);
      const asked = step.filter((run) => !keysOf(run).every(isDone));
      const answers = await inParallel(asked, runsAtOnce, (run) => requestsOf(session, run, by));
      const requests = answers
        .flatMap((answer) => answer ?? [])
        .filter(({ workflowId, requestId }) => !isDone(requestKey(workflowId, requestId)));
      const silentRuns = answers.filter((answer) => answer === undefined).length;
      yield { requests, silentRuns, openKeys: step.flatMap(keysOf) };
    }
  }
}

function keysOf({ workflowId, openIds }: WaitingRun): string[] {
  return openIds.map((requestId) => requestKey(workflowId, requestId));
}

/** Returns a run's requests for a person; undefined if the run did not answer. */
async function requestsOf(
  session: Session,
  { workflowId }: WaitingRun,
  by: string,
): Promise<OpenRequest[] | undefined> {
  const { glanceTimeoutMs } = session.limits;
  try {
    const open = await queryRun<unknown>(session, workflowId, queryNames.approvals, [], glanceTimeoutMs);
    return answerableIn(open, workflowId, by);
  } catch (error) {
    if (!isProblemError(error) || error.code === 'server_unreachable') throw error;
    // The run has ended meanwhile, or has no gate.
    return error.code === 'run_closed' || error.code === 'run_not_found' ? [] : undefined;
  }
}

/** The most open requests of a run. */
const mostRequests = 50;

/** Reads the requests that a person may answer from the result of query `approvals`, which may be anything. */
export function answerableIn(answer: unknown, workflowId: string, by: string): OpenRequest[] {
  const open = (Array.isArray(answer) ? answer : []).slice(0, mostRequests) as unknown[];
  return open.flatMap((request): OpenRequest[] => {
    if (!isObject(request) || request['workflowId'] !== workflowId) return [];
    const { requestId, toolName, reviewers, approvers, people } = request;
    if (!isRequestId(requestId) || typeof toolName !== 'string') return [];
    const named = { requestId, workflowId, toolName };
    if (approvers === undefined) {
      // The run does not report who may answer. A request without reviewers is for everyone: delegate nothing.
      const hasReviewers = isTexts(reviewers) && reviewers.length > 0;
      return hasReviewers ? [{ ...named, isKnown: false }] : [];
    }
    const keyOf = personKeyIn({ people: isObject(people) ? (people as Record<string, NamedPerson>) : undefined });
    return isTexts(approvers) && isOneOf(undefined, by, approvers, keyOf) ? [{ ...named, isKnown: true }] : [];
  });
}

export function invalidMessage(message: string): ProblemError {
  return new ProblemError({ code: 'invalid_message', message });
}
