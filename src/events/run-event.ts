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
  /** ISO 8601: when the server recorded the history event. */
  at: string;
}

/**
 * A request was opened. Fields that history does not keep are absent, such as `assessment` and `reviewers` in a custom
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

/** A request was settled. Always follows the `ApprovalRequestEvent` of the request. */
export interface ApprovalResultEvent extends Recorded {
  type: 'ApprovalResultEvent';
  requestId: string;
  callId: string;
  toolName: string;
  decision: ApprovalDecision;
  reason: string | null;
  reviewerId: string | null;
  /** The reviewer's name, as the sender claims. */
  reviewerName?: string;
  /** Whether the tool ran. `pending`: it runs now, and its `tool_result` will say. */
  ran: Ran;
  identity?: Identity;
  /** The grant that the decision's "always" made. */
  grantId?: string;
  /** For `superseded`: a policy, a grant or an edit, and the id of the rule, grant or request. */
  by?: string;
  byId?: string | null;
}

/** `approved_always`: the decision also made a grant. */
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
      /** The id under which the user of a session sent the message. */
      messageId?: string;
      agentName?: string;
      turn?: number;
      /** Why the model's answer may be incomplete. Absent: it is complete. */
      finish?: Unfinished;
      /** The final answer by an `output` schema. Redacted events may leave it out. */
      structuredOutput?: JsonObject;
      /** The problem of an answer that does not fit the `output` schema; the model receives it, and answers again. */
      outputProblem?: string;
    }
  /** A call of the model. `arguments` is absent if history does not keep the arguments. */
  | { type: 'tool_call'; callId: string; toolName: string; arguments?: Json }
  /** The text that the model receives for a call. `arguments`: those that ran, if they are not the model's own. */
  | {
      type: 'tool_result';
      callId: string;
      toolName: string;
      content: string;
      isError: boolean;
      ran: Ran;
      /** True: the tool ran, but the check of its results withholds this one. */
      withheld?: true;
      /** The id of an earlier call whose result the model receives again. Nothing ran for this call. */
      resultOf?: string;
      arguments?: Json;
    }
  /** A call of an agent started a nested run. */
  | { type: 'nested_run'; callId: string; workflowId: string }
  /** The agent `to` is in charge from now on, in place of `from`. */
  | { type: 'handoff'; from: string; to: string }
  /**
   * A turn of a session has ended: the model has answered, or its call has failed. The session waits for its user,
   * unless the user has written meanwhile. `stopped`: the user ended the turn; calls that still run may give results.
   */
  | { type: 'turn_ended'; turn: number; failure?: Problem; stopped?: true };

/** The run has ended; the last event. */
export interface RunCompleteEvent extends Recorded {
  type: 'RunCompleteEvent';
  status: 'completed' | 'failed' | 'cancelled' | 'closed' | 'limit';
  /** The last text of the run. For a custom workflow: its result as text. */
  output: string;
  /** Why `output` may be incomplete. Absent: it is complete. */
  finish?: Unfinished;
  /** The run's structured output. Redacted events leave it out if redaction leaves no JSON. */
  structuredOutput?: JsonObject;
  /** The tokens of an agent run and of its nested runs. Absent if the run ended without a result. */
  usage?: Usage;
  nestedUsage?: Usage;
  /** The cost of the run. Absent: the operator's policy has no prices. */
  cost?: RunCost;
  /** The last 200 calls of the run. Absent if the run ended without a result. */
  outcomes?: CallOutcome[];
  failure?: Problem;
}

/** How a run ended. */
export type Completion = Omit<RunCompleteEvent, keyof Recorded | 'type'>;

/** A place in the stream where events are missing. */
export interface GapEvent extends Recorded {
  type: 'gap';
  /**
   * `retention`: the server no longer has the earlier events. `undecodable`: this reader lacks a codec or a store.
   * `journal`: the run wrote decisions that no payload carried. `reset`: an operator reset the run to an earlier point.
   */
  reason: 'retention' | 'undecodable' | 'journal' | 'reset';
  /** One sentence. */
  message: string;
}

/** An event of a run that its history keeps. */
export type RecordedEvent = ApprovalRequestEvent | ApprovalResultEvent | RunItemEvent | RunCompleteEvent | GapEvent;

/** A part of an answer that the model is still writing. It has no id and is never replayed. */
export interface RawResponseEvent {
  type: 'RawResponseEvent';
  workflowId: string;
  /** When this reader received the part, in ISO 8601. */
  at: string;
  turn: number;
  /** How much of the answer precedes `delta`, in UTF-16 code units. 0 again: a retry has started over. */
  offset: number;
  delta: string;
  /** Text before `delta` that this reader has not received, in UTF-16 code units. Absent: none. */
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
  /** The place among the events of the same history event, from 0. */
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

/** True if the first place is after the other of the same execution. */
export function isAfter(one: Omit<EventPlace, 'runId'>, other: Omit<EventPlace, 'runId'>): boolean {
  return one.eventId === other.eventId ? one.index > other.index : one.eventId > other.eventId;
}
