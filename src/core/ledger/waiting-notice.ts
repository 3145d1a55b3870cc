import type { ApprovalRequest } from './approval.ts';
import { type ApprovalSummary, summaryOf } from './approval-index.ts';

/** The message under which a worker logs that a request begins to wait. */
export const waitingMessage = 'An approval request waits for an answer';

/** The text of the log line of a request that its channels have tried to deliver, so far in vain. */
export const undeliveredMessage = 'No channel could deliver this request yet';
/** The tag of a workflow of channels that has such requests, and the beginning of the tag of each: its id follows. */
export const undeliveredTag = 'undelivered:';

/** The fields of the log line. They hold no values of arguments (I13). The logger adds the workflow's id. */
export type WaitingNotice = Pick<
  ApprovalSummary,
  'requestId' | 'toolName' | 'argumentNames' | 'agentName' | 'riskLevel' | 'severity' | 'reason' | 'deadline'
> &
  Pick<ApprovalRequest, 'reviewers'> & {
    /** The channels that carry it; empty: only the inbox has it. Absent for a run without channels. */
    channels?: string[];
  };

export function waitingNotice(request: ApprovalRequest, channels?: string[]): WaitingNotice {
  const { requestId, toolName, argumentNames, agentName, riskLevel, severity, reason, deadline } = summaryOf(request);
  const { reviewers } = request;
  const call = { toolName, argumentNames, agentName, riskLevel, severity };
  return { requestId, ...call, reason, deadline, reviewers, ...(channels !== undefined && { channels }) };
}
