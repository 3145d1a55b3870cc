import { withDelegates } from '../people/delegation.ts';
import type { NamedPerson } from '../people/directory.ts';
import type { RequestRecord } from './ledger.ts';
import type { Risk } from '../base/tool-call.ts';
import { reviewersAt, type AskTerms } from '../policy/ask-terms.ts';
import { isAsked, mayRun } from '../policy/modes.ts';
import type { Ruling } from '../policy/ruling.ts';
import type { ApprovalRequest } from './approval.ts';
import { type ApprovalSummary, summaryOf } from './approval-index.ts';

/** The reviewers that an open request waits for, and its deadline. */
export interface WaitingFor {
  requestId: string;
  toolName: string;
  /** Who is asked now: names, `group:NAME`, or delegates instead of those who delegated. Empty: anyone. */
  reviewers: string[];
  /** ISO 8601; null: for ever. */
  deadline: string | null;
  /** The names and further ids that the operator's directory has for these reviewers. Absent: none. */
  people?: Record<string, NamedPerson>;
}

export function waitingFor({ request, delegations }: Pick<RequestRecord, 'request' | 'delegations'>): WaitingFor {
  const { requestId, toolName, deadline } = request;
  return { requestId, toolName, reviewers: withDelegates(request.reviewers, delegations), deadline };
}

/** The reason that reviewers read: that of the rule if it gives one, else a default. */
export function whyAsked({ rule, reason }: Ruling, risk: Risk): string {
  return reason ?? defaultReason(rule, risk);
}

/** The reason of a request about a call that was started, and whose outcome is unknown. */
const mayHaveRun = 'It may have run: it was started, and its tool does not know the outcome. Look before you answer.';

/** The ruling on a call that may have run: a denial stays, else a reviewer is asked first. An ask keeps its reason. */
export function askedAgain(ruling: Ruling): Ruling {
  if (!mayRun(ruling.action)) return ruling;
  const own = isAsked(ruling.action) ? ruling.reason : undefined;
  return { ...ruling, action: 'ask', reason: own === undefined ? mayHaveRun : `${mayHaveRun} ${own}` };
}

/** The reason of a request whose rule gives none, or that no rule covers. */
export function defaultReason(rule: string | null, risk: Risk): string {
  return rule === null ? `Risk default for ${risk}` : `Rule ${rule} asks`;
}

/** The reviewers who are asked once a request has been open for `waitedMs`. */
export function reviewersOf({ requirements }: AskTerms, waitedMs: number): string[] {
  return [...new Set(requirements.flatMap((each) => [...reviewersAt(each, waitedMs), ...each.oneOfEach]))];
}

export const waitingMessage = 'An approval request waits for an answer';

/** The message under which a worker logs that no channel could deliver a request so far. */
export const undeliveredMessage = 'No channel could deliver this request yet';
/** The tag of a channels workflow with undelivered requests. Followed by an id: the tag of that request. */
export const undeliveredTag = 'undelivered:';

/** The log line about a waiting request, without values of arguments. The logger adds the workflow's id. */
export type WaitingNotice = Pick<
  ApprovalSummary,
  'requestId' | 'toolName' | 'argumentNames' | 'agentName' | 'riskLevel' | 'severity' | 'reason' | 'deadline'
> &
  Pick<ApprovalRequest, 'reviewers'> & {
    /** The channels that carry the request. Empty: only the inbox has it. Absent: the run has no channels. */
    channels?: string[];
  };

export function waitingNotice(request: ApprovalRequest, channels?: string[]): WaitingNotice {
  const { requestId, toolName, argumentNames, agentName, riskLevel, severity, reason, deadline } = summaryOf(request);
  const { reviewers } = request;
  const call = { toolName, argumentNames, agentName, riskLevel, severity };
  return { requestId, ...call, reason, deadline, reviewers, ...(channels !== undefined && { channels }) };
}
