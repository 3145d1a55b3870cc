import { randomUUID } from 'node:crypto';
import {
  decideName,
  queryNames,
  type Decision,
  type Receipt,
  type ApprovalDetails,
  type ApprovalRequest,
} from '../../contract.ts';
import { maxDecisions, parseDecision, type ParsedDecision } from '../../core/messages/decision.ts';
import { personsShown } from '../../core/people/directory.ts';
import { inParallel, callServer, type Session } from '../server/session.ts';
import type { RequestOptions, SendOptions } from './control-run.ts';
import { acceptedReceipt, deliver, refusedReceipt, refusalFor, type MessageRoute } from './deliver.ts';
import { findRequest, malformedRequestId, glanceAtApproval } from './find-request.ts';
import { signDecision } from './sign-message.ts';
import { decisionDigest } from '../../core/messages/control.ts';
import { settledReceipt, votedReceipt } from '../../core/ledger/settle.ts';
import { isProblemError, ProblemError } from '../../core/base/problem.ts';
import { lookUp } from '../server/look-up.ts';
import { queryRun } from '../server/ask-worker.ts';
import type { HistoryEvent } from '../../events/history-event.ts';
import { decodeHistory } from '../history/history-chain.ts';
import { HistoryReader } from '../history/read-history-event.ts';
import { valueReader } from '../server/read-payload.ts';

/** How decisions are sent to a run. Their ids make a retry harmless. */
const decisionRoute: MessageRoute<ParsedDecision> = {
  name: decideName,
  what: 'decision',
  look: async (session, workflowId, decision, timeoutMs) => {
    const seen = await glanceAtApproval(session, workflowId, decision.requestId, timeoutMs);
    return seen === undefined ? undefined : receiptFrom(decision, seen);
  },
  readUnapplied: async (session: Session, workflowId: string) => {
    const unapplied = await unappliedDecisions(session, workflowId);
    return (decision) => {
      const [first] = recordedBefore(unapplied, decision);
      if (first === undefined) return '';
      return ` An earlier decision about it (${wordsOf(first)}) was recorded before and is applied first: the first valid decision wins.`;
    };
  },
};

type Keyed = ParsedDecision & { decisionId: string };

/** Sends a decision and throws its refusal. `recorded` in the receipt: no worker has applied it in time. */
export async function decideOne(session: Session, decision: Decision, options: RequestOptions = {}): Promise<Receipt> {
  const [receipt] = await decideMany(session, [decision], options);
  return acceptedReceipt(receipt);
}

/**
 * Sends decisions, those for one run in one update, and returns their receipts in order. A refused one has a receipt
 * with a code, and does not affect others. Throws only if nothing can be sent.
 */
export async function decideMany(
  session: Session,
  decisions: Decision[],
  options: RequestOptions = {},
): Promise<Receipt[]> {
  const placed = await Promise.all(decisions.map((decision) => findRunOf(session, decision, options)));
  const receipts: Receipt[] = [];
  const groups = new Map<string, { index: number; decision: Keyed }[]>();
  // Group the decisions only now, in their order. So the first of two decisions about a request is sent first.
  for (const [index, place] of placed.entries()) {
    if ('refused' in place) receipts[index] = place.refused;
    else groups.set(place.workflowId, [...(groups.get(place.workflowId) ?? []), { index, decision: place.decision }]);
  }
  for (const [workflowId, decisionsOfRun] of groups) {
    for (let from = 0; from < decisionsOfRun.length; from += maxDecisions) {
      const group = decisionsOfRun.slice(from, from + maxDecisions);
      const send = (some: Keyed[], isAgain?: boolean): Promise<Receipt[]> =>
        deliver(session, workflowId, decisionRoute, some, { timeoutMs: options.timeoutMs, isAgain });
      const wanted = group.map(({ decision }) => decision);
      // The search found only requests that their runs know. A named run may not know the request yet.
      const answers =
        options.workflowId === undefined ? await send(wanted) : await repeatUnknown(session, workflowId, wanted, send);
      for (const [at, { index }] of group.entries()) receipts[index] = answers[at] as Receipt;
    }
  }
  return receipts;
}

