/**
 * The interface of a run: names of signals, updates, queries and attributes, and the shapes of their data. Other
 * services and other languages depend on each name here; `docs/wire.md` describes it. Safe in the sandbox.
 */
import type {
  ApprovalRequest,
  CallOutcome,
  RefusedDecision,
  ReviewerVote,
  Settlement,
} from './core/ledger/approval.ts';
import type { JournalEntry } from './core/ledger/journal-entry.ts';
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
  ReviewerVote,
  Settlement,
} from './core/ledger/approval.ts';
export type { ApprovalMemo, ApprovalSummary } from './core/ledger/approval-index.ts';
export type { Assessment } from './core/assess/assessment.ts';
export type {
  CloseMessage,
  ControlMessage,
  DelegateMessage,
  ExtendMessage,
  RevokeMessage,
  SetPolicyMessage,
} from './core/messages/control.ts';
export type { MessageSignature, ParsedDecision as Decision, RequestedScope } from './core/messages/decision.ts';
export type { Identity } from './core/people/entitlement.ts';
export type { Grant, GrantScope } from './core/policy/grants.ts';
export type { Always, GrantKind, RunPolicies } from './core/policy/policy.ts';
export type { JournalEntry } from './core/ledger/journal-entry.ts';

/**
 * The type of the workflow that runs an agent. Its argument is a `RunInput`, its result a `RunResult`. A client of any
 * language can start it.
 *
 * @example
 * ```ts
 * import { defaultTaskQueue, type RunInput, type RunResult, workflowType } from 'countersign';
 * import { createClient } from 'countersign/client';
 *
 * const client = await createClient();
 * const input: RunInput = { agent: 'clerk', input: 'Where is order 7?' };
 * const options = { workflowId: 'question-7', taskQueue: defaultTaskQueue, args: [input] };
 * const result: RunResult = await client.session.client.workflow.execute(workflowType, options);
 * console.log(result.status, result.output); // completed It is on its way.
 * await client.close();
 * ```
 */
export const workflowType = 'agentRun';
/**
 * The task queue of workers and clients that name none.
 *
 * @example See {@link workflowType}.
 */
export const defaultTaskQueue = 'countersign';
/**
 * The name of the signal and the update that carry a decision, or a list of up to 100. `client.decide` sends one;
 * docs/wire.md is for other clients.
 *
 * @example
 * ```ts
 * import { decideName, type Decision } from 'countersign';
 * import { createClient } from 'countersign/client';
 *
 * const client = await createClient();
 * const { approvals } = await client.approvals.list({ tool: 'refund' });
 * for (const { workflowId, requestId } of approvals) {
 *   const decision: Decision = { requestId, approved: false, reason: 'No receipt' };
 *   await client.session.client.workflow.getHandle(workflowId).signal(decideName, decision);
 *   console.log((await client.run(workflowId).result()).output); // Denied: No receipt
 * }
 * await client.close();
 * ```
 */
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
/**
 * The queries that a run answers. With an `ApprovalGate`, a workflow answers `approvals`, `grants`, `policy`, `receipt`.
 *
 * @example
 * ```ts
 * import { type Message, queryNames } from 'countersign';
 * import { createClient } from 'countersign/client';
 *
 * const client = await createClient();
 * const run = await client.start('clerk', 'Where is order 7?');
 * await run.result();
 * const handle = client.session.client.workflow.getHandle(run.workflowId);
 * const messages = await handle.query<Message[]>(queryNames.transcript);
 * console.log(messages.map(({ role }) => role)); // [ 'user', 'assistant' ]
 * await client.close();
 * ```
 */
