import type { ApprovalSummary } from '../core/ledger/approval-index.ts';
import type { JournalEntry, JournalHead } from '../core/ledger/journal-entry.ts';
import { type Problem, problemCodeOf } from '../core/base/problem.ts';

/**
 * An event of Temporal's history, in the form that all readers of runs use (client/history/read-history-event.ts). Its
 * payloads are decoded; a payload that cannot be decoded is an `Undecodable`.
 */
export interface HistoryEvent {
  /** The number of the event, from 1 in each execution. */
  eventId: number;
  /** When the server recorded the event, in ISO 8601. */
  at: string;
  /** What happened. Absent for an event that no reader needs. */
  what?: Fact;
  /** The journal entries in payloads that the gate itself wrote. */
  journal: readonly JournalEntry[];
  /** Of the Merkle heads in the gate's payloads, the one that covers the most journal entries. */
  head?: JournalHead;
  /** The open requests that the gate wrote into the memo. */
  open?: readonly ApprovalSummary[];
  /** The number of payloads that a run event needs and that cannot be decoded here. Absent if there are none. */
  unread?: number;
}

export type Fact =
  | Started
  | { kind: 'scheduled'; activity: Activity }
  /** An attempt of an activity began, or a child workflow started. */
  | { kind: 'attempted'; activity: Activity; attempt?: number; worker?: string }
  | { kind: 'ended'; activity: Activity; state: EndState; end: ActivityEnd }
  | RecordedMessage
  /** A worker has processed all events before this one. */
  | { kind: 'task_completed' }
  /** An operator has reset the execution `baseRunId`, whose events this execution repeats up to this one. */
  | { kind: 'reset'; baseRunId: string }
  | RunEnd;

export interface Started {
  kind: 'started';
  workflowType: string;
  /** False for a custom workflow. */
  isAgentRun: boolean;
  workflowId: string;
  /** Temporal's run id of this execution. */
  runId: string;
  /** Temporal's run id of the run's first execution. */
  firstRunId: string;
  /** Temporal's run id of the execution that continued as this one. */
  before?: string;
  /** The input of an agent run. Absent for a custom workflow, whose input has no known form. */
  input?: unknown;
  /** The state that the previous execution passed on. Null if an agent run has no argument which that one wrote. */
  carried?: unknown;
}

/** An activity or child workflow that an execution started. */
export type Activity = { scheduledEventId: number } & (
  | { kind: 'model'; activityId: string; input: unknown }
  /** A call that passed the gate. `values` are the tool's arguments, without the permit. */
  | { kind: 'tool'; name: string; permit: ClaimedPermit; values: unknown[] }
  /**
   * An activity of Countersign, with its input. `config` loads the policies of an agent or a gate, `verified` verifies
   * carried state, `policy` and `parents` read changed policies, and `edit` validates edited arguments.
   */
  | { kind: 'config' | 'verified' | 'policy' | 'parents' | 'edit'; given: Readonly<Record<string, unknown>> }
  | { kind: 'nested'; workflowId: string; isAgentRun: boolean }
  | { kind: 'other' }
);

/** A permit as a history contains it. Only its call id has been validated. */
export interface ClaimedPermit {
  callId: string;
  digest?: unknown;
  definition?: unknown;
  /** True if the tool has `reconcile`. Then the run asks the tool what became of a call with an unknown outcome. */
  reconciles?: true;
}

export type EndState = 'completed' | 'failed' | 'timed out' | 'cancelled';

export type ActivityEnd = { result: unknown } | { failure: PlainFailure };

/** A signal or update of Countersign. */
export interface RecordedMessage {
  kind: 'message';
  name: 'decide' | 'setPolicy' | 'revoke' | 'extend' | 'delegate' | 'message' | 'close';
  via: 'signal' | 'update';
  /** The identity that the sender's client claims. */
  sender?: string;
  value: unknown;
}

/** How an execution ended. `next` is Temporal's run id of the execution that follows. */
export type RunEnd =
  | { kind: 'continued'; next?: string }
  | { kind: 'completed'; result: unknown; next?: string }
  | { kind: 'failed'; failure: PlainFailure; next?: string }
  | { kind: 'timed_out'; next?: string }
  | { kind: 'cancelled' }
  | { kind: 'terminated'; reason: string };

/** The innermost failure that explains how an activity or a run ended, without those that wrap it. */
export interface PlainFailure {
  kind: 'application' | 'schedule_to_start' | 'other';
  type?: string;
  message: string;
  /** Present only if a worker refused a call because its tool or its preview had changed after the approval. */
  details?: unknown[];
}

/** Converts a failure to a problem. Its code is `internal` if the failure's type is not a known code. */
export function problemOf({ type, message }: PlainFailure): Problem {
  return { code: problemCodeOf(type), message };
}

/** Returns a text as it is, and any other value as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
