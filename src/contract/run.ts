/** The shapes of a run between client, run and worker: its input, its result, its status and its requests. */
import type {
  ApprovalRequest,
  CallOutcome,
  RefusedDecision,
  ReviewerVote,
  Settlement,
  UserMessages,
} from '../core/ledger/approval.ts';
import type { AlwaysTerms } from '../core/ledger/make-grant.ts';
import type { EarlierAccount } from '../core/ledger/earlier-accounts.ts';
import type { EarlierDenial } from '../core/ledger/denials.ts';
import type { EarlierRun } from '../core/ledger/earlier-run.ts';
import type { Escalated } from '../core/ledger/escalation.ts';
import type { BoundPreview } from '../core/base/bound-preview.ts';
import type { CallPreview } from '../core/base/call-preview.ts';
import type { JournalEntry, JournalHead } from '../core/ledger/journal-entry.ts';
import type { WaitingFor } from '../core/ledger/waiting-for.ts';
import type { Delegation } from '../core/people/delegation.ts';
import type { NamedPerson } from '../core/people/directory.ts';
import type { Mode } from '../core/policy/modes.ts';
import type { Policy } from '../core/policy/policy.ts';
import type { Problem } from '../core/base/problem.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';
import type { Usage, Unfinished } from '../core/base/model-answer.ts';
import type { UserFile } from '../core/base/user-files.ts';
import type { RunCost } from '../core/policy/run-cost.ts';

/**
 * One message of a run's transcript. `content` is text; a tool's result is its JSON. `messageId`: under which the user
 * of a session sent it, once, at most 200 characters. `files`: 1 to 20, if the agent accepts them; `content` may be
 * empty beside them. Query `transcript` returns them without their data.
 */
export type Message =
  | { role: 'user'; content: string; files?: UserFile[]; messageId?: string }
  | { role: 'assistant'; content: string; toolCalls?: { id: string; name: string; arguments: Json }[] }
  | { role: 'tool'; toolCallId: string; toolName: string; content: string; isError?: boolean };

/** The user of a run, as its starter claims. Conditions of the policy read it. */
export interface Caller {
  userId: string;
  groups?: string[];
}

/** The argument of workflow `agentRun`. Only the first two fields are required. */
export interface RunInput {
  /** The agent's name. */
  agent: string;
  /** A text is one message of the user. */
  input: string | Message[];
  /** A policy document (a policy file, as JSON). It can only tighten the operator's ceiling. */
  policy?: JsonObject;
  /** Applies to the run's side of the policy (docs/policy-reference.md), never to the operator's ceiling. */
  mode?: Mode;
  caller?: Caller;
  /** Available to conditions of the policy and shown to reviewers. */
  metadata?: JsonObject;
  /** Keeps the run open for messages of its user: it ends by `close`, `cancel` or a limit. Not for nested runs. */
  session?: true;
  /** Only in the input of a nested run, written by the run that starts it; refused in any other input. */
  parent?: ParentOfRun;
}

/** The lineage and policies that a nested run inherits. They only tighten: forged ones restrict the forger's run. */
export interface ParentOfRun {
  /** Workflow ids of the runs above, the root's first. */
  lineage: string[];
  /** The policies that bind these runs, outermost first. */
  policies: Policy[];
}

/**
 * The state of a run. `waiting`: a request is open, or was when a worker last ran. `closed`: the run received `close`.
 * `limit`: the run reached a limit of its agent or of a policy, or its transcript became too large.
 */
export type RunStatusName = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'closed' | 'limit';

/** The result of workflow `agentRun`. */
export interface RunResult {
  status: RunStatusName;
  /** The model's last text; for `limit`, the name of the reached limit. */
  output: string;
  /** Why `output` may be incomplete. Absent: it is complete. */
  finish?: Unfinished;
  /** The final answer, if the agent declares an `output`: parsed by its schema. */
  structuredOutput?: JsonObject;
  usage: Usage;
  /** Tokens of the nested runs that have ended, and of those below them. Absent: none has. */
  nestedUsage?: Usage;
  /** By the operator's prices; absent without these. */
  cost?: RunCost;
  /** The last 200 calls, oldest first. */
  outcomes: CallOutcome[];
  /** Journal entries that no earlier payload carried. */
  journal?: JournalEntry[];
  /** Commits the run to all its journal entries. Absent: it ended before its policies were known. */
  journalHead?: JournalHead;
}

