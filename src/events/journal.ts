/** Reads requests and outcomes from a run's journal. For that, the run's policies need not be known. */
import type { CallOutcome, OutcomeName, Settlement } from '../core/ledger/approval.ts';
import type { Viewed } from '../core/messages/viewed.ts';
import type { Identity } from '../core/people/entitlement.ts';
import { resultWithheldType } from '../core/base/tool-call.ts';
import { type JournalEntry, isReplaced, ranSince } from '../core/ledger/journal-entry.ts';

/** The sender of an answer. `viewed` is what the sender's channel reports to have shown. */
interface Voter {
  reviewerId?: string;
  reviewerName?: string;
  identity?: Identity;
  viewed?: Viewed;
}

/** A request as the journal records it, and who settled it. Times are ISO 8601. */
export interface ProjectedRequest extends Voter {
  requestId: string;
  callId: string;
  toolName: string;
  digest: string;
  openedAt: string;
  deadline: string | null;
  rule: string | null;
  /** The votes before the one that settled the request. */
  votes?: (Voter & { approved: boolean; at: string })[];
  outcome?: OutcomeName;
  runs?: boolean;
  settledAt?: string;
  reason?: string;
  decisionId?: string;
  /** What superseded the request, as in `Settlement`. `byId` is the id of that rule, grant or request. */
  by?: Settlement['by'];
  byId?: string | null;
}

/** What follows from the entries of a journal. */
export interface Projection {
  /** The requests, in the order in which they were opened. */
  requests: ProjectedRequest[];
  /** The outcomes of calls, in the order in which the calls were settled. */
  outcomes: CallOutcome[];
  refusals: number;
  /** Entries that no payload carried, as `[first, last]`. */
  gaps: [number, number][];
}

/**
 * Derives requests and outcomes from the entries of all executions, which may be unordered and repeated. `ended`: the
 * run was terminated or timed out. Then no entry settles its open requests, so they count as cancelled.
 */
export function projectJournal(entries: readonly JournalEntry[], ended = false): Projection {
  const ordered = orderedEntries(entries);
  const requests = new Map<string, ProjectedRequest>();
  const outcomes = new Map<string, CallOutcome>();
  let refusals = 0;
  for (const entry of ordered) {
    const { kind, requestId = '', outcome } = entry;
    const request = requests.get(requestId);
    takeOutcome(outcomes, entry);
    if (kind === 'opened') requests.set(requestId, opened(entry));
    else if (kind === 'vote' && request !== undefined) vote(request, entry);
    else if (kind === 'extended' && request !== undefined) request.deadline = entry.deadline ?? null;
    else if (kind === 'reruled' && request !== undefined) request.rule = entry.rule ?? null;
    else if (kind === 'refused') refusals++;
    else if (kind === 'settled' && outcome !== undefined && request !== undefined) settle(request, entry);
  }
  if (ended) for (const request of requests.values()) request.outcome ??= 'cancelled';
  return {
    requests: [...requests.values()],
    outcomes: [...outcomes.values()],
    refusals,
    gaps: gapsIn(ordered.map(({ seq }) => seq)),
  };
}

/**
 * Updates the outcomes of calls, by call id, with a journal entry: a ruling, a settlement, or the end of a call. The
 * settlement of a replaced request is skipped, because the request that replaces it decides about the call.
 */
export function takeOutcome(outcomes: Map<string, CallOutcome>, entry: JournalEntry): void {
  const { kind, callId = '', requestId = '', toolName = '', outcome, runs, ran, code, resultOf } = entry;
  const known = outcomes.get(callId);
  if (kind === 'ran' && ran !== undefined && known !== undefined) {
    outcomes.set(callId, { ...known, ran, ...(code === resultWithheldType && { withheld: true }) });
  }
  if (outcome === undefined) return;
  const startsNow = outcome === 'allowed' || runs === true;
  const end = { outcome, ran: ranSince(known, startsNow ? 'pending' : 'no') };
  const from = resultOf !== undefined && { resultOf };
  if (kind === 'ruling') outcomes.set(callId, { callId, toolName, ...end, ...from });
  if (kind === 'settled' && !isReplaced(entry)) outcomes.set(callId, { callId, toolName, requestId, ...end });
}

/** Returns the entries in the order of `seq`, without repeats. */
export function orderedEntries(entries: readonly JournalEntry[]): JournalEntry[] {
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]));
  return [...bySeq.values()].sort((one, other) => one.seq - other.seq);
}

function opened(entry: JournalEntry): ProjectedRequest {
  const { requestId = '', callId = '', toolName = '', digest = '', at, deadline = null, rule = null } = entry;
  return { requestId, callId, toolName, digest, openedAt: at, deadline, rule };
}

function vote(request: ProjectedRequest, entry: JournalEntry): void {
  const { reviewerId, reviewerName, identity, approved = false, at, viewed } = entry;
  const named = reviewerName !== undefined && { reviewerName };
  const known = { reviewerId, ...named, identity, approved, at, ...(viewed !== undefined && { viewed }) };
  request.votes = [...(request.votes ?? []), known];
}

function settle(request: ProjectedRequest, entry: JournalEntry): void {
  const { outcome, at, runs, reason, reviewerId, reviewerName, identity, decisionId, viewed, by, byId } = entry;
  const who = { reviewerId, reviewerName, identity };
  const known = { outcome, settledAt: at, runs, reason, ...who, decisionId, viewed, by, byId };
  Object.assign(request, Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)));
}

/** Returns the ranges that are missing between ascending numbers, as `[first, last]`. */
export function gapsIn(seqs: readonly number[], first = 1): [number, number][] {
  const gaps: [number, number][] = [];
  let expected = first;
  for (const seq of seqs) {
    if (seq > expected) gaps.push([expected, seq - 1]);
    expected = seq + 1;
  }
  return gaps;
}
