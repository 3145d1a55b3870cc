/**
 * The interface of a run: names of signals, updates, queries and attributes, and the shapes of their data. Other
 * services and other languages depend on each name here; `docs/wire.md` describes it for them. Safe in the workflow
 * sandbox.
 */
import type { ApprovalRequest, CallOutcome, RefusedDecision, Settlement } from './core/ledger/approval.ts';
import type { JournalEntry } from './core/ledger/journal-entry.ts';
import type { RecordedVote } from './core/ledger/ledger-state.ts';
import type { Mode } from './core/policy/modes.ts';
import type { Policy } from './core/policy/policy.ts';
import type { Json, JsonObject } from './core/base/tool-call.ts';

export type {
  ApprovalRequest,
  CallOutcome,
  OutcomeName,
  Ran,
  Receipt,
  RefusedDecision,
  Settlement,
} from './core/ledger/approval.ts';
export type { ApprovalMemo, ApprovalSummary } from './core/ledger/approval-index.ts';
export type { Assessment } from './core/assess/assessment.ts';
export type {
  CloseMessage,
  DelegateMessage,
  ExtendMessage,
  RevokeMessage,
  SetPolicyMessage,
} from './core/messages/control.ts';
export type { ParsedDecision as Decision, RequestedScope as GrantScope } from './core/messages/decision.ts';
export type { Grant } from './core/policy/grants.ts';
export type { JournalEntry } from './core/ledger/journal-entry.ts';

export const workflowType = 'agentRun';
export const defaultTaskQueue = 'countersign';
export const decideName = 'decide';
/** Signals that a run accepts. All but `close` are updates as well. */
export const messageNames = {
  decide: decideName,
  setPolicy: 'setPolicy',
  revoke: 'revoke',
  extend: 'extend',
  delegate: 'delegate',
  close: 'close',
} as const;
/** Tells a nested run which policies bind it now. Accepted only from the run above (docs/decisions/0018). */
export const parentsChangedName = 'parentsChanged';
export const queryNames = {
  run: 'run',
  approvals: 'approvals',
  grants: 'grants',
  transcript: 'transcript',
  /** The result of a message with a `messageId`; argument `{ messageId }`. */
  receipt: 'receipt',
} as const;
export const memoName = 'approvals';
/** Memo `{ journal }`: what the gate decided in a workflow task that changed no open request. */
export const journalMemoName = 'approvalJournal';
export const activityNames = {
  loadAgent: 'countersign.loadAgent',
  callModel: 'countersign.callModel',
  arbitrate: 'countersign.arbitrate',
  checkEdit: 'countersign.checkEdit',
  readPolicy: 'countersign.readPolicy',
  readParents: 'countersign.readParents',
  notify: 'countersign.notify',
  loadGate: 'countersign.loadGate',
  verifyCarried: 'countersign.verifyCarried',
} as const;

/** Search attributes that the cluster must have registered; `countersign setup` registers them. */
export const searchAttributes = {
  ApprovalIds: 'KEYWORD_LIST',
  ApprovalTags: 'KEYWORD_LIST',
  ApprovalDue: 'DATETIME',
} as const;

export type Message =
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls?: { id: string; name: string; arguments: Json }[] }
  | { role: 'tool'; toolCallId: string; toolName: string; content: string; isError?: boolean };

export interface Caller {
  userId: string;
  groups?: string[];
}

/** The argument of workflow `agentRun`. Only the first two fields are required. */
export interface RunInput {
  agent: string;
  input: string | Message[];
  /** A policy document (a policy file, as JSON). It can only tighten the operator's ceiling. */
  policy?: JsonObject;
  /** Applies to the run's side of the policy (docs/policy.md), never to the operator's ceiling. */
  mode?: Mode;
  caller?: Caller;
  metadata?: JsonObject;
  /** Only in the input of a nested run, written by the run that starts it; refused in any other input. */
  parent?: ParentOfRun;
}

/**
 * The lineage and policies that a nested run inherits. They can only tighten: forged ones restrict only the forger's
 * run.
 */
export interface ParentOfRun {
  /** Workflow ids of the runs above, the root's first. */
  lineage: string[];
  /** The policies that bind these runs, outermost first. */
  policies: Policy[];
}

export type RunStatusName = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'closed' | 'limit';

export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

/** The result of workflow `agentRun`. */
export interface RunResult {
  status: RunStatusName;
  output: string;
  usage: Usage;
  /** The last 200 calls, oldest first. */
  outcomes: CallOutcome[];
  /** Journal entries that no earlier payload carried. */
  journal?: JournalEntry[];
}

/** The answer of query `approvals` with a request id, for open and settled requests. */
export interface ApprovalDetails extends ApprovalRequest {
  settled?: Settlement;
  /** Votes so far, if more than one is needed. */
  votes?: ReviewerVote[];
  /** For an open request: the approvals that count so far, and how many are needed. */
  approvals?: { have: number; need: number };
  /** Delegated seats, in the order of delegation. */
  delegations?: { from: string; to: string }[];
}

export type ReviewerVote = Omit<RecordedVote, 'contentDigest'>;

/** The first argument of every tool activity: the proof that this call passed the gate. */
export interface Permit {
  workflowId: string;
  callId: string;
  digest: string;
  outcome: 'allowed' | 'approved';
  /** Present if a reviewer approved. */
  requestId?: string;
  /** Present if the policy allowed: the rule that did, or null for a risk default. */
  rule?: string | null;
  /** Hash of the tool's definition, as the run recorded it; the digest covers it. */
  definition: string;
  agent: string;
  caller?: Caller;
  /** True: the worker heartbeats for a gated activity. */
  heartbeats?: boolean;
  journal?: JournalEntry[];
}

/** The answer of query `run`. */
export interface RunStatus {
  workflowId: string;
  /** The agent in charge now; after a handoff, the one that took over. */
  agent: string;
  status: RunStatusName;
  turn: number;
  executions: number;
  usage: Usage;
  counts: { calls: number; asks: number; open: number; denials: number; refused: number };
  outcomes: CallOutcome[];
  /** Nested runs that this run waits for; absent if there are none. */
  nested?: { callId: string; agent: string; workflowId: string }[];
  /** Messages that were refused and changed nothing: the last 50 as `{ code, requestId?, size }`, and the total. */
  refused: { last: RefusedDecision[]; total: number };
}
