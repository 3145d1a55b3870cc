import type { ApprovalSummary } from '../ledger/approval-index.ts';
import type { JournalEntry } from '../ledger/journal-entry.ts';

/** One event of a run's history, as far as run events are made of it. Payloads are decoded; see `isUndecodable`. */
export interface HistoryEvent {
  /** From 1 in each execution. */
  eventId: number;
  /** ISO 8601: when the server recorded it. */
  at: string;
  /** Absent: no run event is made of it. */
  what?: Happening;
  /** The journal entries in payloads that the gate itself wrote. */
  journal?: readonly JournalEntry[];
  /** The open requests that the gate wrote into the memo. */
  open?: readonly ApprovalSummary[];
  /** The number of payloads, among those that run events are made of, that cannot be decoded here. */
  unread?: number;
}

export type Happening =
  /** `carried`: what the execution before this one handed over. */
  | { kind: 'started'; workflowType: string; isFirst: boolean; input: unknown; carried?: unknown }
  | { kind: 'model_scheduled'; activityId: string; input: unknown }
  /** An activity whose result holds policies: of the agent, of `setPolicy`, of the runs above. */
  | { kind: 'policies_scheduled' }
  | { kind: 'tool_scheduled'; callId: string; toolName: string; arguments: unknown }
  | { kind: 'ended'; scheduledEventId: number; end: ActivityEnd }
  | { kind: 'nested_started'; workflowId: string }
  | { kind: 'nested_completed'; workflowId: string; result: unknown }
  | RunEnd;

/** `continues`: another execution of the workflow follows. */
export type RunEnd =
  | { kind: 'continued' }
  | { kind: 'completed'; result: unknown; continues?: boolean }
  | { kind: 'failed'; failure: PlainFailure; continues?: boolean }
  | { kind: 'timed_out'; continues?: boolean }
  | { kind: 'cancelled' }
  | { kind: 'terminated'; reason: string };

export type ActivityEnd = { result: unknown } | { failure: PlainFailure };

/** The failure that decides how an activity or a run ended, without the failures around it. */
export interface PlainFailure {
  kind: 'application' | 'schedule_to_start' | 'other';
  /** Of an application failure. */
  type?: string;
  message: string;
}

/** Text as it is, any other value as its JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
