import type { CallOutcome, OutcomeName, Ran, Settlement } from './approval.ts';
import type { Viewed } from '../messages/viewed.ts';
import type { Identity } from '../people/entitlement.ts';
import type { GrantScope } from '../policy/grants.ts';
import type { Advice } from '../policy/advice.ts';
import type { Action } from '../policy/modes.ts';
import type { ProblemCode } from '../base/problem.ts';
import type { Severity, resultWithheldType } from '../base/tool-call.ts';

/** The root of the Merkle tree over the first `size` entries of a run's journal, 64 hex digits (docs/audit.md). */
export interface JournalHead {
  size: number;
  root: string;
}

/** A record of one step of the ledger, written into a payload that history keeps anyway. */
export interface JournalEntry {
  /** The number of the entry in all executions of the run, from 1 and without gaps. */
  seq: number;
  /** `heard`: the model receives the messages of a session's user, which ends earlier denials (docs/wire.md). */
  kind:
    | 'ruling'
    | 'opened'
    | 'vote'
    | 'settled'
    | 'ran'
    | 'refused'
    | 'grant'
    | 'revoked'
    | 'policy'
    | 'message'
    | 'heard'
    | 'reruled'
    | 'extended'
    | 'delegated'
    | 'warned'
    | 'reminded'
    | 'escalated';
  /** The time of the entry in ISO 8601, by the workflow's clock. For an entry `ran`: when the run wrote it. */
  at: string;
  /** The version of the engine that ruled. */
  engine: number;
  callId?: string;
  requestId?: string;
  toolName?: string;
  /** For a ruling and an opened request: the calling agent. */
  agent?: string;
  action?: Action;
  outcome?: OutcomeName;
  ran?: Ran;
  rule?: string | null;
  layer?: string;
  severity?: Severity;
  reason?: string;
  reviewerId?: string;
  /** The reviewer's name. The sender of the decision claims it. */
  reviewerName?: string;
  /** `claimed`: a name in a raw signal or update, accepted unless the rule demands more. */
  identity?: Identity;
  /** For a vote. */
  approved?: boolean;
  /** For a settled request: whether its tool runs. */
  runs?: boolean;
  /**
   * For a settled request: what superseded it. For an opened request: why it replaces request `byId`; `unknown` means
   * that its call was started before, perhaps without a request. For a delegated seat: `away` if the holder is away,
   * `operator` if operator `byId` moved the seat; absent if the holder gave it.
   */
  by?: Settlement['by'] | 'definition' | 'preview' | 'unknown' | 'away' | 'operator';
  byId?: string | null;
  /** For a ruling with the outcome `cached`: the id of the call whose result answered this one. */
  resultOf?: string;
  /** For a ruling and an opened request: what advisors answered about the call. */
  advice?: readonly Advice[];
  grantId?: string;
  scope?: GrantScope;
  voters?: readonly { reviewerId?: string; identity: Identity }[];
  /** For a grant: how often it answers, if that is limited. */
  uses?: number;
  /** For a grant that expires: ISO 8601. */
  expiresAt?: string;
  /** The reviewers who are asked: at the opening, in addition, or from now on. For a seat: its new holder. */
  to?: readonly string[];
  decisionId?: string;
  /** For a vote and for what a vote settled: what the reviewer saw, as the channel of the decision says. */
  viewed?: Viewed;
  /** The digest of the call; for a message of the user, that of its content's JSON. */
  digest?: string;
  /** The digest of the policies, when they change, and in the first ruling or opened request of an execution. */
  policyDigest?: string;
  deadline?: string | null;
  /** For a refused message: its problem. For `ran`: the result was withheld from the model, for this `reason`. */
  code?: ProblemCode | typeof resultWithheldType;
  /** Size of a refused payload, in characters of JSON, or in bytes if it cannot be decoded. Its content is not kept. */
  size?: number;
}

/** True if another request, `byId`, continues the question about the same call. */
export function isReplaced({ by }: Pick<JournalEntry, 'by'>): boolean {
  return by === 'edit';
}

/** Whether a call ran, after one more outcome. `no` does not replace `unknown`: the earlier start may have run. */
export function ranSince(before: Pick<CallOutcome, 'ran'> | undefined, ran: Ran): Ran {
  return before?.ran === 'unknown' && ran === 'no' ? 'unknown' : ran;
}
