import type { temporal } from '@temporalio/proto';
import type { EventPlace, RecordedEvent, GapEvent } from '../../events/run-event.ts';
import { isAfter, eventIdOf, parseEventId } from '../../events/run-event.ts';
import type { HistoryEvent } from '../../events/history-event.ts';
import type { PendingModelCall } from '../../events/transcript-events.ts';
import { EventRedactor } from '../../events/event-redactor.ts';
import { RunProjection } from '../../events/run-projection.ts';
import type { Session } from '../server/session.ts';
import { decodeHistory, findExecutions, describeExecution, pagesOf, readPage, findExecution } from './history-chain.ts';
import { HistoryReader } from './read-history-event.ts';
import { type ReadValue, valueReader, readValue } from '../server/read-payload.ts';
import { ProblemError } from '../../core/base/problem.ts';

type Event = temporal.api.history.v1.IHistoryEvent;

interface ReaderPlace {
  runId: string;
  /** The id of the last event that cannot be withdrawn. 0 if no event of this execution was read. */
  eventId: number;
}

/** Reads the history of a run and returns run events. It keeps only one page, and the state of the present turn. */
export class RunReader {
  readonly #session: Session;
  readonly #workflowId: string;
  readonly #values: ReadValue;
  readonly #history: HistoryReader;
  #projection: RunProjection;
  #place: ReaderPlace;
  #next: Uint8Array | undefined;
  /** True once all events that the server has now were read, and no further execution is known. */
  #isAtEnd = false;
  /** The run id of an execution that was reset. The next one repeats its events, which the reader skips. */
  #repeatsUntil: string | undefined;
  /** The known executions after the present one, which does not name them if it was reset. */
  #ahead: string[];
  /** The executions read so far, in order. */
  readonly executions: string[];
  /** Redacts the events as for reviewers, if the reader was opened with `redacted`. */
  readonly redactor: EventRedactor | undefined;

  private constructor(
    session: Session,
    workflowId: string,
    [runId = '', ...ahead]: string[],
    redactor: EventRedactor | undefined,
  ) {
    this.redactor = redactor;
    this.#session = session;
    this.#workflowId = workflowId;
    this.#place = { runId, eventId: 0 };
    this.#ahead = ahead;
    this.executions = [runId];
    this.#projection = new RunProjection(workflowId);
    this.#values = valueReader(session);
    this.#history = new HistoryReader(this.#values);
  }

  /**
   * Opens a reader at the first execution that the server still has. With `redacted`, it returns events as reviewers
   * may see them, and first reads the present policies, which also apply to earlier events. Throws the server's errors
   * unchanged.
   */
  static async open(session: Session, workflowId: string, { redacted = false } = {}): Promise<RunReader> {
    const { executions, missing } = await findExecutions(session, workflowId);
    const redactor = redacted ? new EventRedactor() : undefined;
    if (redactor !== undefined) await learnPolicies(session, { workflowId, runId: executions.at(-1)! }, redactor);
    const reader = new RunReader(session, workflowId, executions, redactor);
    if (missing !== undefined) reader.#projection.noteGap(retentionGap(missing));
    return reader;
  }

  get place(): ReaderPlace {
    return this.#place;
  }

  /** True once the run has ended and every event was returned. */
  get isComplete(): boolean {
    return this.#projection.isComplete;
  }

  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  get pendingModelCall(): PendingModelCall | undefined {
    return this.#projection.pendingModelCall;
  }

  /** True if `one` comes after `other`, in executions that were read; for one read again, its last reading counts. */
  isAfter(one: EventPlace, other: EventPlace): boolean {
    const [at, from] = [this.executions.lastIndexOf(one.runId), this.executions.lastIndexOf(other.runId)];
    return at === from ? isAfter(one, other) : from !== -1 && at > from;
  }

