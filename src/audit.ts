/** The record of a run: exports, verification and statistics. It connects to no server. */
// Re-exports only, for Countersign's own packages: docs/decisions/0063-each-kind-of-process-has-a-package.md.
export { verifyAudit } from './client/audit/verify-audit.ts';
export type { SealedLine } from './audit/audit-line.ts';
export type { AuditVerdict } from './audit/finding.ts';
export type { Share, ReviewerStatistics, RuleStatistics } from './audit/statistics-rows.ts';
export { plainMembers } from './core/ledger/commit-entry.ts';
export { csvRows, csvSeparators } from './audit/csv.ts';
export { decidedCsv, decidedRequests, type DecidedRequest } from './audit/decided-requests.ts';
export type { AgentUsage } from './audit/agent-usage.ts';
export { decisionStatistics, type DecisionStatistics } from './audit/decision-statistics.ts';
export { otherWithholdable, redacted } from './audit/entry-line.ts';
export { placedPolicy, policyInForce } from './audit/agent-usage.ts';
export type { PlacedRule, PolicyInForce, RecordedPolicy } from './audit/agent-usage.ts';
export { decisionSummary, summaryMarkdown, type DecisionSummary } from './audit/summary.ts';
export { readLine } from './audit/read-line.ts';
export { auditReport } from './audit/report.ts';
