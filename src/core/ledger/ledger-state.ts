/**
 * What the ledger holds, and the few steps that all its commands are made of. Plain JSON: continue-as-new carries it
 * whole (I11).
 */
import type { ApprovalRequest, CallOutcome, OutcomeName, Receipt, RefusedDecision, Settlement } from './approval.ts';
import type { AskTerms } from '../policy/ask-terms.ts';
import type { Assessment } from '../assess/assessment.ts';
import type { RequestedScope } from '../messages/decision.ts';
import type { Directory } from '../people/directory.ts';
import type { Identity } from '../people/entitlement.ts';
import type { Grant } from '../policy/grants.ts';
import type { JournalEntry } from './journal-entry.ts';
import { isReplaced } from './is-replaced.ts';
import { maxPendingBound } from '../policy/policy.ts';
import type { ProblemCode } from '../base/problem.ts';
import type { ShellSplit } from '../shell/parts.ts';

/** One person's word on one request. */
export interface RecordedVote {
  reviewerId?: string;
  identity: Identity;
  approved: boolean;
  at: string;
  reason?: string;
  decisionId?: string;
  always?: boolean | RequestedScope;
  /** Digest of the decision, for retries under the same decision id. */
  said: string;
}

/** An approval request in the book. `deadlineMs` is workflow time; null waits for ever. */
export interface RequestRecord {
  callId: string;
  deadlineMs: number | null;
  request: ApprovalRequest;
  /** What the rules that asked demand. */
  terms: AskTerms;
  votes: RecordedVote[];
  /** Seats that were handed on, in the order in which that happened. */
  delegations: { from: string; to: string }[];
  /** Workflow time up to which the steps of the ladder were taken. */
  ladderMs: number;
  /** Asked where reviewers are not shown arguments: of this one they never are, whatever holds later. */
  hidden?: true;
  /** What a ruling looks at besides the request, for when the policy changes. */
  ruled: { definition: string; subject?: string; shell?: ShellSplit; assessment?: Assessment };
  /** Of a request that stands in another's place: the one in which its call was first asked about. */
  origin?: { requestId: string; digest: string; requestedAt: string };
}

export interface SettledRequest extends RequestRecord {
  settlement: Settlement;
}

export interface Ledger {
  /** Sequence number of the last journal entry. */
  seq: number;
  engine: number;
  open: RequestRecord[];
  /** The last `settledKept`, whole (large arguments left out). */
  settled: SettledRequest[];
  /** Older ones, by id and outcome only. */
  past: { requestId: string; outcome: OutcomeName }[];
  outcomes: CallOutcome[];
  /** `irreversible`: irreversible calls that were let run or are pending (policy section 6). */
  counts: { calls: number; asks: number; denials: number; irreversible: number };
  refused: { last: RefusedDecision[]; total: number };
  /** What "always" left behind, standing denials included. */
  grants: Grant[];
  /** Grants ever made: the next one's number. */
  granted: number;
  /** When the last message was signed by which an operator loosened something, in milliseconds: none comes twice. */
  operatorMs: number;
  /** The last `answeredKept` messages with an id that changed something, decisions aside: a retry gets its receipt again. */
  answered: { messageId: string; said: string; receipt: Receipt }[];
  /** Reviewers' denials: how many for each tool, and the last `deniedKept` calls. */
  denied: { byTool: Record<string, number>; calls: { digest: string; reason?: string }[] };
}

/** No fewer than may be open at once: all of them can be settled before the run looks. */
export const settledKept = maxPendingBound;
export const deniedKept = 200;
export const outcomesKept = 200;
export const refusedKept = 50;
export const pastKept = 1_000;
export const maxGrants = 100;
export const answeredKept = 100;
/** Votes on one request; more count only where they bring its settlement nearer. */
export const maxVotes = 100;
const keptArgumentsLength = 4_000;

/** Who belongs to a group, by whose requirement it is; a layer without a directory of its own takes the ceiling's. */
export interface Directories {
  ceiling?: Directory;
  parents?: readonly (Directory | undefined)[];
  run?: Directory;
}

/** What a command made of the ledger. */
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
    grants: [],
    granted: 0,
    operatorMs: 0,
    answered: [],
    denied: { byTool: {}, calls: [] },
  };
}