  /** Returns the run events of the next page. After an error, the same page can be read again. */
  async read(options: { wait: boolean; signal?: AbortSignal }): Promise<RecordedEvent[]> {
    const { runId, eventId } = this.#place;
    const from = { workflowId: this.#workflowId, runId };
    const page = await readPage(this.#session, from, { ...options, ...(this.#next && { after: this.#next }) });
    // If an error interrupted the page, it is read again from its beginning: events that were returned are skipped.
    const fresh = page.events.filter((event) => Number(event.eventId) > eventId);
    await decodeHistory(this.#session, fresh);
    const last = fresh.at(-1);
    // A separate reader reads this event, because `#history` must read each event only once, below.
    const { what: end } = last === undefined ? {} : new HistoryReader(this.#values).read(last);
    const resetRunId = end?.kind === 'terminated' ? await this.#resetOf(runId) : undefined;
    const versionBefore = this.redactor?.policyVersion;
    // For the run, the termination by a reset is no event.
    const taken = resetRunId === undefined ? fresh : fresh.slice(0, -1);
    const events = taken.flatMap((event) => this.#project(this.#history.read(event)));
    const lastFinal = taken.findLast((event) => !mayBeWithdrawn(event));
    if (lastFinal !== undefined) this.#place = { runId, eventId: Number(lastFinal.eventId) };
    // A new policy in these events may hide arguments of earlier calls, so redact the events again by that policy.
    if (this.redactor?.policyVersion !== versionBefore) this.redactor?.note(events);
    const follower = resetRunId ?? (end !== undefined && 'next' in end ? end.next : undefined);
    this.#next = page.next;
    this.#isAtEnd = page.next === undefined && follower === undefined;
    if (resetRunId !== undefined) await this.#startOver(runId);
    else if (follower !== undefined) this.#goTo(this.#ahead.shift() ?? follower);
    return events;
  }

  /** Makes `read` begin the present execution again, but skip returned events: the server has lost the place. */
  restart(): void {
    this.#next = undefined;
  }

  /** Returns the run events of an event; none while events repeat what came before a reset. */
  #project(event: HistoryEvent): RecordedEvent[] {
    this.redactor?.learn(event);
    const events = this.#projection.add(this.#place.runId, event);
    this.redactor?.note(events);
    if (this.#repeatsUntil === undefined) return events;
    if (event.what?.kind === 'reset' && event.what.baseRunId === this.#repeatsUntil) {
      this.#repeatsUntil = undefined;
      this.#projection.noteGap({ reason: 'reset', message: 'An operator reset the run to an earlier point.' });
    }
    return [];
  }

  #goTo(runId: string): void {
    this.#place = { runId, eventId: 0 };
    this.#next = undefined;
    this.executions.push(runId);
  }

  async #resetOf(runId: string): Promise<string | undefined> {
    const { resetRunId } = await describeExecution(this.#session, { workflowId: this.#workflowId, runId });
    return resetRunId;
  }

  /** Reads the run again from its first execution, because a reset has changed which executions belong to it. */
  async #startOver(baseRunId: string): Promise<void> {
    const { executions, missing } = await findExecutions(this.#session, this.#workflowId);
    this.#projection = new RunProjection(this.#workflowId);
    if (missing !== undefined) this.#projection.noteGap(retentionGap(missing));
    this.#repeatsUntil = baseRunId;
    const [first = '', ...ahead] = executions;
    this.#ahead = ahead;
    this.#goTo(first);
  }
}

/**
 * True for the two events that begin a workflow task. At the end of a history, the server withdraws them with a refused
 * update, and gives their ids to the next events (docs/decisions/0058).
 */
function mayBeWithdrawn({ workflowTaskScheduledEventAttributes: scheduled, ...event }: Event): boolean {
  return (scheduled ?? event.workflowTaskStartedEventAttributes) != null;
}

/** Reads the present policies from the newest execution, whose events contain every policy that it took over. */
async function learnPolicies(
  session: Session,
  execution: { workflowId: string; runId: string },
  redactor: EventRedactor,
): Promise<void> {
  const history = new HistoryReader(valueReader(session));
  for await (const events of pagesOf(session, execution, 1_000)) {
    await decodeHistory(session, events);
    for (const event of events) redactor.learn(history.read(event));
  }
}

function retentionGap(missing: string): { reason: 'retention'; message: string } {
  return { reason: 'retention', message: `The server no longer has what was before: execution ${missing} is gone.` };
}

export interface ResumePlace {
  /** The place after which the stream resumes. Absent: it begins with the first event that the server still has. */
  place?: EventPlace;
  /** The gap that the stream reports first, if events after the place were lost. */
  gap?: GapEvent;
}

/** Finds the place of an event's id. Throws `invalid_message` for an id of another run, and the server's errors. */
export async function findPlace(session: Session, workflowId: string, id: string): Promise<ResumePlace> {
  const place = parseEventId(id);
  if (place === undefined) throw foreign(workflowId, id, 'an id is RUNID.EVENTID.INDEX');
  const { executions, missing } = await findExecutions(session, workflowId);
  const execution = await findExecution(session, { workflowId, runId: place.runId });
  // Retention has removed the execution: the stream begins with the oldest one left, and reports the gap.
  if (execution === undefined && missing !== undefined) return {};
  if (execution === undefined) throw foreign(workflowId, id, 'the run has no such execution');
  if (execution.historyLength < place.eventId) throw foreign(workflowId, id, 'the execution has fewer events');
  if (executions.includes(place.runId)) return { place };
  if (execution.resetRunId === undefined) throw foreign(workflowId, id, 'it is of an earlier run with the same id');
  return afterReset(session, workflowId, place, execution.resetRunId);
}

function foreign(workflowId: string, id: string, why: string): ProblemError {
  const message = `'${id}' is not the id of an event of run '${workflowId}': ${why}.`;
  return new ProblemError({ code: 'invalid_message', message });
}

/** Finds the place in the execution after a reset, which repeats earlier events; none if it has no such reset. */
async function afterReset(
  session: Session,
  workflowId: string,
  { runId: baseRunId, ...asked }: EventPlace,
  runId: string,
): Promise<ResumePlace> {
  const history = new HistoryReader(readValue);
  for await (const events of pagesOf(session, { workflowId, runId })) {
    for (const { eventId, at, what } of events.map((event) => history.read(event))) {
      if (what?.kind !== 'reset' || what.baseRunId !== baseRunId) continue;
      // Events before the reset keep their numbers. Later ones of the reset execution are lost, which the gap reports.
      if (asked.eventId < eventId) return { place: { runId, ...asked } };
      const place = { runId, eventId, index: 0 };
      const message = 'An operator reset the run to an earlier point.';
      return { place, gap: { type: 'gap', id: eventIdOf(place), workflowId, at, reason: 'reset', message } };
    }
  }
  return {};
}
