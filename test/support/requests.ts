import type { ApprovalDetails, ApprovalSummary } from '../../src/contract.ts';
import { defaultAssessment } from '../../src/core/assess/assessment.ts';

const usual = {
  requestId: '0123456789abcdef0123456789abcdef',
  workflowId: 'run-1',
  toolName: 'pay',
  riskLevel: 'write',
  agentName: 'clerk',
  callerUserId: null,
  rule: null,
  reason: 'why',
  requestedAt: '2026-01-02T03:00:00.000Z',
  deadline: null,
  digest: 'd'.repeat(64),
} as const;

/** One request of a list, with the most usual values for what a test does not name. */
export function requestRow(row: Partial<ApprovalSummary> = {}): ApprovalSummary {
  return { ...usual, argumentNames: [], severity: 'medium', shown: 'part', ...row };
}

/** A whole request, with the most usual values for what a test does not name. */
export function requestDetails(request: Partial<ApprovalDetails> = {}): ApprovalDetails {
  return {
    ...usual,
    arguments: {},
    assessment: defaultAssessment(request.riskLevel ?? usual.riskLevel),
    contextSummary: '',
    lineage: [],
    metadata: {},
    reviewers: [],
    shown: 'all',
    ...request,
  };
}
