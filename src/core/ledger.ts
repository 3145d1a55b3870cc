/**
 * The ledger: the run's own book of calls, requests and refusals. A pure reducer: `reduce(ledger, command)` gives
 * the next ledger, the journal entries that say what it decided, and a receipt for a decision. It reads no clock:
 * each command says when it happened, and a decision counts when that is not after the deadline (I6).
 */
import type {
  ApprovalRequest,
  CallOutcome,
  OutcomeName,
  Ran,
  Receipt,
  RefusedDecision,
  Settlement,
} from './approval.ts';
import type { JournalEntry } from './journal-entry.ts';
import type { ParsedDecision } from './decision.ts';
import { sameDecision } from './decision.ts';
import { maxPendingBound } from './policy.ts';
import type { ProblemCode } from './problem.ts';
import type { Ruling } from './ruling.ts';

/** An approval request in the book. `deadlineMs` is workflow time; null waits for ever. */
export interface BookedRequest {
  callId: string;
  deadlineMs: number | null;
  request: ApprovalRequest;
}

export interface SettledRequest extends BookedRequest {
  settlement: Settlement;
  /** The decision that settled it, for retries under the same decision id. */
  decision?: ParsedDecision;
}

export interface Ledger {
  /** Sequence number of the last journal entry. */
  seq: number;
  engine: number;
  open: BookedRequest[];
  /** The last `settledKept`, whole (large arguments left out). */
  settled: SettledRequest[];
  /** Older ones, by id and outcome only. */
  past: { requestId: string; outcome: OutcomeName }[];
  outcomes: CallOutcome[];
  /** `irreversible`: irreversible calls that were let run or are pending (policy section 6). */
  counts: { calls: number; asks: number; denials: number; irreversible: number };
  refused: { last: RefusedDecision[]; total: number };
}

/** No fewer than may be open at once: all of them can be settled before the run looks. */
export const settledKept = maxPendingBound;
const keptArgumentsLength = 4_000;
const pastKept = 1_000;
const outcomesKept = 200;
const refusedKept = 50;

export type LedgerCommand =
  /** The policy allowed or denied, or a limit refused: settled at once, with no request. */
  | {
      kind: 'rule';
      atMs: number;
      callId: string;
      toolName: string;
      outcome: OutcomeName;
      ruling?: Ruling;
      digest?: string;
      reason?: string;
      /** Default true. */
      reversible?: boolean;
    }
  | { kind: 'open'; atMs: number; booked: BookedRequest; ruling: Ruling }
  | { kind: 'decide'; atMs: number; decision: ParsedDecision }
  | { kind: 'expire' | 'cancel'; atMs: number; requestId: string; reason?: string }
  | { kind: 'refuse'; atMs: number; refused: RefusedDecision }
  | { kind: 'ran'; atMs: number; callId: string; ran: Ran };

export interface Reduction {
  ledger: Ledger;
  entries: JournalEntry[];
  receipt?: Receipt;
}

export function emptyLedger(engine: number): Ledger {
  return {
    seq: 0,
    engine,
    open: [],
    settled: [],
    past: [],
    outcomes: [],
    counts: { calls: 0, asks: 0, denials: 0, irreversible: 0 },
    refused: { last: [], total: 0 },
  };
}

export function reduce(ledger: Ledger, command: LedgerCommand): Reduction {
  switch (command.kind) {
    case 'rule':
      return rule(ledger, command);
    case 'open':
      return open(ledger, command);
    case 'decide':
      return decide(ledger, command.decision, command.atMs);
    case 'expire':
    case 'cancel':
      return lapse(ledger, command);
    case 'refuse':
      return refuse(ledger, command.refused, command.atMs);
    case 'ran':
      return ran(ledger, command);
  }
}

/** How a request stands: open, settled with its settlement, or not of this run. */
export function findRequest(ledger: Ledger, requestId: string): BookedRequest | SettledRequest | undefined {
  const sameId = (booked: BookedRequest): boolean => booked.request.requestId === requestId;
  return ledger.open.find(sameId) ?? ledger.settled.find(sameId);
}