/** Finds the run of a decision, and adds an id to the decision. Without a run, returns the receipt that refuses it. */
async function findRunOf(
  session: Session,
  source: Decision,
  { workflowId: knownRun, sign }: RequestOptions,
): Promise<{ workflowId: string; decision: Keyed } | { refused: Receipt }> {
  const parsed = parseDecision(source);
  if ('problem' in parsed) {
    const malformed = typeof source?.requestId === 'string' ? malformedRequestId(source.requestId) : undefined;
    return { refused: refusedReceipt(source, malformed ?? parsed.problem) };
  }
  if (parsed.decision.signature !== undefined && parsed.decision.decisionId === undefined) {
    const message = `a signed decision needs a 'decisionId' of its own: none can be added without breaking the signature`;
    return { refused: refusedReceipt(source, { code: 'invalid_decision', message }) };
  }
  const decision = { ...parsed.decision, decisionId: parsed.decision.decisionId ?? randomUUID() };
  try {
    const workflowId = knownRun ?? (await findRequest(session, decision.requestId));
    if (sign === undefined) return { workflowId, decision };
    const { namespace } = session;
    return { workflowId, decision: { ...decision, ...signDecision(decision, { ...sign, workflowId, namespace }) } };
  } catch (error) {
    return { refused: refusalFor(decision, error) };
  }
}

function wordsOf({ decision, at }: RecordedDecision): string {
  const { approved, response, reviewerId } = decision;
  const word = response !== undefined ? 'answered' : approved ? 'approved' : 'denied';
  return `${word} by ${reviewerId ?? 'an unnamed reviewer'} at ${at}`;
}

/** Returns the receipt that the state of the request implies; undefined if it is open and lacks this decision. */
function receiptFrom(
  decision: ParsedDecision,
  { settled, votes = [], approvals, people }: ApprovalDetails,
): Receipt | undefined {
  const { requestId, decisionId } = decision;
  const contentDigest = decisionDigest(decision);
  const isCounted = votes.some(
    (vote) => decisionId !== undefined && vote.decisionId === decisionId && vote.contentDigest === contentDigest,
  );
  if (settled === undefined) {
    if (!isCounted || approvals === undefined) return undefined;
    return votedReceipt(requestId, approvals);
  }
  const { outcome, by, byId } = settled;
  if (isCounted) {
    // An approval with edited arguments may have led to another request.
    const successor = by === 'edit' && typeof byId === 'string' ? { successor: byId } : {};
    return { requestId, accepted: true, outcome, ...successor, message: `request ${requestId}: ${outcome}` };
  }
  return settledReceipt(requestId, settled, personsShown(people));
}

/**
 * Repeats decisions about requests that the run does not know yet, for the client's `lookUpTimeoutMs`: a query may
 * show a request before the worker finishes the task that opens it. A query adds nothing to the history, so it finds
 * out which requests have appeared. Only their decisions are sent again.
 */
async function repeatUnknown<One extends { requestId: string }>(
  session: Session,
  workflowId: string,
  decisions: One[],
  send: (decisions: One[], isAgain?: boolean) => Promise<Receipt[]>,
): Promise<Receipt[]> {
  const receipts = await send(decisions);
  await lookUp(async () => {
    const unknown = decisions.filter((_decision, index) => receipts[index]?.code === 'unknown_request');
    if (unknown.length === 0) return 'none'; // any value ends the look-up
    const open = await openRequestIds(session, workflowId);
    const again = unknown.filter(({ requestId }) => open.has(requestId));
    const answers = again.length === 0 ? [] : await send(again, true);
    for (const [at, decision] of again.entries()) receipts[decisions.indexOf(decision)] = answers[at] as Receipt;
    return undefined;
  }, session.limits.lookUpTimeoutMs);
  return receipts;
}

/** Asks a run for the ids of its open requests; empty if it does not answer. */
async function openRequestIds(session: Session, workflowId: string): Promise<Set<string>> {
  try {
    const { glanceTimeoutMs } = session.limits;
    const open = await queryRun<ApprovalRequest[]>(session, workflowId, queryNames.approvals, [], glanceTimeoutMs);
    return new Set(open.map(({ requestId }) => requestId));
  } catch (error) {
    if (isProblemError(error)) return new Set();
    throw error;
  }
}

/** A reviewed request, such as a row of `approvals.list` or a request of `approvals.get`. */
export interface ReviewedRequest {
  /** The request id: 32 hex characters. */
  requestId: string;
  /** The digest of the reviewed call: 64 hex characters. */
  digest: string;
  /** The run of the request. Default: the run that is found by the request id. */
  workflowId?: string;
}

/** One answer to several requests. */
export interface CommonDecision extends Pick<
  Decision,
  'approved' | 'reason' | 'reviewerId' | 'reviewerName' | 'viewed'
