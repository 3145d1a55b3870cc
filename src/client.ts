/** Starts runs, lists and decides approvals, and reads runs. It needs a Temporal server, and no worker in its process. */
// Re-exports only, after the check of Node's version.
import './connection/require-node.ts';
export type { AuditOptions } from './client/audit.ts';
export type { AuditScope } from './client/audit.ts';
export { verifyAudit } from './client/verify-audit.ts';
export type { AuditText, VerifyAuditOptions } from './client/verify-audit.ts';
export { cleanPayloads } from './client/clean-payloads.ts';
export type { Session } from './client/connect.ts';
export type { CleanOptions, CleanedPayloads } from './client/clean-payloads.ts';
export { createClient } from './client/client.ts';
export type { ClientOptions, CountersignClient, RunHandle } from './client/countersign-client.ts';
export { CountersignClientPlugin } from './client/client-plugin.ts';
export type { ClientPluginOptions } from './client/client-plugin.ts';
export type { RequestOptions, SendOptions } from './client/control-run.ts';
export type { CommonDecision, ReviewedRequest } from './client/decide-all.ts';
export type { HistoryChain, HistoryExecution } from './client/history-chain.ts';
export type { Journal } from './client/fetch-journal.ts';
export type { ApprovalFilter, ApprovalList, UnreadRun } from './client/list-approvals.ts';
export type { ListedRun, ListedStatus, RunFilter } from './client/list-runs.ts';
export type { CancelOptions } from './client/cancel-run.ts';
export type { Check } from './client/check.ts';
export type { CheckOptions } from './client/check-set-up.ts';
export { createReviewerKey, publicKeyOf } from './client/reviewer-key.ts';
export type { ReviewerKey } from './client/reviewer-key.ts';
export type { Retry } from './client/retries.ts';
export type { RunView } from './client/show-run.ts';
export { signDecision, signMessage } from './client/sign-message.ts';
export type { Signed, Signer, SigningOptions } from './client/sign-message.ts';
export type { Setup } from './client/set-up.ts';
export type { Registration } from './connection/search-attributes.ts';
export type { StartOptions } from './client/start-run.ts';
export type { WatchOptions } from './client/watch-run.ts';
export type { Approvals, ToolApproval, ToolApprovals, ToolLike } from './client/tool-approvals.ts';
export type { Cleaned } from './payload-folder/clean-folder.ts';
export type * from './core/audit/audit-line.ts';
export type { AuditVerdict, RuledAgain, RunToRule, VerifierOptions } from './core/audit/audit-verdict.ts';
export type { AuditFinding, FindingKind } from './core/audit/finding.ts';
export type { TreeState } from './core/audit/merkle.ts';
export type { ProjectedRequest, Projection } from './core/ledger/journal.ts';
export type { AttributeNames, AttributeNameOptions, AttributeType } from './core/base/attribute-names.ts';
export type { LargePayloads } from './payload-folder/large-payloads.ts';
export { ProblemError, isProblemError } from './core/base/problem.ts';
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
} from './core/events/run-event.ts';
export type { Problem, ProblemCode } from './core/base/problem.ts';
export type { ApprovalSummary } from './core/ledger/approval-index.ts';
export type * from './contract.ts';