function rule(ledger: Ledger, command: Extract<LedgerCommand, { kind: 'rule' }>): Reduction {
  const { callId, toolName, outcome, ruling, digest, reason, reversible = true } = command;
  const irreversible = outcome === 'allowed' && !reversible ? 1 : 0;
  const calls = { callId, toolName, outcome, ran: outcome === 'allowed' ? ('pending' as const) : ('no' as const) };
  return journaled(
    {
      ...ledger,
      counts: counted(ledger, { calls: 1, irreversible }),
      outcomes: [...ledger.outcomes, calls].slice(-outcomesKept),
    },
    command.atMs,
    {
      kind: 'ruling',
      callId,
      toolName,
      outcome,
      digest,
      ...facts(ruling),
      ...(reason === undefined ? {} : { reason }),
    },
  );
}

function open(ledger: Ledger, command: Extract<LedgerCommand, { kind: 'open' }>): Reduction {
  const { booked, ruling } = command;
  const { requestId, toolName, digest, deadline } = booked.request;
  return journaled(
    {
      ...ledger,
      open: [...ledger.open, booked],
      counts: counted(ledger, { calls: 1, asks: 1, irreversible: booked.request.assessment.reversible ? 0 : 1 }),
    },
    command.atMs,
    { kind: 'opened', callId: booked.callId, requestId, toolName, digest, deadline, ...facts(ruling) },
  );
}

function decide(ledger: Ledger, decision: ParsedDecision, atMs: number): Reduction {
  const { requestId, approved, reason, reviewerId, decisionId } = decision;
  const booked = ledger.open.find((each) => each.request.requestId === requestId);
  if (booked === undefined) return answerSettled(ledger, decision);
  if (booked.deadlineMs !== null && atMs > booked.deadlineMs) {
    return refusal(ledger, requestId, 'expired', `request ${requestId} expired at ${booked.request.deadline}`);
  }
  if (decision.digest !== undefined && decision.digest !== booked.request.digest) {
    return refusal(
      ledger,
      requestId,
      'digest_mismatch',
      `the digest is not that of request ${requestId}: look at it again`,
    );
  }
  const outcome = approved ? 'approved' : 'denied';
  const settlement: Settlement = { outcome, reason, reviewerId, decisionId, settledAt: iso(atMs) };
  const settled = settle(ledger, booked, settlement, atMs, decision);
  return { ...settled, receipt: { requestId, accepted: true, outcome, message: receiptMessage(requestId, outcome) } };
}

/** A decision for a request that is not open: the original receipt for a retry, a refusal for all else (I3, I4). */
function answerSettled(ledger: Ledger, decision: ParsedDecision): Reduction {
  const { requestId, decisionId } = decision;
  const settled = ledger.settled.find((each) => each.request.requestId === requestId);
  const outcome = settled?.settlement.outcome ?? ledger.past.find((each) => each.requestId === requestId)?.outcome;
  if (outcome === undefined)
    return refusal(ledger, requestId, 'unknown_request', `this run has no request ${requestId}`);
  if (settled?.decision !== undefined && decisionId !== undefined && sameDecision(settled.decision, decision)) {
    return {
      ledger,
      entries: [],
      receipt: { requestId, accepted: true, outcome, message: receiptMessage(requestId, outcome) },
    };
  }
  const code = outcome === 'expired' ? 'expired' : outcome === 'cancelled' ? 'run_closed' : 'already_settled';
  const settledBy = settled?.settlement.reviewerId;
  const by = settledBy === undefined ? '' : ` by ${settledBy}`;
  const told = refusal(ledger, requestId, code, `request ${requestId} was already settled${by}: ${outcome}`);
  return { ...told, receipt: { ...told.receipt!, outcome, settledBy } };
}

function lapse(ledger: Ledger, command: Extract<LedgerCommand, { kind: 'expire' | 'cancel' }>): Reduction {
  const booked = ledger.open.find((each) => each.request.requestId === command.requestId);
  if (booked === undefined) return { ledger, entries: [] };
  const outcome = command.kind === 'expire' ? 'expired' : 'cancelled';
  return settle(ledger, booked, { outcome, reason: command.reason, settledAt: iso(command.atMs) }, command.atMs);
}

