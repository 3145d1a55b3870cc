/** The shapes that client, run and worker exchange: the input, result, status and requests of a run. */
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
 * One message of a run's transcript. `content` is text; for a tool it is the result as JSON. `messageId` (at most 200
 * characters) identifies a message of a session's user, so that it counts once. `files`: 1 to 20, if the agent accepts
 * them; then `content` may be empty. Query `transcript` returns files without their data.
 */
export type Message =
  | { role: 'user'; content: string; files?: UserFile[]; messageId?: string }
  | { role: 'assistant'; content: string; toolCalls?: { id: string; name: string; arguments: Json }[] }
  | { role: 'tool'; toolCallId: string; toolName: string; content: string; isError?: boolean };

/** The user of a run, as claimed by the client that starts it. Conditions of the policy can read it. */
export interface Caller {
  userId: string;
  groups?: string[];
}

/** The argument of workflow `agentRun`. Only the first two fields are required. */
export interface RunInput {
  /** The agent's name. */
  agent: string;
  /** The first messages of the run. A text is one message of the user. */
  input: string | Message[];
  /** A policy: a policy file as JSON. It can only tighten the operator's ceiling. */
  policy?: JsonObject;
  /** The mode of the agent's and run's policies (docs/policy-reference.md). The ceiling has a mode of its own. */
  mode?: Mode;
  caller?: Caller;
  /** Facts for conditions of the policy and for reviewers. */
  metadata?: JsonObject;
  /** Keeps the run open for messages of its user, until `close`, `cancel` or a limit ends it. Not for nested runs. */
  session?: true;
  /** The runs above a nested run. The run that starts it writes this member; any other input with it is refused. */
  parent?: ParentOfRun;
}

/** The lineage and policies that a nested run inherits. They only tighten, so forging them gains nothing. */
export interface ParentOfRun {
  /** The workflow ids of the runs above, the root's first. */
  lineage: string[];
  /** The policies that bind the runs above, outermost first. */
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
  /** The reason why `output` may be incomplete. Absent if it is complete. */
  finish?: Unfinished;
  /** The final answer as parsed by the schema `output` of the agent. Absent if the agent has none. */
  structuredOutput?: JsonObject;
  usage: Usage;
  /** The tokens of the nested runs that have ended, and of all below them. Absent if none has ended. */
  nestedUsage?: Usage;
  /** The cost of the run by the operator's prices. Absent if no prices are set. */
  cost?: RunCost;
  /** The last 200 calls, oldest first. */
  outcomes: CallOutcome[];
  /** The journal entries that no earlier payload of the run carried. */
  journal?: JournalEntry[];
  /** The head of the hash tree over all journal entries. Absent if the run ended before its policies were known. */
  journalHead?: JournalHead;
}

/** The result of query `approvals` for one request, open or settled. */
export interface ApprovalDetails extends ApprovalRequest {
  /** How the request was settled. Absent while it is open. */
  settled?: Settlement;
  /** The votes so far, if more than one is needed. */
  votes?: ReviewerVote[];
  /** For an open request: the approvals that count so far, and how many are needed. */
  approvals?: { have: number; need: number };
  /**
   * For an open request that names reviewers: the people, members of groups included, whose approval would count now.
   * Absent if every person's would, or if they are more than 200.
   */
  approvers?: string[];
  /** For an open request: the escalation steps that have added reviewers, oldest first. Absent if there are none. */
  escalated?: Escalated[];
  /** Why no further votes can approve an open request. Absent if votes can, or if not all reviewers are known. */
  cannotBeApproved?: string;
  /**
   * The names and further ids of the caller, reviewers, voters and delegates, by id, also for settled requests. Absent
   * if the operator's directory has none of them.
   */
  people?: Record<string, NamedPerson>;
  /** For an open request: the names of the channels that carry it. Absent if no channel does. */
  channels?: string[];
  /** The delegated seats, in the order of delegation. */
  delegations?: Delegation[];
  /** For an open request with all arguments shown: the calls that an "always" may cover. Absent if none is allowed. */
  always?: AlwaysTerms;
  /** The JSON Schema of the tool's arguments, as the run recorded it. Absent if it is unknown or larger than 32 kB. */
  schema?: JsonObject;
  /** For an open request: the preview of its call. Absent if the tool has none, or if the policy hides arguments. */
  preview?: CallPreview;
  /** For an open request of a session: its user's messages since the model made the call. Absent if there are none. */
  userMessages?: UserMessages;
  /** For an open request: an earlier execution of the same call. Absent if the run remembers none. */
  ranBefore?: EarlierRun;
  /** For an open request: an earlier denial of the same call by reviewers. Absent if the run remembers none. */
  deniedBefore?: EarlierDenial;
  /** For an open request: a comparison of its bank accounts with earlier requests. Absent if the run has none. */
  accounts?: EarlierAccount[];
}

