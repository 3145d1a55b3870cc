/** The record of a run: exports, proofs and statistics. It reaches no server. */
// Re-exports only, for Countersign's own packages: docs/decisions/0063-three-packages.md.
export { verifyAudit } from './client/audit/verify-audit.ts';
export type { SealedLine } from './core/audit/audit-line.ts';
export type { AuditVerdict } from './core/audit/audit-verdict.ts';
export type { Share } from './core/audit/answers-of.ts';
export { plainMembers } from './core/audit/commit-entry.ts';
export { csvRows } from './core/audit/csv.ts';
export { decisionStatistics } from './core/audit/decision-statistics.ts';
export type { DecisionStatistics } from './core/audit/decision-statistics.ts';
export { otherWithholdable, redacted } from './core/audit/entry-line.ts';
export { proofProblem, provableRun, proveEntry, proveHead } from './core/audit/entry-proof.ts';
export type { EntryProof, HeadProof } from './core/audit/entry-proof.ts';
export { policyInForce } from './core/audit/policy-in-force.ts';
export type { PlacedRule, RecordedPolicy } from './core/audit/policy-in-force.ts';
export { readLine } from './core/audit/read-line.ts';
export { auditReport } from './core/audit/report.ts';
export type { ReviewerStatistics, RuleStatistics } from './core/audit/statistics-rows.ts';
