import type { HistoryEvent } from '../../events/history-event.ts';
import { type ParsedDecision, parseDecision } from '../../core/messages/decision.ts';
import { isProblemError } from '../../core/base/problem.ts';
import { callServer, type Session } from '../server/session.ts';
import { decodeHistory } from './history-chain.ts';
import { HistoryReader } from './read-history-event.ts';
import { valueReader } from '../server/read-payload.ts';

/** A decision in a run's history that no worker has applied yet. */
export interface RecordedDecision {
  decision: ParsedDecision;
  /** The time at which the server recorded the decision, in ISO 8601. */
  at: string;
}

const pageSize = 200;
/** The most pages that are read, newest first. Decisions in older events are not found. */
const pagesRead = 5;

/** Returns the decisions in signals that wait for a worker, oldest first. Empty if the history cannot be read. */
export async function unappliedDecisions(session: Session, workflowId: string): Promise<RecordedDecision[]> {
  try {
    const events = await callServer(session, () => eventsSinceTask(session, workflowId), { workflowId });
    return events.toReversed().flatMap(decisionsIn);
  } catch (error) {
    if (isProblemError(error)) return [];
    throw error;
  }
}

/** Returns the decisions about the same request that came before `decision`. */
export function recordedBefore(unapplied: readonly RecordedDecision[], decision: ParsedDecision): RecordedDecision[] {
  const isOurs = (other: ParsedDecision): boolean =>
    other.requestId === decision.requestId && other.decisionId === decision.decisionId;
  const own = unapplied.findIndex((each) => isOurs(each.decision));
  // If the decision itself is not found, it is unknown which of the others came before it.
  const earlier = own === -1 ? [] : unapplied.slice(0, own);
  return earlier.filter((each) => each.decision.requestId === decision.requestId);
}

/** Reads the events after the last completed workflow task, newest first. */
async function eventsSinceTask(session: Session, workflowId: string): Promise<HistoryEvent[]> {
  const { connection, namespace } = session;
  const reader = new HistoryReader(valueReader(session));
  const since: HistoryEvent[] = [];
  let nextPageToken: Uint8Array | undefined;
  for (let page = 0; page < pagesRead; page++) {
    const { history, nextPageToken: next } = await connection.workflowService.getWorkflowExecutionHistoryReverse({
      namespace,
      execution: { workflowId },
      maximumPageSize: pageSize,
      nextPageToken,
    });
    await decodeHistory(session, history?.events ?? []);
    for (const event of (history?.events ?? []).map((each) => reader.read(each))) {
      if (event.what?.kind === 'task_completed') return since;
      since.push(event);
    }
    if (next.length === 0) break;
    nextPageToken = next;
  }
  return since;
}

function decisionsIn({ at, what }: HistoryEvent): RecordedDecision[] {
  if (what?.kind !== 'message' || what.name !== 'decide' || what.via !== 'signal') return [];
  return [what.value].flat().flatMap((value) => {
    const parsed = parseDecision(value);
    return 'decision' in parsed ? [{ decision: parsed.decision, at }] : [];
  });
}
