import type { CardRequest } from '../../src/card/card.ts';

export const nowMs = Date.parse('2026-01-02T03:01:00.000Z');

/** A request with the most usual values for what a test does not name. */
export function cardRequest(request: Partial<CardRequest> = {}): CardRequest {
  return {
    requestId: '0123456789abcdef0123456789abcdef',
    workflowId: 'ticket-8',
    toolName: 'refund',
    arguments: { orderId: 'o-17', amount: 120 },
    riskLevel: 'write',
    assessment: {
      severity: 'medium',
      reasons: ['it moves money'],
      affectedResources: ['account:ann'],
      reversible: true,
      recommendations: ['Compare the amount.'],
      requiresApproval: true,
    },
    agentName: 'support',
    callerUserId: null,
    contextSummary: 'The customer is right.',
    rule: 'ceiling#3',
    rulePlace: 'policy.yaml:12',
    reason: 'Refunds need a person',
    requestedAt: '2026-01-02T03:00:00.000Z',
    deadline: '2026-01-02T03:05:00.000Z',
    digest: 'd'.repeat(64),
    lineage: [],
    metadata: {},
    reviewers: [],
    shown: 'all',
    ...request,
  };
}
