import type { CardRequest } from '../../src/card/card.ts';
import { requestDetails } from '../support/requests.ts';

export const nowMs = Date.parse('2026-01-02T03:01:00.000Z');

/** A request with the most usual values for what a test does not name. */
export function cardRequest(request: Partial<CardRequest> = {}): CardRequest {
  return requestDetails({
    workflowId: 'ticket-8',
    toolName: 'refund',
    arguments: { orderId: 'o-17', amount: 120 },
    assessment: {
      severity: 'medium',
      reasons: ['it moves money'],
      affectedResources: ['account:ann'],
      reversible: true,
      recommendations: ['Compare the amount.'],
      requiresApproval: true,
    },
    agentName: 'support',
    contextSummary: 'The customer is right.',
    rule: 'ceiling#3',
    rulePlace: 'policy.yaml:12',
    reason: 'Refunds need a person',
    deadline: '2026-01-02T03:05:00.000Z',
    ...request,
  });
}
