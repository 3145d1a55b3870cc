/** Starts runs, lists and decides approvals, and reads runs. Needs a Temporal server, but no worker in its process. */
// Re-exports only, after the check of Node's version.
import './connection/require-node.ts';
export type { AuditOptions, AuditScope } from './client/audit/audit.ts';
export { verifyAudit, type AuditText, type VerifyAuditOptions } from './client/audit/verify-audit.ts';
export { cleanPayloads, type CleanOptions, type CleanedPayloads } from './client/doctor/clean-payloads.ts';
export type { Session } from './client/server/session.ts';
export { createClient } from './client/client.ts';
export type { ClientOptions, CountersignClient, RunHandle } from './client/countersign-client.ts';
export type { TimeLimitOptions, TimeLimits } from './client/server/time-limits.ts';
export { CountersignClientPlugin, type ClientPluginOptions } from './client/server/client-plugin.ts';
export type { RequestOptions, SendOptions, CancelOptions } from './client/send/control-run.ts';
export type { CommonDecision, ReviewedRequest } from './client/send/decide.ts';
export type { HistoryChain, HistoryExecution } from './client/history/history-chain.ts';
export type { Journal } from './client/history/fetch-journal.ts';
export type { DelegatedAll, DelegatedRequest, DelegationOfAll, SendDelegation } from './client/inbox/delegate-all.ts';
export type { ApprovalFilter, ApprovalList, UnreadRun } from './client/inbox/list-approvals.ts';
export type { ListedRun, ListedStatus, RunFilter } from './client/inbox/list-runs.ts';
export type { Check, Setup } from './client/doctor/check.ts';
export type { CheckOptions } from './client/doctor/check-set-up.ts';
export { createReviewerKey, publicKeyOf, signDecision, signMessage } from './client/send/sign-message.ts';
export type { ReviewerKey, Signed, Signer, SigningOptions } from './client/send/sign-message.ts';
export type { Retry, RunView } from './client/inbox/show-run.ts';
export type { PolicyOutcome, PolicyResult, SetPolicyOfRunsOptions } from './client/send/set-policy-of-runs.ts';
export type { Registration } from './connection/search-attributes.ts';
export type { StartOptions } from './client/send/start-run.ts';
export type { WatchOptions } from './client/watch/watch-run.ts';
export type {
  DelegateAllOptions,
  DelegatedUntil,
  DelegationUntil,
  LeftRequest,
  StandingDelegation,
  StandingDelegations,
  StandingInput,
} from './client/inbox/standing-delegations.ts';
export type { Approvals, ToolApproval, ToolApprovals, ToolLike } from './client/inbox/tool-approvals.ts';
export type { Cleaned } from './payload-folder/payload-files.ts';
export type * from './audit/audit-line.ts';
export type { AuditVerdict, RuledAgain, RunToRule, VerifierOptions } from './audit/finding.ts';
export type { AuditFinding, FindingKind } from './audit/finding.ts';
export type { TreeState } from './core/ledger/merkle.ts';
export type { ProjectedRequest, Projection } from './events/journal.ts';
export type { AttributeNames, AttributeNameOptions, AttributeType } from './core/base/attribute-names.ts';
export type { LargePayloads } from './payload-folder/large-payloads.ts';
export { ProblemError, isProblemError, type Problem, type ProblemCode } from './core/base/problem.ts';
export type {
  ApprovalDecision,
  ApprovalRequestEvent,
  ApprovalResultEvent,
  GapEvent,
  RawResponseEvent,
  RecordedEvent,
  RunCompleteEvent,
  RunEvent,
  RunItem,
  RunItemEvent,
} from './events/run-event.ts';
export type { ApprovalSummary } from './core/ledger/approval-index.ts';
export type * from './contract.ts';
