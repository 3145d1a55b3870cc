import type { Problem, Json, JsonObject } from 'countersign/base';
import type { ApprovalDetails, ApprovalResultEvent, Receipt, Unfinished } from 'countersign/client';

export interface AskedRequest {
  answerId: string;
  requestId: string;
  workflowId: string;
  callId: string;
  toolName: string;
  arguments: Json;
  /** One sentence about the call, then one line for each warning. Escapes make invisible characters visible. */
  message: string;
  digest: string;
  deadline: string | null;
  /** Absent: no worker has answered the query for the request. */
  details?: ApprovalDetails;
  schema?: JsonObject;
  /** True: other people must answer, because the chat's user may not, or has answered already. */
  isForOthers?: true;
  /** Why the gateway has refused the user's last answer to this request. */
  refused?: Problem;
}

/** Something other than the chat's user for which the run waits: reviewers, a nested run, a worker or a retry. */
export interface ChatWait {
  kind: 'reviewers' | 'nested' | 'worker' | 'retry';
  message: string;
  /** The agent of the nested run that waits. Absent: the run of the chat itself waits. */
  agent?: string;
  toolName?: string;
  /** The ids of the people and groups who can answer. Empty: every reviewer can. */
  reviewers?: string[];
  /** The reviewers as text for people, such as `Ann Lee (u-17) or group:finance`. */
  people?: string;
  /** One sentence about the call, in which escapes make invisible characters visible. */
  sentence?: string;
  requestId?: string;
  deadline?: string | null;
  /** The address of the request in the inbox. Absent: the gateway does not know how browsers reach its inbox. */
  url?: string;
  /** The id of the call. Absent for a call of a nested run. */
  toolCallId?: string;
}

/** A step of a run, which `ai-sdk.ts` or `ag-ui.ts` translates. Ids of calls and messages are unique in the thread. */
export type ChatStep =
  | { type: 'receipts'; receipts: Receipt[] }
  | { type: 'text_start'; messageId: string }
  | { type: 'text'; messageId: string; delta: string }
  /** `whole`: the id of the model's message, present if the front end now has all of its text. */
  | { type: 'text_end'; messageId: string; whole?: string }
  | { type: 'call'; callId: string; messageId: string; toolName: string; arguments: Json }
  | { type: 'asked'; request: AskedRequest }
  /** `waits`: everything for which the run waits now. It replaces the list of the previous step. */
  | { type: 'waits'; waits: readonly ChatWait[] }
  /** Replaces the arguments that the front end shows for a call, because a reviewer has edited them. */
  | { type: 'arguments'; callId: string; toolName: string; arguments: Json }
  | {
      type: 'decided';
      callId: string;
      answerId: string;
      outcome: ApprovalResultEvent['decision'];
      /** False: the tool does not run. */
      approved: boolean;
      /** One sentence with the reviewer and the reason. Null: the chat's user decided without a reason. */
      reason: string | null;
    }
  /** `denied`: the tool did not run, because the request was denied, expired or cancelled. */
  | { type: 'result'; callId: string; content: string; isError: boolean; denied: boolean }
  | { type: 'waiting'; requests: AskedRequest[] }
  | { type: 'ended'; status: string; output: string; finish?: Unfinished; failure?: Problem };

export const stoppedStep: ChatStep = { type: 'ended', status: 'stopped', output: 'The user stopped this turn.' };

/** The text of a request. If the gateway refused an answer to it, the reason for that comes first. */
export function questionText({ message, refused }: AskedRequest): string {
  return refused === undefined ? message : `${refused.message}\n${message}`;
}

/** Facts about a request for the front end: its severity, its rule, and why the gateway refused an answer. */
export function factsOf({ details, refused }: AskedRequest) {
  return {
    ...(details && { severity: details.assessment.severity, rule: details.rule, shown: details.shown }),
    ...(refused !== undefined && { refused }),
  };
}

/** The text that a page shows while the run waits; null if the run does not wait. */
export function waitsText(waits: readonly ChatWait[]): string | null {
  return waits.length === 0 ? null : waits.map(({ message }) => message).join('\n');
}

export function endText({ status, output, failure }: ChatStep & { type: 'ended' }): string {
  return failure?.message ?? (output === '' ? `The run is ${status}.` : output);
}
