import type { Problem, Json, JsonObject } from 'countersign/base';
import type { ApprovalDetails, ApprovalResultEvent, Receipt, Unfinished } from 'countersign/client';

export interface AskedRequest {
  answerId: string;
  requestId: string;
  workflowId: string;
  callId: string;
  toolName: string;
  arguments: Json;
  /** One sentence about the call, then warnings; escapes make hostile text visible. */
  message: string;
  digest: string;
  deadline: string | null;
  /** Absent: no worker has answered. */
  details?: ApprovalDetails;
  schema?: JsonObject;
  /** The chat's user cannot answer it, or has answered. */
  isForOthers?: true;
  /** Why an answer to it was refused just now. */
  refused?: Problem;
}

/** The run waits for reviewers, a nested run, a worker or a retry, and not for the user of the chat. */
export interface ChatWait {
  kind: 'reviewers' | 'nested' | 'worker' | 'retry';
  message: string;
  /** The agent of the nested run that waits. Absent: the run of the chat waits. */
  agent?: string;
  toolName?: string;
  /** As in `WaitingFor`. Empty: everyone who may answer. */
  reviewers?: string[];
  /** The reviewers as people read them: `Ann Lee (u-17) or group:finance`. */
  people?: string;
  /** One sentence about the call, made visible. */
  sentence?: string;
  requestId?: string;
  /** ISO 8601; null: the request has none. */
  deadline?: string | null;
  /** The address of the request in the inbox. Absent: the gateway does not know how browsers reach its inbox. */
  url?: string;
  /** The call, if it belongs to this chat. */
  toolCallId?: string;
}

/** A step of a run, which each protocol translates. The ids of calls and messages are unique in the thread. */
export type ChatStep =
  | { type: 'receipts'; receipts: Receipt[] }
  | { type: 'text_start'; messageId: string }
  | { type: 'text'; messageId: string; delta: string }
  /** `whole`: the id of the model's message, if its text was sent whole. */
  | { type: 'text_end'; messageId: string; whole?: string }
  | { type: 'call'; callId: string; messageId: string; toolName: string; arguments: Json }
  | { type: 'asked'; request: AskedRequest }
  /** All current waits of the run, in place of the previous ones. */
  | { type: 'waits'; waits: readonly ChatWait[] }
  /** Replaces the arguments that the front end has: with those that a reviewer is asked about now, or that ran. */
  | { type: 'arguments'; callId: string; toolName: string; arguments: Json }
  | {
      type: 'decided';
      callId: string;
      answerId: string;
      outcome: ApprovalResultEvent['decision'];
      /** False: the tool does not run. */
      approved: boolean;
      /** One sentence: the reviewer and the reason. Null: the chat's user, without a reason. */
      reason: string | null;
    }
  /** `denied`: a reviewer, or a timeout, denied the call, and the tool did not run. */
  | { type: 'result'; callId: string; content: string; isError: boolean; denied: boolean }
  | { type: 'waiting'; requests: AskedRequest[] }
  | { type: 'ended'; status: string; output: string; finish?: Unfinished; failure?: Problem };

export const stoppedStep: ChatStep = { type: 'ended', status: 'stopped', output: 'The user stopped this turn.' };

/** The text of a request, after the reason for refusing an earlier answer to it. */
export function questionText({ message, refused }: AskedRequest): string {
  return refused === undefined ? message : `${refused.message}\n${message}`;
}

/** Why a request is asked, and why an earlier answer to it was refused. */
export function factsOf({ details, refused }: AskedRequest) {
  return {
    ...(details && { severity: details.assessment.severity, rule: details.rule, shown: details.shown }),
    ...(refused !== undefined && { refused }),
  };
}

/** The text that a page shows while the run waits. Null: it does not wait. */
export function waitsText(waits: readonly ChatWait[]): string | null {
  return waits.length === 0 ? null : waits.map(({ message }) => message).join('\n');
}

export function endText({ status, output, failure }: ChatStep & { type: 'ended' }): string {
  return failure?.message ?? (output === '' ? `The run is ${status}.` : output);
}