function settle(
  ledger: Ledger,
  booked: BookedRequest,
  settlement: Settlement,
  atMs: number,
  decision?: ParsedDecision,
): Reduction {
  const { requestId, toolName, digest } = booked.request;
  const { outcome, reason, reviewerId, decisionId } = settlement;
  const settled = [...ledger.settled, { ...booked, request: kept(booked.request), settlement, decision }];
  const dropped = settled
    .slice(0, -settledKept)
    .map((each) => ({ requestId: each.request.requestId, outcome: each.settlement.outcome }));
  const call = {
    callId: booked.callId,
    toolName,
    requestId,
    outcome,
    ran: outcome === 'approved' ? 'pending' : 'no',
  } as const;
  const denials = outcome === 'denied' ? 1 : 0;
  // A call that will not run after all no longer counts.
  const irreversible = outcome === 'approved' || booked.request.assessment.reversible ? 0 : -1;
  return journaled(
    {
      ...ledger,
      open: ledger.open.filter((each) => each !== booked),
      settled: settled.slice(-settledKept),
      past: [...ledger.past, ...dropped].slice(-pastKept),
      outcomes: [...ledger.outcomes, call].slice(-outcomesKept),
      counts: counted(ledger, { denials, irreversible }),
    },
    atMs,
    {
      kind: 'settled',
      callId: booked.callId,
      requestId,
      toolName,
      outcome,
      reason,
      reviewerId,
      identity: decision === undefined ? undefined : reviewerId === undefined ? 'anonymous' : 'claimed',
      decisionId,
      digest,
    },
  );
}

/** Settled requests travel through continue-as-new: large arguments stay in history only. */
function kept(request: ApprovalRequest): ApprovalRequest {
  const small = JSON.stringify(request.arguments).length <= keptArgumentsLength;
  return small ? request : { ...request, arguments: {}, shown: 'part' };
}

function refuse(ledger: Ledger, refused: RefusedDecision, atMs: number): Reduction {
  const { last, total } = ledger.refused;
  const next = { ...ledger, refused: { last: [...last, refused].slice(-refusedKept), total: total + 1 } };
  // A flood must not fill the journal either: past the first 50, only the count goes on (I4).
  if (total >= refusedKept) return { ledger: next, entries: [] };
  return journaled(next, atMs, { kind: 'refused', ...refused });
}

function ran(ledger: Ledger, command: Extract<LedgerCommand, { kind: 'ran' }>): Reduction {
  const { callId, ran: how } = command;
  const outcomes = ledger.outcomes.map((each) => (each.callId === callId ? { ...each, ran: how } : each));
  return journaled({ ...ledger, outcomes }, command.atMs, { kind: 'ran', callId, ran: how });
}

function counted({ counts }: Ledger, more: Partial<Ledger['counts']>): Ledger['counts'] {
  const { calls = 0, asks = 0, denials = 0, irreversible = 0 } = more;
  return {
    calls: counts.calls + calls,
    asks: counts.asks + asks,
    denials: counts.denials + denials,
    irreversible: counts.irreversible + irreversible,
  };
}

function refusal(ledger: Ledger, requestId: string, code: ProblemCode, message: string): Reduction {
  return { ledger, entries: [], receipt: { requestId, accepted: false, code, message } };
}

function facts(ruling: Ruling | undefined): Partial<JournalEntry> {
  if (ruling === undefined) return {};
  const { action, rule: ruleId, layer, severity, reason } = ruling;
  return { action, rule: ruleId, layer, severity, reason };
}

/** Adds one entry under the next sequence number; fields without a value are left out. */
function journaled(ledger: Ledger, atMs: number, entry: Omit<JournalEntry, 'seq' | 'at' | 'engine'>): Reduction {
  const seq = ledger.seq + 1;
  const whole = { seq, at: iso(atMs), engine: ledger.engine, ...entry };
  const written = Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined));
  return { ledger: { ...ledger, seq }, entries: [written as unknown as JournalEntry] };
}

function receiptMessage(requestId: string, outcome: OutcomeName): string {
  return `request ${requestId}: ${outcome}`;
}

/** ISO 8601 UTC of workflow time. */
export function iso(atMs: number): string {
  // oxlint-disable-next-line no-restricted-globals -- a calendar, not a clock: the instant is given
  return new Date(atMs).toISOString();
}