> {
  /** An id for a safe retry: the same requests and answer get the first attempt's receipts. At most 160 characters. */
  decisionId?: string;
}

const runsAtOnce = 8;

/** Gives the same answer to exactly these requests, in one update for each run. Errors are in the receipts. */
export async function decideAll(
  session: Session,
  reviewed: readonly ReviewedRequest[],
  common: CommonDecision,
  options: SendOptions = {},
): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  const groups = new Map<string, number[]>();
  // Once the server has not answered, call no further run, because each call would take its whole time limit.
  let unreachable: Error | undefined;
  const noteFailure = (index: number, error: unknown): void => {
    receipts[index] = failure(reviewed[index]!, error);
    if (isProblemError(error) && error.code === 'server_unreachable') unreachable = error;
  };
  await inParallel([...reviewed.entries()], runsAtOnce, async ([index, request]) => {
    try {
      if (unreachable !== undefined) throw unreachable;
      const workflowId = await runOf(session, request);
      groups.set(workflowId, [...(groups.get(workflowId) ?? []), index]);
    } catch (error) {
      noteFailure(index, error);
    }
  });
  await inParallel([...groups], runsAtOnce, async ([workflowId, indexes]) => {
    // If two decisions are about one request, the first one in the list is sent first.
    indexes.sort((one, other) => one - other);
    for (let from = 0; from < indexes.length; from += maxDecisions) {
      const group = indexes.slice(from, from + maxDecisions);
      try {
        if (unreachable !== undefined) throw unreachable;
        const decisions = group.map((index) => decisionFor(reviewed[index]!, common));
        const answers = await decideMany(session, decisions, { ...options, workflowId });
        for (const [position, index] of group.entries()) receipts[index] = answers[position]!;
      } catch (error) {
        for (const index of group) noteFailure(index, error);
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

/** A decision in a run's history that no worker has applied yet. */
export interface RecordedDecision {
  decision: ParsedDecision;
  /** The time at which the server recorded the decision, in ISO 8601. */
  at: string;
}

const pageSize = 200;
/** The most pages that are read, newest first. Decisions in older events are not found. */
const pagesRead = 5;

/** Returns the decisions in signals that wait for a worker, oldest first. Empty if the history cannot be read. */
export async function unappliedDecisions(session: Session, workflowId: string): Promise<RecordedDecision[]> {
  try {
    const events = await callServer(session, () => eventsSinceTask(session, workflowId), { workflowId });
    return events.toReversed().flatMap(decisionsIn);
  } catch (error) {
    if (isProblemError(error)) return [];
    throw error;
  }
}

/** Returns the decisions about the same request that came before `decision`. */
export function recordedBefore(unapplied: readonly RecordedDecision[], decision: ParsedDecision): RecordedDecision[] {
  const isOurs = (other: ParsedDecision): boolean =>
    other.requestId === decision.requestId && other.decisionId === decision.decisionId;
  const own = unapplied.findIndex((each) => isOurs(each.decision));
  // If the decision itself is not found, it is unknown which of the others came before it.
  const earlier = own === -1 ? [] : unapplied.slice(0, own);
  return earlier.filter((each) => each.decision.requestId === decision.requestId);
}

/** Reads the events after the last completed workflow task, newest first, as far as `pagesRead` pages go. */
async function eventsSinceTask(session: Session, workflowId: string): Promise<HistoryEvent[]> {
  const { connection, namespace } = session;
  const reader = new HistoryReader(valueReader(session));
  const since: HistoryEvent[] = [];
  let nextPageToken: Uint8Array | undefined;
  for (let page = 0; page < pagesRead; page++) {
    const { history, nextPageToken: next } = await connection.workflowService.getWorkflowExecutionHistoryReverse({
      namespace,
      execution: { workflowId },
      maximumPageSize: pageSize,
      nextPageToken,
    });
    await decodeHistory(session, history?.events ?? []);
    for (const event of (history?.events ?? []).map((each) => reader.read(each))) {
      if (event.what?.kind === 'task_completed') return since;
      since.push(event);
    }
    if (next.length === 0) break;
    nextPageToken = next;
  }
  return since;
}

function decisionsIn({ at, what }: HistoryEvent): RecordedDecision[] {
  if (what?.kind !== 'message' || what.name !== 'decide' || what.via !== 'signal') return [];
  return [what.value].flat().flatMap((value) => {
    const parsed = parseDecision(value);
    return 'decision' in parsed ? [{ decision: parsed.decision, at }] : [];
  });
}
