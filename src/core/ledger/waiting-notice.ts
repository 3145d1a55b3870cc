import type { ApprovalRequest } from './approval.ts';
import { type ApprovalSummary, summaryOf } from './approval-index.ts';

/** The message under which a worker logs that a request begins to wait. */
export const waitingMessage = 'An approval request waits for an answer';

/** The fields of the log line. They hold no values of arguments (I13). The logger adds the workflow's id. */
export type WaitingNotice = Pick<
  ApprovalSummary,
  'requestId' | 'toolName' | 'argumentNames' | 'agentName' | 'riskLevel' | 'severity' | 'reason' | 'deadline'
> &
  Pick<ApprovalRequest, 'reviewers'>;

export function waitingNotice(request: ApprovalRequest): WaitingNotice {
  const { requestId, toolName, argumentNames, agentName, riskLevel, severity, reason, deadline } = summaryOf(request);
  const { reviewers } = request;
  return { requestId, toolName, argumentNames, agentName, riskLevel, severity, reason, deadline, reviewers };
}
