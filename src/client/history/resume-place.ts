import { ProblemError } from '../../core/base/problem.ts';
import { type EventPlace, eventIdOf, parseEventId, type GapEvent } from '../../events/run-event.ts';
import type { Session } from '../server/session.ts';
import { findExecutions, findExecution, pagesOf } from './history-chain.ts';
import { HistoryReader } from './read-history-event.ts';
import { readValue } from '../server/read-payload.ts';

/** The place at which a stream resumes. */
export interface ResumePlace {
  /** The place after which the stream resumes. Undefined: it starts with the first event that the server still has. */
  place?: EventPlace;
  /** The gap with which the stream begins, if events after the place were lost. */
  gap?: GapEvent;
}

/**
 * Finds the place of an event's id in the run. Throws `invalid_message` for a text that is not an id of this run's
 * events, and the server's errors unchanged.
 */
export async function findPlace(session: Session, workflowId: string, id: string): Promise<ResumePlace> {
  const place = parseEventId(id);
  if (place === undefined) throw foreign(workflowId, id, 'an id is RUNID.EVENTID.INDEX');
  const { executions, missing } = await findExecutions(session, workflowId);
  const execution = await findExecution(session, { workflowId, runId: place.runId });
  // Retention has removed the execution: the stream begins with what is left, and reports the gap.
  if (execution === undefined && missing !== undefined) return {};
  if (execution === undefined) throw foreign(workflowId, id, 'the run has no such execution');
  if (execution.historyLength < place.eventId) throw foreign(workflowId, id, 'the execution has fewer events');
  if (executions.includes(place.runId)) return { place };
  if (execution.resetRunId === undefined) throw foreign(workflowId, id, 'it is of an earlier run with the same id');
  return afterReset(session, workflowId, place, execution.resetRunId);
}

function foreign(workflowId: string, id: string, why: string): ProblemError {
  return new ProblemError({
    code: 'invalid_message',
    message: `'${id}' is not the id of an event of run '${workflowId}': ${why}.`,
  });
}

/**
 * The place in the execution that replaced a reset one. It repeats the events before the reset under its own run id;
 * the events after the reset are gone.
 */
async function afterReset(
  session: Session,
  workflowId: string,
  { runId: baseRunId, ...within }: EventPlace,
  runId: string,
): Promise<ResumePlace> {
  const history = new HistoryReader(readValue);
  for await (const events of pagesOf(session, { workflowId, runId })) {
    for (const { eventId, at, what } of events.map((event) => history.read(event))) {
      if (what?.kind !== 'reset' || what.baseRunId !== baseRunId) continue;
      if (within.eventId < eventId) return { place: { runId, ...within } };
      const place = { runId, eventId, index: 0 };
      const message = 'An operator reset the run to an earlier point.';
      return { place, gap: { type: 'gap', id: eventIdOf(place), workflowId, at, reason: 'reset', message } };
    }
  }
  return {};
}
