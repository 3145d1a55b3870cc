import type { Usage, Unfinished } from '../core/base/model-answer.ts';
import type { RunCost } from '../core/policy/run-cost.ts';
import type { CallOutcome, ApprovalRequest, OutcomeName, Ran } from '../core/ledger/approval.ts';
import type { Identity } from '../core/people/entitlement.ts';
import type { Problem } from '../core/base/problem.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';
import type { ShownFile } from '../core/base/user-files.ts';

/** The members of every event that history keeps. */
interface Recorded {
  /** `RUNID.EVENTID.INDEX`: Temporal's run id of the execution, its history event, and the place in that event. */
  id: string;
  workflowId: string;
  /** When the server recorded the history event, in ISO 8601. */
  at: string;
}

/**
 * A request was opened. Members that history does not keep are absent, such as `assessment` and `reviewers` in a custom
 * workflow. `arguments` is empty and `shown` is `part` if a policy hides arguments, if a reviewer edited them, or in a
 * custom workflow.
 */
export interface ApprovalRequestEvent
  extends Recorded, Omit<ApprovalRequest, 'workflowId' | 'assessment' | 'reviewers'> {
  type: 'ApprovalRequestEvent';
  callId: string;
  assessment?: ApprovalRequest['assessment'];
  reviewers?: string[];
}

/** A request was settled. The `ApprovalRequestEvent` of the request always precedes this event. */
export interface ApprovalResultEvent extends Recorded {
  type: 'ApprovalResultEvent';
  requestId: string;
  callId: string;
  toolName: string;
  decision: ApprovalDecision;
  reason: string | null;
  reviewerId: string | null;
  /** The reviewer's name, as the sender of the decision claims it. */
  reviewerName?: string;
  /** Says if the tool ran. `pending`: it runs now, and a later `tool_result` says how it ended. */
  ran: Ran;
  identity?: Identity;
  /** The id of the grant that the answer "always" made. */
  grantId?: string;
  /** For `superseded`: `policy`, `grant` or `edit`. `byId` is the id of the rule, grant or request that took over. */
  by?: string;
  byId?: string | null;
}

/** How a request was settled. `approved_always` means that the decision also made a grant. */
export type ApprovalDecision =
  Exclude<OutcomeName, 'allowed' | 'denied_by_policy' | 'refused' | 'cached'> | 'approved_always';

/** An item of the run's transcript. */
export interface RunItemEvent extends Recorded {
  type: 'RunItemEvent';
  item: RunItem;
}

/** One item of a run's transcript. */
export type RunItem =
  /** Text of the user or of the model. */
  | {
      type: 'message';
      role: 'user' | 'assistant';
      content: string;
      /** The files that the user sent with the message. Absent: none. */
      files?: ShownFile[];
      /** The id that the user of a session gave to the message. */
      messageId?: string;
      agentName?: string;
      turn?: number;
      /** Why the model's answer may be incomplete. Absent if it is complete. */
      finish?: Unfinished;
      /** The final answer as the agent's `output` schema defines it. Redacted events may not have it. */
      structuredOutput?: JsonObject;
      /** Why the answer does not fit the `output` schema. The model gets this text and answers again. */
      outputProblem?: string;
    }
  /** A call by the model. `arguments` is absent if history does not keep them. */
  | { type: 'tool_call'; callId: string; toolName: string; arguments?: Json }
  /** The text that the model gets for a call. `arguments` are those that ran, if they are not the model's own. */
  | {
      type: 'tool_result';
      callId: string;
      toolName: string;
      content: string;
      isError: boolean;
      ran: Ran;
      /** True if the tool ran, but a check of its results withholds this one. */
      withheld?: true;
      /** The id of an earlier equal call whose result the model gets again. The tool did not run for this call. */
      resultOf?: string;
      arguments?: Json;
    }
  /** A call of another agent started a nested run. */
  | { type: 'nested_run'; callId: string; workflowId: string }
  /** The agent `to` takes over from the agent `from`. */
  | { type: 'handoff'; from: string; to: string }
  /**
   * A turn of a session has ended: the model has answered, or its call has failed. The session waits for its user,
   * unless a message is already there. `stopped`: the user ended the turn, whose running calls may still give results.
   */
  | { type: 'turn_ended'; turn: number; failure?: Problem; stopped?: true };

