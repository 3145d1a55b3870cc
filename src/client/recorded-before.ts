import type { temporal } from '@temporalio/proto';
import { decideName } from '../contract.ts';
import { type ParsedDecision, parseDecision } from '../core/messages/decision.ts';
import { isProblemError } from '../core/base/problem.ts';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';
import { readPayload } from './read-payload.ts';
import { eventTimeMs } from './event-time.ts';

/** A decision in a run's history that no worker has applied yet. */
export interface RecordedDecision {
  decision: ParsedDecision;
  /** ISO 8601, as the server recorded it. */
  at: string;
}

const pageSize = 200;
/** How many pages are read, newest first. Older events are not searched. */
const pagesRead = 5;

/**
 * The decisions that were recorded by signal and wait for a worker, oldest first: those after the last completed
 * workflow task. Empty if the history cannot be read.
 */
export async function unappliedDecisions(session: Session, workflowId: string): Promise<RecordedDecision[]> {
  try {
    const events = await callServer(session, () => eventsSinceTask(session, workflowId), { workflowId });
    const decisions = await Promise.all(events.toReversed().map((event) => decisionsIn(session, event)));
    return decisions.flat();
  } catch (error) {
    if (isProblemError(error)) return [];
    throw error;
  }
}

/** The decisions about the same request that come before `decision`, without repetitions of it. */
export function recordedBefore(unapplied: readonly RecordedDecision[], decision: ParsedDecision): RecordedDecision[] {
  const isOurs = (other: ParsedDecision): boolean =>
    other.requestId === decision.requestId && other.decisionId === decision.decisionId;
  const own = unapplied.findIndex((each) => isOurs(each.decision));
  const earlier = own === -1 ? [] : unapplied.slice(0, own);
  return earlier.filter((each) => each.decision.requestId === decision.requestId);
}

type Event = temporal.api.history.v1.IHistoryEvent;

/** Newest first. */
async function eventsSinceTask({ connection, namespace }: Session, workflowId: string): Promise<Event[]> {
  const since: Event[] = [];
  let nextPageToken: Uint8Array | undefined;
  for (let page = 0; page < pagesRead; page++) {
    const { history, nextPageToken: next } = await connection.workflowService.getWorkflowExecutionHistoryReverse({
      namespace,
      execution: { workflowId },
      maximumPageSize: pageSize,
      nextPageToken,
    });
    const events = history?.events ?? [];
    const applied = events.findIndex(({ workflowTaskCompletedEventAttributes: task }) => task != null);
    since.push(...(applied === -1 ? events : events.slice(0, applied)));
    if (applied !== -1 || next.length === 0) break;
    nextPageToken = next;
  }
  return since;
}

async function decisionsIn(
  session: Session,
  { workflowExecutionSignaledEventAttributes, eventTime }: Event,
): Promise<RecordedDecision[]> {
  const { signalName, input } = workflowExecutionSignaledEventAttributes ?? {};
  const [payload] = input?.payloads ?? [];
  if (signalName !== decideName || payload === undefined) return [];
  const at = new Date(eventTimeMs({ eventTime })).toISOString();
  return [await readPayload(session, payload)].flat().flatMap((value) => {
    const parsed = parseDecision(value);
    return 'decision' in parsed ? [{ decision: parsed.decision, at }] : [];
  });
}
