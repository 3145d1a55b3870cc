/** The ledger's state, and steps that its commands share. It is plain JSON, which continue-as-new carries (I11). */
import type {
  ApprovalRequest,
  CallOutcome,
  OutcomeName,
  Receipt,
  RefusedDecision,
  ReviewerVote,
  Settlement,
} from './approval.ts';
import type { AskTerms } from '../policy/ask-terms.ts';
import type { Assessment } from '../assess/assessment.ts';
import type { BoundPreview } from '../base/bound-preview.ts';
import type { Delegation } from '../people/delegation.ts';
import type { Revoked } from '../people/revoked.ts';
import type { Denials, EarlierDenial } from './denials.ts';
import type { Directory } from '../people/directory.ts';
import type { Raised } from '../policy/advice.ts';
import type { Grant } from '../policy/grants.ts';
import type { ArgumentSums } from './argument-sums.ts';
import { type JournalEntry, isReplaced, ranSince } from './journal-entry.ts';
import { maxPendingBound, type Policy } from '../policy/policy.ts';
import type { ProblemCode } from '../base/problem.ts';
import type { Redaction } from '../redact/redaction.ts';
import type { ShellSplit } from '../shell/parts.ts';

/** An approval request in the ledger. `deadlineMs` is workflow time; null: it waits for ever. */
export interface RequestRecord {
  callId: string;
  deadlineMs: number | null;
  request: ApprovalRequest;
  terms: AskTerms;
  votes: ReviewerVote[];
  /** Delegated seats, in the order of delegation. */
  delegations: Delegation[];
  /** Workflow time up to which the escalation steps were taken. */
  stepsTakenUntilMs: number;
  /** True: reviewers saw no arguments when the request opened. They stay hidden, whatever the policy says later. */
  hidden?: true;
  /** The longest time that the tool's `preview` may take, in milliseconds. Absent: the tool has no preview. */
  previewTimeoutMs?: number;
  /** What an approval binds of the preview. Absent: nothing. */
  bound?: BoundPreview;
  /** What reviewers do not see of the arguments: it stays hidden, whatever the policy says later. */
  redaction?: Redaction;
  /** What reviewers do not see of the arguments that a reviewer wrote. */
  editedRedaction?: Redaction;
  /** Further inputs of the ruling, which is made again if the policy changes. */
  ruled: {
    definition: string;
    subject?: string;
    shell?: ShellSplit;
    beside?: readonly string[];
    /** The tool's `show`. */
    show?: readonly string[];
    assessment?: Assessment;
    /** The severity to which an advisor raised the call. */
    raised?: Raised;
    /** True if only people may answer: the preview changed after an approval, or the call may have run. */
    peopleOnly?: true;
    /** True if the call was started before, with an unknown outcome. It starts again only if a person approves. */
    mayHaveRun?: true;
  };
  /** The earlier denials of an identical call when the request was opened. */
  deniedBefore?: EarlierDenial;
  /** For a request that replaces others: the first request about its call. */
  origin?: { requestId: string; digest: string; requestedAt: string };
  /** The reviewers who made the grant that let the call run; the grant may be used up. Absent: no grant did. */
  grantedBy?: Grant['by'];
}

export interface SettledRequest extends RequestRecord {
  settlement: Settlement;
}

export interface Ledger {
  /** Sequence number of the last journal entry. */
  seq: number;
  engine: number;
  open: RequestRecord[];
  /** The last `settledKept` settled requests, without large arguments. */
  settled: SettledRequest[];
  /** Requests that were settled earlier than those in `settled`: only id and outcome. */
  past: { requestId: string; outcome: OutcomeName }[];
  outcomes: CallOutcome[];
  /** The last `outcomesKept` calls that were allowed without a request, by the start of their digest. Absent: none. */
  allowed?: { callId: string; digest: string; atMs: number }[];
  /** `irreversible`: irreversible calls that were allowed to run or are pending. */
  counts: { calls: number; asks: number; denials: number; irreversible: number };
  /** The sums over the arguments of admitted calls. Absent while there are none. */
  sums?: ArgumentSums;
  refused: { last: RefusedDecision[]; total: number };
  /** The grants and standing denials that decisions with "always" made. */
  grants: Grant[];
  /** Number of grants ever made, which gives the next one's number. */
  granted: number;
  /** When the last operator message that loosened something was signed. The next one must be signed later. */
  operatorMs: number;
  /** The last `answeredKept` messages with an id that changed something, except decisions: a retry gets its receipt. */
  answered: { messageId: string; contentDigest: string; receipt: Receipt }[];
  denied: Denials;
}

/** As many as can be open at once: all of them may be settled before the run reads the outcomes. */
export const settledKept = maxPendingBound;
export const outcomesKept = 200;
export const refusedKept = 50;
export const pastKept = 1_000;
export const maxGrants = 100;
export const answeredKept = 100;
/** The most votes on a request. Further votes count only if they bring the request nearer to its settlement. */
export const maxVotes = 100;
const keptArgumentsLength = 4_000;