/** The run has ended. No event follows. */
export interface RunCompleteEvent extends Recorded {
  type: 'RunCompleteEvent';
  status: 'completed' | 'failed' | 'cancelled' | 'closed' | 'limit';
  /** The last text of the run; for a custom workflow, its result as text. */
  output: string;
  /** Why `output` may be incomplete. Absent if it is complete. */
  finish?: Unfinished;
  /** The run's structured output. Redacted events lack it if the redacted text is not JSON. */
  structuredOutput?: JsonObject;
  /** The tokens of an agent run. `nestedUsage` has those of its nested runs. Absent if there is no result. */
  usage?: Usage;
  nestedUsage?: Usage;
  /** The cost of the run. Absent if the operator's policy has no prices. */
  cost?: RunCost;
  /** The last 200 calls of the run. Absent if the run ended without a result. */
  outcomes?: CallOutcome[];
  failure?: Problem;
}

/** How a run ended. */
export type Completion = Omit<RunCompleteEvent, keyof Recorded | 'type'>;

/** A place in the stream at which events are missing. */
export interface GapEvent extends Recorded {
  type: 'gap';
  /**
   * `retention`: the server no longer has the events. `undecodable`: this reader lacks a codec or a payload store.
   * `journal`: entries of the run's journal are in no payload. `reset`: an operator reset the run to an earlier point.
   */
  reason: 'retention' | 'undecodable' | 'journal' | 'reset';
  /** One sentence. */
  message: string;
}

/** An event that can be read from a run's history. */
export type RecordedEvent = ApprovalRequestEvent | ApprovalResultEvent | RunItemEvent | RunCompleteEvent | GapEvent;

/** A part of an answer that the model is still writing. It has no id, and history does not keep it. */
export interface RawResponseEvent {
  type: 'RawResponseEvent';
  workflowId: string;
  /** When this reader received the part, in ISO 8601. */
  at: string;
  turn: number;
  /** How many UTF-16 code units of the answer precede `delta`. It is 0 again if a retry starts the answer over. */
  offset: number;
  delta: string;
  /** How many UTF-16 code units before `delta` this reader has not received. Absent: none. */
  hidden?: number;
}

/** An event of a run; `type` names the kind. */
export type RunEvent = RecordedEvent | RawResponseEvent;

type WithoutPlace<Event> = Event extends Recorded ? Omit<Event, keyof Recorded> : never;

/** An event before it has its id and time. */
export type EventDraft = WithoutPlace<RecordedEvent>;

/** The place of an event in the history of a run. */
export interface EventPlace {
  /** Temporal's run id of the execution. */
  runId: string;
  eventId: number;
  /** The position among the events of the same history event, from 0. */
  index: number;
}

export function eventIdOf({ runId, eventId, index }: EventPlace): string {
  return `${runId}.${eventId}.${index}`;
}

/** Parses the id of an event; undefined for any other text. */
export function parseEventId(id: string): EventPlace | undefined {
  const [, runId, eventId, index] = /^([0-9a-f-]{1,64})\.([1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,5})$/.exec(id) ?? [];
  return runId === undefined ? undefined : { runId, eventId: Number(eventId), index: Number(index) };
}

/** True if `one` is after `other`. Both are in the same execution. */
export function isAfter(one: Omit<EventPlace, 'runId'>, other: Omit<EventPlace, 'runId'>): boolean {
  return one.eventId === other.eventId ? one.index > other.index : one.eventId > other.eventId;
}
