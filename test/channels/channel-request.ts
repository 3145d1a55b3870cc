import type { ApprovalDetails } from '../../src/contract.ts';
import { defaultAssessment } from '../../src/core/assess/assessment.ts';
import { callDigest } from '../../src/core/base/digest.ts';
import type { Severity } from '../../src/core/base/tool-call.ts';
import type { NotifyContext, ResolveContext } from '../../src/channels/channel.ts';
import { requestDetails } from '../support/requests.ts';

/** An open request about a refund, as a channel gets it. */
export function channelRequest(more: Partial<ApprovalDetails> & { severity?: Severity } = {}): ApprovalDetails {
  const { severity = 'medium', ...given } = more;
  const call = { tool: 'refund', args: { orderId: 'o-17', amount: 20 } };
  return requestDetails({
    requestId: '4f0c9a1e5b7d42c68a90e1f2d3c4b5a6',
    workflowId: 'ticket-8',
    toolName: call.tool,
    arguments: call.args,
    assessment: { ...defaultAssessment('write'), severity },
    agentName: 'support',
    callerUserId: 'carl',
    contextSummary: 'The lamp came broken.',
    rule: 'refunds',
    reason: 'Money leaves the house',
    digest: callDigest({ ...call, definition: '' }),
    ...given,
  });
}

export const firstAttempt: ResolveContext = { attempt: 1 };

export function notifyContext(
  requests: readonly ApprovalDetails[],
  signal = new AbortController().signal,
): NotifyContext {
  return { step: { kind: 'asked' }, key: 'a-key', attempt: 1, requests, signal };
}