/** A reviewer whose vote let a call run. */
export interface ApprovedBy {
  /** The reviewer's id. Absent for an anonymous reviewer. */
  reviewerId?: string;
  /** The id of the key that signed the vote. Absent if it was not signed. */
  keyId?: string;
}

/** The first argument of every tool activity: the proof that this call passed the gate. */
export interface Permit {
  /** The run's workflow id. */
  workflowId: string;
  /** Temporal's run id of the run's first execution. Unlike a workflow id, it is never used again. */
  firstExecutionRunId: string;
  callId: string;
  /** The digest of the call that passed: 64 hex characters. */
  digest: string;
  outcome: 'allowed' | 'approved';
  /** The request that a reviewer approved. Absent if the policy allowed the call. */
  requestId?: string;
  /** The id of the rule that allowed the call, or null for a risk default. Absent if a reviewer approved. */
  rule?: string | null;
  /** The hash of the tool's definition, as the run recorded it. `digest` covers it. */
  definition: string;
  agent: string;
  caller?: Caller;
  /** The version of the engine that ruled on the call. */
  engine: number;
  /** The reviewers who approved the call, or made the grant that allowed it. Absent if a rule allowed it. */
  approvedBy?: ApprovedBy[];
  /** What reviewers saw of the preview, if the tool binds the approval to it. Absent for any other tool. */
  bound?: BoundPreview;
  /** True if the tool has `reconcile`, which finds out what became of a call with an unknown outcome. */
  reconciles?: true;
  /** True if the worker sends heartbeats for a gated activity. */
  heartbeats?: boolean;
  /** The journal entries that no earlier payload of the run carried. */
  journal?: JournalEntry[];
}

/** The delivery of a request to its channels. Query `deliveries` returns one for each open request. */
export interface Delivered {
  requestId: string;
  /** The channels to which the request was sent. */
  channels: string[];
  /** The reasons why messages and answers failed, newest last. */
  failures: string[];
  /** True if at least one channel has tried to deliver the request, and none has succeeded yet. */
  undelivered?: true;
  /** The time (ISO 8601) until which channels delay the request, because of quiet hours or to send several at once. */
  heldUntil?: string;
}

/** The result of query `run`. */
export interface RunStatus {
  workflowId: string;
  /** The agent that is in charge now. After a handoff, this is the agent that took over. */
  agent: string;
  status: RunStatusName;
  /** The number of model calls so far. */
  turn: number;
  /** The number of executions so far. It is 1 until the run continues as new. */
  executions: number;
  usage: Usage;
  /** The tokens of the nested runs that have ended, and of all below them. Absent if none has ended. */
  nestedUsage?: Usage;
  /** The cost of the run by the operator's prices. Absent if no prices are set. */
  cost?: RunCost;
  /** The numbers of calls with a ruling, requests, open requests, denials by reviewers, and refused messages. */
  counts: { calls: number; asks: number; open: number; denials: number; refused: number };
  /** The reviewers that the run waits for, and until when. Absent if no request is open. */
  waitingFor?: WaitingFor[];
  /** True if a session waits for its user: its agent has answered, or its last model call has failed. */
  awaitsMessage?: true;
  /** The failed model call of a session. A message or a `retry` calls the model again. Absent if none has failed. */
  failedTurn?: Problem & { turn: number };
  /** The last 200 calls, oldest first. */
  outcomes: CallOutcome[];
  /** The nested runs that this run waits for. Absent if there are none. */
  nested?: { callId: string; agent: string; workflowId: string }[];
  /** The last 50 messages that were refused and changed nothing, and the number of all. */
  refused: { last: RefusedDecision[]; total: number };
}