/** The answer of query `approvals` with a request id, for open and settled requests. */
export interface ApprovalDetails extends ApprovalRequest {
  /** Absent while the request is open. */
  settled?: Settlement;
  /** Votes so far, if more than one is needed. */
  votes?: ReviewerVote[];
  /** For an open request: the approvals that count so far, and how many are needed. */
  approvals?: { have: number; need: number };
  /**
   * For an open request that names reviewers: the people whose approval would count now, members of groups included.
   * Absent: every person's would, or they are more than 200.
   */
  approvers?: string[];
  /** For an open request: the escalation steps that have added reviewers so far, oldest first. Absent: none. */
  escalated?: Escalated[];
  /** For an open request that no further votes can approve: the reason. Only if all its people are known. */
  cannotBeApproved?: string;
  /**
   * The names and further ids that the operator's directory has for the caller, reviewers, voters and delegates, by id.
   * Settled requests have it, too. Absent: it has none.
   */
  people?: Record<string, NamedPerson>;
  /** For an open request: the names of the channels that carry it. Absent: none does. */
  channels?: string[];
  /** Delegated seats, in the order of delegation. */
  delegations?: Delegation[];
  /** For an open request that shows all of its arguments: what an "always" may cover. Absent: the rules admit none. */
  always?: AlwaysTerms;
  /** The JSON Schema of the tool's arguments, as the run recorded it. Absent if it is unknown or larger than 32 kB. */
  schema?: JsonObject;
  /** For an open request: the effect of the call. Absent: the tool has no `preview`, or the policy hides arguments. */
  preview?: CallPreview;
  /** For an open request of a session: its user's messages since the model's call. Absent: none. */
  userMessages?: UserMessages;
  /** For an open request: an earlier execution of the same call. Absent: none, as far as the run remembers. */
  ranBefore?: EarlierRun;
  /** For an open request: an earlier denial of the same call by reviewers. Absent: none that the run remembers. */
  deniedBefore?: EarlierDenial;
  /** For an open request: its bank accounts, compared with earlier requests. Absent: none, or the run cannot tell. */
  accounts?: EarlierAccount[];
}

/** A reviewer whose vote let a call run. */
export interface ApprovedBy {
  /** Absent: anonymous. */
  reviewerId?: string;
  /** The id of the key that signed. Absent: unsigned. */
  keyId?: string;
}

/** The first argument of every tool activity: the proof that this call passed the gate. */
export interface Permit {
  /** The run's workflow id. */
  workflowId: string;
  /** Temporal's run id of the run's first execution: no other run has it. */
  firstExecutionRunId: string;
  callId: string;
  /** The digest of the call that passed: 64 hex characters. */
  digest: string;
  outcome: 'allowed' | 'approved';
  /** Present if a reviewer approved. */
  requestId?: string;
  /** Present if the policy allowed: the id of the rule, or null for a risk default. */
  rule?: string | null;
  /** Hash of the tool's definition, as the run recorded it; the digest covers it. */
  definition: string;
  agent: string;
  caller?: Caller;
  /** The version of the engine that ruled on the call. */
  engine: number;
  /** The reviewers who approved the call, or made the grant that answered it. Absent: a rule allowed the call. */
  approvedBy?: ApprovedBy[];
  /** What reviewers saw of the preview of a tool that binds it. Absent: the approval binds no preview. */
  bound?: BoundPreview;
  /** True: if the outcome is unknown, the tool is asked what became of the call. */
  reconciles?: true;
  /** True: the worker heartbeats for a gated activity. */
  heartbeats?: boolean;
  /** Entries that no earlier payload carried. */
  journal?: JournalEntry[];
}

/** The delivery of a request to its channels: the answer of query `deliveries` has one for each open request. */
export interface Delivered {
  requestId: string;
  /** The channels that were asked. */
  channels: string[];
  /** Why messages and answers failed, newest last. */
  failures: string[];
  /** True: at least one channel has tried, and none could deliver the request yet. Absent: otherwise. */
  undelivered?: true;
  /** ISO 8601: until then channels hold the request back, for quiet hours or to collect others. Absent: they do not. */
  heldUntil?: string;
}

/** The answer of query `run`. */
export interface RunStatus {
  workflowId: string;
  /** The agent in charge now; after a handoff, the one that took over. */
  agent: string;
  status: RunStatusName;
  /** The number of model calls so far. */
  turn: number;
  /** The number of executions so far: 1 until the run continues as new. */
  executions: number;
  usage: Usage;
  /** Tokens of the nested runs that have ended, and of those below them. Absent: none has. */
  nestedUsage?: Usage;
  /** By the operator's prices; absent without these. */
  cost?: RunCost;
  /** Calls with a ruling, requests, open requests, denials by reviewers, and refused messages. */
  counts: { calls: number; asks: number; open: number; denials: number; refused: number };
  /** For whom the run waits, and until when; absent if no request is open. */
  waitingFor?: WaitingFor[];
  /** True: a session waits for its user: it has answered, or its last model call failed. Absent: it does not. */
  awaitsMessage?: true;
  /** The failed model call of a session: a message or a `retry` calls the model again. Absent: none failed. */
  failedTurn?: Problem & { turn: number };
  /** The last 200 calls, oldest first. */
  outcomes: CallOutcome[];
  /** Nested runs that this run waits for; absent if there are none. */
  nested?: { callId: string; agent: string; workflowId: string }[];
  /** Messages that were refused and changed nothing: the last 50, and the total. */
  refused: { last: RefusedDecision[]; total: number };
}
