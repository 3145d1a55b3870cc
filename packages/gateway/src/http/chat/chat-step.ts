import type { Problem, Json, JsonObject } from 'countersign/base';
import type { ApprovalDetails, Receipt } from 'countersign/client';

/** A request of a chat's run, as a front end shows it. */
export interface AskedRequest {
  /** The id under which the front end answers. */
  answerId: string;
  requestId: string;
  workflowId: string;
  /** Unique in the thread. */
  callId: string;
  toolName: string;
  arguments: Json;
  /** One sentence about the call, then warnings; anything hostile in it is visible. */
  message: string;
  digest: string;
  deadline: string | null;
  /** Absent: no worker has answered. */
  details?: ApprovalDetails;
  schema?: JsonObject;
  /** Why an answer to it was refused just now. */
  refused?: Problem;
}

/** A step of a run, which each protocol translates into messages of its own. The ids of calls and messages are unique in the thread. */
export type ChatStep =
  | { type: 'receipts'; receipts: Receipt[] }
  | { type: 'text_start'; messageId: string }
  | { type: 'text'; messageId: string; delta: string }
  | { type: 'text_end'; messageId: string }
  | { type: 'call'; callId: string; messageId: string; toolName: string; arguments: Json }
  | { type: 'asked'; request: AskedRequest }
  | { type: 'decided'; callId: string; answerId: string; approved: boolean; reason: string | null }
  /** `denied`: a reviewer, or time, has denied the call, and the tool did not run. */
  | { type: 'result'; callId: string; content: string; isError: boolean; denied: boolean }
  /** The last step: the run waits for these answers. */
  | { type: 'waiting'; requests: AskedRequest[] }
  /** The last step: the run is over. */
  | { type: 'ended'; status: string; output: string; failure?: Problem };

/** The text of a request, after the reason for which an answer to it was refused. */
export function questionText({ message, refused }: AskedRequest): string {
  return refused === undefined ? message : `${refused.message}\n${message}`;
}

/** Why a run that has not completed is over. */
export function endText({ status, output, failure }: ChatStep & { type: 'ended' }): string {
  return failure?.message ?? (output === '' ? `The run is ${status}.` : output);
}
