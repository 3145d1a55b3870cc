/**
 * The names of a run's signals, updates, queries and attributes, and the shapes of their data. Services in other
 * languages depend on them, and `docs/wire.md` describes them. Workflow code may import this module.
 */
import type { KeptMessage } from './contract/provider-turn.ts';
import type { Message } from './contract/run.ts';
import { byteLength } from './core/base/text.ts';
import { jsonDigest } from './core/base/digest.ts';

export type {
  ApprovalRequest,
  CallOutcome,
  LateDecision,
  OutcomeName,
  Ran,
  Receipt,
  RefusedDecision,
  ReviewerVote,
  Settlement,
  UserMessages,
} from './core/ledger/approval.ts';
export type { AlwaysTerms } from './core/ledger/make-grant.ts';
export type { EarlierAccount } from './core/ledger/earlier-accounts.ts';
export type { EarlierDenial } from './core/ledger/denials.ts';
export type { EarlierRun } from './core/ledger/earlier-run.ts';
export type { Escalated } from './core/ledger/escalation.ts';
export type { ApprovalMemo, ApprovalSummary } from './core/ledger/approval-index.ts';
export type { BoundFacts, BoundPreview } from './core/base/bound-preview.ts';
export type { CallPreview, Change, Previewed } from './core/base/call-preview.ts';
export type { Usage, Unfinished } from './core/base/model-answer.ts';
export type { ShownFile, TakenFiles, UserFile } from './core/base/user-files.ts';
export type { RunCost } from './core/policy/run-cost.ts';
export type { Assessment } from './core/assess/assessment.ts';
export type { Advice } from './core/policy/advice.ts';
export type {
  CloseMessage,
  ControlMessage,
  DelegateMessage,
  ExtendMessage,
  RevokeMessage,
  SetPolicyMessage,
  UserMessage,
} from './core/messages/control.ts';
export type { MessageSignature, ParsedDecision as Decision, RequestedScope } from './core/messages/decision.ts';
export type { Viewed } from './core/messages/viewed.ts';
export type { Delegation } from './core/people/delegation.ts';
export type { Identity } from './core/people/entitlement.ts';
export type { Grant, GrantScope } from './core/policy/grants.ts';
export type { Always, GrantKind, ReviewerKeyEntry } from './core/policy/policy.ts';
export type { PolicyChange, RunPolicies } from './core/policy/run-side.ts';
export type { JournalEntry, JournalHead } from './core/ledger/journal-entry.ts';
export type { WaitingFor } from './core/ledger/waiting-for.ts';
export type {
  ApprovalDetails,
  Caller,
  Delivered,
  Message,
  ParentOfRun,
  ApprovedBy,
  Permit,
  RunInput,
  RunResult,
  RunStatus,
  RunStatusName,
} from './contract/run.ts';

/**
 * The type of the workflow that runs an agent. It takes a `RunInput` and returns a `RunResult`.
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
 * The task queue of workers and clients that do not name one.
 *
 * @example See {@link workflowType}.
 */
export const defaultTaskQueue = 'countersign';
/**
 * The signal and the update that carry a decision, or a list of up to 100 (docs/wire.md).
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
/** The signals that a run accepts. All but `close` are updates as well. */
export const messageNames = {
  decide: decideName,
  setPolicy: 'setPolicy',
  revoke: 'revoke',
  extend: 'extend',
  delegate: 'delegate',
  message: 'message',
  close: 'close',
} as const;
/** The signal by which a run sends its changed policies to its nested runs (docs/decisions/0009). */
export const parentsChangedName = 'parentsChanged';
/**
 * The queries that a run answers. A custom workflow with an `ApprovalGate` answers `approvals`, `grants`, `policy` and
 * `receipt`.
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
  /** The lasting permissions and denials that reviewers gave by the answer "always", as a list of `Grant`. */
  grants: 'grants',
  /** The policies that rule on calls now, as `RunPolicies`; null before the run has loaded them. */
  policy: 'policy',
  /** The messages of the transcript, as a list of `Message`. */
  transcript: 'transcript',
  /** The answer that an earlier message got, as a `Receipt`; the argument is `{ messageId }`. */
  receipt: 'receipt',
} as const;
/**
 * The name of the memo that has the open requests of a run, as an `ApprovalMemo`. Everyone who can start a workflow can
 * write such a memo: use `client.approvals`, which validates it.
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
/** The memo `{ journal }`: the gate writes its journal entries there when no open request has changed. */
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
  checkApprovers: 'countersign.checkApprovers',
  preview: 'countersign.preview',
  reconcile: 'countersign.reconcile',
  consultAdvisors: 'countersign.consultAdvisors',
  announce: 'countersign.announce',
  lookAtRequests: 'countersign.lookAtRequests',
  channelNotify: 'countersign.channelNotify',
  channelResolve: 'countersign.channelResolve',
  channelDecide: 'countersign.channelDecide',
  channelSettled: 'countersign.channelSettled',
  lookForEndedRuns: 'countersign.lookForEndedRuns',
  delegateOpen: 'countersign.delegateOpen',
} as const;
/** The type of the workflow that carries the requests of one run to its channels (docs/channels.md). */
export const channelsWorkflowType = 'approvalChannels';
/** The id of the workflow that carries a run's requests to channels: a prefix and the run's id, or a digest of a long one. */
export function channelsWorkflowId(workflowId: string): string {
  return workflowIdOf('countersign-channels:', workflowId);
}

/** The memo that names the run of an `approvalChannels` workflow whose own id has a digest in place of the run's id. */
export const runMemoName = 'countersignRun';

/** The id of the workflow that looks for abruptly ended runs of a task queue begins with this prefix. */
export const endedRunsPrefix = 'countersign-ended-runs:';

export function endedRunsWorkflowId(taskQueue: string): string {
  return workflowIdOf(endedRunsPrefix, taskQueue);
}

/** The type of the workflow that delegates one person's later requests until a date (docs/policy-reference.md). */
export const standingDelegationType = 'standingDelegation';

/** Returns the prefix and the id. If that is too long for Temporal's server, a digest takes the place of the id. */
function workflowIdOf(prefix: string, id: string): string {
  const whole = `${prefix}${id}`;
  return byteLength(whole) <= longestWorkflowId ? whole : `${prefix}${jsonDigest(id)}`;
}
/** The most bytes of a workflow id on Temporal's server. */
const longestWorkflowId = 1_000;
/** The only signal of `approvalChannels`. It names changed requests, which the workflow then reads from the run. */
export const changedName = 'changed';
/** The only query of `approvalChannels`. It returns `Delivered[]`. */
export const deliveriesName = 'deliveries';

/**
 * The search attributes that the server must know, with their types. `client.setUp` and `countersign setup` register
 * them.
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

/** Returns a run's messages as query `transcript` shows them, without the members that only activities read. */
export function shownTranscript(messages: readonly KeptMessage[]): Message[] {
  return messages.map((message) => {
    if (message.role === 'tool') return message;
    if (message.role === 'user') {
      const { refused: _, ...kept } = message;
      return kept;
    }
    const { providerTurn: _, outputProblem: __, ...shown } = message;
    return shown;
  });
}

/** Returns the newest messages of the user: those after the last answer, tool result or refused message. */
export function newInput(messages: readonly KeptMessage[]): KeptMessage[] {
  const lastOld = messages.findLastIndex((message) => message.role !== 'user' || message.refused === true);
  return messages.slice(lastOld + 1);
}
