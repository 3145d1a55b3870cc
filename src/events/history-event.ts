import type { ApprovalSummary } from '../core/ledger/approval-index.ts';
import type { JournalEntry, JournalHead } from '../core/ledger/journal-entry.ts';
import { type Problem, problemCodeOf } from '../core/base/problem.ts';

/**
 * One event of a run's history, as all readers of runs use it (client/history/read-history-event.ts). Payloads are
 * decoded; one that cannot be decoded is an `Undecodable`.
 */
export interface HistoryEvent {
  /** The number of the event, from 1 in each execution. */
  eventId: number;
  /** When the server recorded the event, in ISO 8601. */
  at: string;
  /** Absent: no reader needs the event's fact. */
  what?: Fact;
  /** The journal entries in payloads that the gate itself wrote. */
  journal: readonly JournalEntry[];
  /** The head over the most entries in the payloads that the gate wrote. */
  head?: JournalHead;
  /** The open requests that the gate wrote into the memo. */
  open?: readonly ApprovalSummary[];
  /** The number of undecodable payloads among the sources of run events. */
  unread?: number;
}

export type Fact =
  | Started
  | { kind: 'scheduled'; activity: Activity }
  /** An attempt of an activity began, or a nested workflow. */
  | { kind: 'attempted'; activity: Activity; attempt?: number; worker?: string }
  | { kind: 'ended'; activity: Activity; state: EndState; end: ActivityEnd }
  | RecordedMessage
  /** A worker has processed all events before this one. */
  | { kind: 'task_completed' }
  /** An operator has reset execution `baseRunId`: this one repeats its events up to here. */
  | { kind: 'reset'; baseRunId: string }
  | RunEnd;

export interface Started {
  kind: 'started';
  workflowType: string;
  /** False: a custom workflow. */
  isAgentRun: boolean;
  workflowId: string;
  /** Temporal's run ids: `runId` of this execution, `firstRunId` of the first execution of the run. */
  runId: string;
  firstRunId: string;
  /** Temporal's run id of the execution that continued as this one. */
  before?: string;
  /** The input of an agent run; a custom workflow's input is not read. */
  input?: unknown;
  /**
   * The state that the previous execution handed over, with its name as the writer. Null: it is unknown to this agent
   * run.
   */
  carried?: unknown;
}

/** An activity or another workflow that an execution started. */
export type Activity = { scheduledEventId: number } & (
  | { kind: 'model'; activityId: string; input: unknown }
  /** A call that passed the gate. `values`: the arguments of the tool, without the permit. */
  | { kind: 'tool'; name: string; permit: ClaimedPermit; values: unknown[] }
  /**
   * An activity of Countersign, with its input. It loads the policies of an agent or a gate, verifies carried state,
   * reads the policy of a `setPolicy` or those of the calling run, or validates edited arguments.
   */
  | { kind: 'config' | 'verified' | 'policy' | 'parents' | 'edit'; given: Readonly<Record<string, unknown>> }
  | { kind: 'nested'; workflowId: string; isAgentRun: boolean }
  | { kind: 'other' }
);

/** A permit of which only the call id has been read. */
export interface ClaimedPermit {
  callId: string;
  digest?: unknown;
  definition?: unknown;
  /** Of an unknown outcome, the run knows more by the next turn. */
  reconciles?: true;
}

export type EndState = 'completed' | 'failed' | 'timed out' | 'cancelled';

export type ActivityEnd = { result: unknown } | { failure: PlainFailure };

/** A message of Countersign's contract. */
export interface RecordedMessage {
  kind: 'message';
  name: 'decide' | 'setPolicy' | 'revoke' | 'extend' | 'delegate' | 'message' | 'close';
  via: 'signal' | 'update';
  /** The identity that the sender's client states. */
  sender?: string;
  value: unknown;
}

/** How an execution ended. `next`: Temporal's run id of the execution that follows it. */
export type RunEnd =
  | { kind: 'continued'; next?: string }
  | { kind: 'completed'; result: unknown; next?: string }
  | { kind: 'failed'; failure: PlainFailure; next?: string }
  | { kind: 'timed_out'; next?: string }
  | { kind: 'cancelled' }
  | { kind: 'terminated'; reason: string };

/** The failure that determines how an activity or a run ended, without the failures that wrap it. */
export interface PlainFailure {
  kind: 'application' | 'schedule_to_start' | 'other';
  type?: string;
  message: string;
  /** Only if a worker refused a call because its tool or its preview had changed after the approval. */
  details?: unknown[];
}

/** A failure with its code; `internal` if its type is not a known code. */
export function problemOf({ type, message }: PlainFailure): Problem {
  return { code: problemCodeOf(type), message };
}

/** Text as it is, any other value as its JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