/** The directory of each layer, for its groups. A layer without one uses that of the nearest layer above. */
export interface Directories {
  ceiling?: Directory;
  parents?: readonly (Directory | undefined)[];
  run?: Directory;
  /** The keys of the operator's policy, with which people verify who they are. */
  reviewerKeys?: Policy['reviewerKeys'];
  /** Revoked keys and people. */
  revoked?: Revoked;
}

export interface Reduction {
  ledger: Ledger;
  entries: JournalEntry[];
  receipt?: Receipt;
}

/** The ledger of a run that begins. `engine`: the version of the ruling that the run keeps. */
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

/** An open request, or a settled one with its settlement; undefined if the ledger has neither. */
export function requestOf(ledger: Ledger, requestId: string): RequestRecord | SettledRequest | undefined {
  return findOpen(ledger, requestId) ?? ledger.settled.find((each) => each.request.requestId === requestId);
}

export function findOpen(ledger: Ledger, requestId: string): RequestRecord | undefined {
  return ledger.open.find((each) => each.request.requestId === requestId);
}

/** The request, or the last request that replaced it. The ledger may have dropped those in between. */
export function requestInPlaceOf(ledger: Ledger, requestId: string): RequestRecord | SettledRequest | undefined {
  const replaces = (each: RequestRecord): boolean => each.origin?.requestId === requestId;
  const last = ledger.settled.findLast(replaces) ?? ledger.settled.find((each) => each.request.requestId === requestId);
  const open = ledger.open.find(replaces) ?? findOpen(ledger, requestId);
  if (open !== undefined || last === undefined || !isReplaced(last.settlement)) return open ?? last;
  return requestInPlaceOf(ledger, last.settlement.byId!);
}

export function withRequest(ledger: Ledger, record: RequestRecord): Ledger {
  const { requestId } = record.request;
  return { ...ledger, open: ledger.open.map((each) => (each.request.requestId === requestId ? record : each)) };
}

/** Adds or replaces a call's outcome. An unknown outcome stays unknown if the call is not started again. */
export function withOutcome({ outcomes }: Pick<Ledger, 'outcomes'>, call: CallOutcome): CallOutcome[] {
  const before = outcomes.find(({ callId }) => callId === call.callId);
  if (before === undefined) return [...outcomes, call].slice(-outcomesKept);
  return outcomes.map((each) => (each === before ? { ...call, ran: ranSince(before, call.ran) } : each));
}

/** The ledger's counts with the numbers in `more` added, of which a negative one takes calls off again. */
export function counted({ counts }: Pick<Ledger, 'counts'>, more: Partial<Ledger['counts']>): Ledger['counts'] {
  const { calls = 0, asks = 0, denials = 0, irreversible = 0 } = more;
  return {
    calls: counts.calls + calls,
    asks: counts.asks + asks,
    denials: counts.denials + denials,
    irreversible: counts.irreversible + irreversible,
  };
}

/** Adds one journal entry, under the next sequence number. Fields without a value are left out. */
export function journaled(
  { ledger, entries, receipt }: Reduction,
  atMs: number,
  entry: Omit<JournalEntry, 'seq' | 'at' | 'engine'>,
): Reduction {
  const seq = ledger.seq + 1;
  const whole = { seq, at: iso(atMs), engine: ledger.engine, ...entry };
  const written = Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined));
  return { ledger: { ...ledger, seq }, entries: [...entries, written as unknown as JournalEntry], receipt };
}

/** Applies a second step to the ledger of the first. Returns the entries of both and the receipt of the second. */
export function chained(first: Reduction, step: (ledger: Ledger) => Reduction): Reduction {
  const second = step(first.ledger);
  return { ...second, entries: [...first.entries, ...second.entries] };
}

export function irreversibleCount({ reversible }: { reversible: boolean }): number {
  return reversible ? 0 : 1;
}

/** The result of a command that writes no journal entry. */
export function unchanged(ledger: Ledger, receipt?: Receipt): Reduction {
  return { ledger, entries: [], receipt };
}

export function refusalOf(ledger: Ledger, requestId: string, code: ProblemCode, message: string): Reduction {
  return unchanged(ledger, { requestId, accepted: false, code, message });
}

/** The request without large arguments: continue-as-new carries settled requests, and history has the arguments. */
export function kept(request: ApprovalRequest): ApprovalRequest {
  const small = JSON.stringify(request.arguments).length <= keptArgumentsLength;
  return small ? request : { ...request, arguments: {}, shown: 'part' };
}

export function iso(atMs: number): string {
  // oxlint-disable-next-line no-restricted-globals -- formats a given time; reads no clock
  return new Date(atMs).toISOString();
}
