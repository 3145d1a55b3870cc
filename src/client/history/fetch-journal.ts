import { type Projection, projectJournal } from '../../events/journal.ts';
import type { JournalEntry } from '../../core/ledger/journal-entry.ts';
import { type Session, callServer } from '../server/session.ts';
import { fetchRun, type ReadExecution, inputOf } from './history-chain.ts';
import type { Caller } from '../../contract.ts';
import { isObject } from '../../core/base/json.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { readingRemedy } from '../../connection/server-error.ts';

/** The decisions of a run, read from its history. */
export interface Journal extends Projection {
  /** Every entry once, in the order in which they were made. */
  entries: JournalEntry[];
  /** Temporal's run id of the newest execution that retention has removed. Its entries are gone, and all before it. */
  missing?: string;
  /** The number of payloads that this client cannot decode; entries may be missing. Absent if there are none. */
  unread?: number;
}

export async function fetchJournal(session: Session, workflowId: string): Promise<Journal> {
  const { executions, missing, unread } = await fetchRun(session, workflowId);
  return { ...projectRun(executions), ...(missing !== undefined && { missing }), ...(unread > 0 && { unread }) };
}

export function projectRun(executions: readonly ReadExecution[]): Projection & { entries: JournalEntry[] } {
  const entries = entriesOf(executions);
  return { entries, ...projectJournal(entries, executions.some(wasEnded)) };
}

/** Returns every entry that the executions carry, once, in the order in which they were made. */
export function entriesOf(executions: readonly ReadExecution[]): JournalEntry[] {
  return placedEntries(executions).map(({ entry }) => entry);
}

/** A journal entry, and the first event that holds it. */
export interface PlacedEntry {
  entry: JournalEntry;
  place: { runId: string; eventId: number };
}

/** Returns the entries, each with its first place and its last version: several events may contain an entry. */
export function placedEntries(executions: readonly ReadExecution[]): PlacedEntry[] {
  const found = new Map<number, PlacedEntry>();
  for (const { runId, events } of executions) {
    for (const { eventId, journal } of events) {
      for (const entry of journal) {
        const place = found.get(entry.seq)?.place ?? { runId, eventId };
        found.set(entry.seq, { place, entry });
      }
    }
  }
  return [...found.values()].sort((one, other) => one.entry.seq - other.entry.seq);
}

/** True if an execution was terminated or timed out, and so could not record the end of its open requests. */
export function wasEnded({ events }: ReadExecution): boolean {
  return events.some(({ what }) => what?.kind === 'terminated' || what?.kind === 'timed_out');
}

/** What the client that started a run claims about the user. */
export interface SessionOfRun {
  /** True if the run accepts further messages of its user. */
  isSession: boolean;
  /** The id of the run's user. Absent if none is named. */
  callerUserId?: string;
}

/** Reads whether a run is a session, and of which user. Throws `run_not_found`, and `undecodable` for its input. */
export async function sessionOf(session: Session, workflowId: string): Promise<SessionOfRun> {
  const input = await callServer(session, () => inputOf(session, { workflowId }), { workflowId });
  if (isUndecodable(input) && input.unread) {
    const message = `The input of run '${workflowId}' cannot be read: ${input.why}. ${readingRemedy}`;
    throw new ProblemError({ code: 'undecodable', message });
  }
  const { session: isSession, caller } = isObject(input) ? input : {};
  const { userId } = (isObject(caller) ? caller : {}) as Partial<Caller>;
  return { isSession: isSession === true, ...(typeof userId === 'string' && { callerUserId: userId }) };
}