/** How a request stands: open, settled with its settlement, or not of this run. */
export function findRequest(ledger: Ledger, requestId: string): RequestRecord | SettledRequest | undefined {
  return findOpen(ledger, requestId) ?? ledger.settled.find((each) => each.request.requestId === requestId);
}

export function findOpen(ledger: Ledger, requestId: string): RequestRecord | undefined {
  return ledger.open.find((each) => each.request.requestId === requestId);
}

/**
 * The request itself, or the one that stands in its place: edits may have put many there, one after another, and those
 * between may have been dropped.
 */
export function requestInPlaceOf(ledger: Ledger, requestId: string): RequestRecord | SettledRequest | undefined {
  const standsFor = (each: RequestRecord): boolean => each.origin?.requestId === requestId;
  const last =
    ledger.settled.findLast(standsFor) ?? ledger.settled.find((each) => each.request.requestId === requestId);
  const open = ledger.open.find(standsFor) ?? findOpen(ledger, requestId);
  if (open !== undefined || last === undefined || !isReplaced(last.settlement)) return open ?? last;
  return requestInPlaceOf(ledger, last.settlement.byId!);
}

/** Puts another version of an open request in its place. */
export function withRequest(ledger: Ledger, record: RequestRecord): Ledger {
  const { requestId } = record.request;
  return { ...ledger, open: ledger.open.map((each) => (each.request.requestId === requestId ? record : each)) };
}

export function counted({ counts }: Ledger, more: Partial<Ledger['counts']>): Ledger['counts'] {
  const { calls = 0, asks = 0, denials = 0, irreversible = 0 } = more;
  return {
    calls: counts.calls + calls,
    asks: counts.asks + asks,
    denials: counts.denials + denials,
    irreversible: counts.irreversible + irreversible,
  };
}

/** One more denial of a tool by a reviewer, the call itself remembered. */
export function withDenial(ledger: Ledger, toolName: string, digest: string, reason: string | undefined): Ledger {
  const { byTool, calls } = ledger.denied;
  const remembered = [...calls.filter((each) => each.digest !== digest), { digest, ...(reason && { reason }) }];
  return {
    ...ledger,
    counts: counted(ledger, { denials: 1 }),
    denied: {
      byTool: { ...byTool, [toolName]: denialsOf(ledger, toolName) + 1 },
      calls: remembered.slice(-deniedKept),
    },
  };
}

/** Reviewers' denials of a tool in this run. */
export function denialsOf({ denied: { byTool } }: Ledger, toolName: string): number {
  return Object.hasOwn(byTool, toolName) ? byTool[toolName]! : 0;
}

/** Adds one entry under the next sequence number; fields without a value are left out. */
export function journaled(
  { ledger, entries, receipt }: Reduction,
  atMs: number,
  entry: Omit<JournalEntry, 'seq' | 'at' | 'engine'>,
): Reduction {
  const seq = ledger.seq + 1;
  const whole = { seq, at: iso(atMs), engine: ledger.engine, ...entry };
  const written = Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined));
  return {
    ledger: { ...ledger, seq },
    entries: [...entries, written as unknown as JournalEntry],
    ...(receipt && { receipt }),
  };
}

/** What a second step makes of a first one's ledger: the entries of both, the second's receipt. */
export function chained(first: Reduction, step: (ledger: Ledger) => Reduction): Reduction {
  const second = step(first.ledger);
  return { ...second, entries: [...first.entries, ...second.entries] };
}

/** What a call that cannot be undone adds to that count. */
export function irreversibleCount({ reversible }: { reversible: boolean }): number {
  return reversible ? 0 : 1;
}

export function unchanged(ledger: Ledger, receipt?: Receipt): Reduction {
  return { ledger, entries: [], ...(receipt && { receipt }) };
}

export function refusal(ledger: Ledger, requestId: string, code: ProblemCode, message: string): Reduction {
  return unchanged(ledger, { requestId, accepted: false, code, message });
}

/** Settled requests travel through continue-as-new: large arguments stay in history only. */
export function kept(request: ApprovalRequest): ApprovalRequest {
  const small = JSON.stringify(request.arguments).length <= keptArgumentsLength;
  return small ? request : { ...request, arguments: {}, shown: 'part' };
}

/** ISO 8601 UTC of workflow time. */
export function iso(atMs: number): string {
  // oxlint-disable-next-line no-restricted-globals -- a calendar, not a clock: the instant is given
  return new Date(atMs).toISOString();
}