export const queryNames = {
  /** The state of the run, as a `RunStatus`. */
  run: 'run',
  /** The open requests; with the argument `{ requestId }` one request, open or settled, or null. */
  approvals: 'approvals',
  /** The grants and standing denials of "always", as a list of `Grant`. */
  grants: 'grants',
  /** The policies that rule on calls now, as `RunPolicies`; null before the run has loaded them. */
  policy: 'policy',
  /** The messages so far. */
  transcript: 'transcript',
  /** The result of a message with a `messageId`; argument `{ messageId }`. */
  receipt: 'receipt',
} as const;
/**
 * The memo of a run that holds its open requests as an `ApprovalMemo`. Anybody who can start a workflow can write such a
 * memo: use `client.approvals`, which checks it.
 *
 * @example
 * ```ts
 * import { createClient } from 'countersign/client';
 * import { type ApprovalMemo, memoName } from 'countersign/workflow';
 *
 * const client = await createClient();
 * const { approvals } = await client.approvals.list({ tool: 'refund' });
 * for (const { workflowId } of approvals) {
 *   const { memo } = await client.session.client.workflow.getHandle(workflowId).describe();
 *   const { open } = memo?.[memoName] as ApprovalMemo;
 *   console.log(open.map(({ argumentNames }) => argumentNames)); // [ [ 'orderId', 'amount' ] ]
 * }
 * await client.close();
 * ```
 */
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

/**
 * The search attributes that the cluster must have registered, with their types; `client.setUp` and `countersign setup`
 * register them.
 *
 * @example
 * ```ts
 * import { searchAttributes } from 'countersign';
 *
 * console.log(Object.keys(searchAttributes)); // [ 'ApprovalIds', 'ApprovalTags', 'ApprovalDue' ]
 * console.log(searchAttributes.ApprovalDue); // DATETIME
 * ```
 */
export const searchAttributes = {
  ApprovalIds: 'KEYWORD_LIST',
  ApprovalTags: 'KEYWORD_LIST',
  ApprovalDue: 'DATETIME',
} as const;

/** One message of a run's transcript. `content` is text; a tool's result is its JSON. */
export type Message =
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls?: { id: string; name: string; arguments: Json }[] }
  | { role: 'tool'; toolCallId: string; toolName: string; content: string; isError?: boolean };

/** The user for whom a run works, as whoever starts it says. Conditions of the policy read it. */
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
  /** Applies to the run's side of the policy (docs/policy.md), never to the operator's ceiling. */
  mode?: Mode;
  caller?: Caller;
  /** Available to conditions of the policy and shown to reviewers. */
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

/**
 * The state of a run. `waiting`: a request is open, or was when a worker last ran. `closed`: somebody sent `close`.
 * `limit`: the run reached its maximum of turns, or its transcript became too large.
 */
export type RunStatusName = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'closed' | 'limit';

/** Tokens of all model calls, as the models report them; 0 for models that report none. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

/** The result of workflow `agentRun`. */
export interface RunResult {
  status: RunStatusName;
  /** The model's last text; for `limit`, which limit was reached. */
  output: string;
  usage: Usage;
  /** The last 200 calls, oldest first. */
  outcomes: CallOutcome[];
  /** Journal entries that no earlier payload carried. */
  journal?: JournalEntry[];
}

/** The answer of query `approvals` with a request id, for open and settled requests. */
export interface ApprovalDetails extends ApprovalRequest {
  /** Absent while the request is open. */
  settled?: Settlement;
  /** Votes so far, if more than one is needed. */
  votes?: ReviewerVote[];
  /** For an open request: the approvals that count so far, and how many are needed. */
  approvals?: { have: number; need: number };
  /** Delegated seats, in the order of delegation. */
  delegations?: { from: string; to: string }[];
}

/** The first argument of every tool activity: the proof that this call passed the gate. */
export interface Permit {
  /** The run's. */
  workflowId: string;
  /** Temporal's run id of the run's first execution: no other run has it. Absent in permits of older versions. */
  firstExecutionRunId?: string;
  callId: string;
  /** The digest of the call that passed: 64 hex characters. */
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
  /** Entries that no earlier payload carried. */
  journal?: JournalEntry[];
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
  /** Calls that were ruled on, asks, open requests, denials by reviewers, and refused messages. */
  counts: { calls: number; asks: number; open: number; denials: number; refused: number };
  /** The last 200 calls, oldest first. */
  outcomes: CallOutcome[];
  /** Nested runs that this run waits for; absent if there are none. */
  nested?: { callId: string; agent: string; workflowId: string }[];
  /** Messages that were refused and changed nothing: the last 50 as `{ code, requestId?, size }`, and the total. */
  refused: { last: RefusedDecision[]; total: number };
}
