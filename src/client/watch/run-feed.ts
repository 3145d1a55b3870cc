import { setTimeout as sleep } from 'node:timers/promises';
import { type RecordedEvent, type EventPlace, parseEventId } from '../../events/run-event.ts';
import { type TokenTail, readTokenTail } from '../../events/token-tail.ts';
import type { Session } from '../server/session.ts';
import { RunReader } from '../history/run-reader.ts';
import { activityNames } from '../../contract.ts';
import type { PendingModelCall } from '../../events/transcript-events.ts';
import { readPayload } from '../server/read-payload.ts';
import { grpcStatus, grpcStatusOf } from '../../connection/server-error.ts';

/** How many events a feed keeps for viewers that are a little behind. A viewer further behind reads the history. */
interface FeedLimits {
  events: number;
  /** The most characters of JSON in the kept events. */
  characters: number;
}

interface KeptEvent {
  event: RecordedEvent;
  place: EventPlace;
  size: number;
  /** The event as it was last redacted, and the version of the policies by which it was redacted. */
  shown?: { event: RecordedEvent; version: number };
}

const defaultLimits: FeedLimits = { events: 1_000, characters: 4_000_000 };
/**
 * Pauses between two reads of streamed text, in milliseconds. The worker sends the next text 250 milliseconds after
 * the last (`maxHeartbeatThrottleInterval`), so the first pause is long, and the following ones are short.
 */
const pausesMs = { afterNews: 200, least: 20, most: 250 };

/** The feed of one run: one poller reads its events for all viewers of a client, and never waits for a viewer. */
export class RunFeed {
  readonly #session: Session;
  readonly #workflowId: string;
  readonly #limits: FeedLimits;
  readonly #stop = new AbortController();
  /** Aborts when the feed is stopped or the client is closed. */
  readonly #over: AbortSignal;
  #reader: RunReader | undefined;
  readonly #redacted: boolean;
  #events: KeptEvent[] = [];
  /** The number of dropped events, which is also the number of the first event that is kept. */
  #dropped = 0;
  #size = 0;
  #change = Promise.withResolvers<void>();
  #tokenViewers = 0;
  #polls = false;
  /** The streamed text that was read last, before redaction. */
  #read: { turn: number; tail: TokenTail } | undefined;
  /** The text that the model streams now. */
  tail: { turn: number; tail: TokenTail } | undefined;
  isComplete = false;
  /** The error that ended the feed. */
  error: Error | undefined;

  /** Begins to read. With `redacted`, the events are as reviewers may see them. */
  constructor(session: Session, workflowId: string, limits = defaultLimits, redacted = false) {
    this.#redacted = redacted;
    this.#session = session;
    this.#over = AbortSignal.any([this.#stop.signal, session.closed]);
    this.#workflowId = workflowId;
    this.#limits = limits;
    void this.#run();
  }

  get hasEnded(): boolean {
    return this.isComplete || this.error !== undefined;
  }

  get changed(): Promise<void> {
    return this.#change.promise;
  }

  /** Returns the event with this number; `dropped` if it is no longer kept; undefined if it has not come yet. */
  at(ordinal: number): RecordedEvent | 'dropped' | undefined {
    return ordinal < this.#dropped ? 'dropped' : this.#shown(this.#events[ordinal - this.#dropped]);
  }

  /** True if the feed has read the event at this place. */
  knows(place: EventPlace): boolean {
    return this.#reader !== undefined && this.error === undefined && this.#hasRead(this.#reader, place);
  }

  /** Returns the number of the first event after a place; `behind` before that was read; `dropped` if it is gone. */
  find(place: EventPlace | undefined): number | 'behind' | 'dropped' {
    if (place === undefined) return this.#dropped === 0 ? 0 : 'dropped';
    const reader = this.#reader;
    if (reader === undefined || !this.#hasRead(reader, place)) return 'behind';
    const index = this.#events.findIndex((each) => reader.isAfter(each.place, place));
    // The first events after the place may be among the dropped ones.
    if (index === 0 && this.#dropped > 0) return 'dropped';
    return this.#dropped + (index === -1 ? this.#events.length : index);
  }

  /** Adds a viewer of streamed text, which is read only while there is one. The result removes the viewer. */
  watchTokens(): () => void {
    this.#tokenViewers += 1;
    if (!this.#polls) void this.#pollTokens();
    return () => {
      this.#tokenViewers -= 1;
      this.#changed();
    };
  }

  stop(): void {
    this.#stop.abort();
    this.#changed();
  }

  /** Reads the run to its end and wakes the viewers at each change. An error ends the feed and is kept in `error`. */
  async #run(): Promise<void> {
    const signal = this.#over;
    try {
      this.#reader = await RunReader.open(this.#session, this.#workflowId, { redacted: this.#redacted });
      while (!signal.aborted && !this.#reader.isComplete) {
        const { redactor } = this.#reader;
        const versionBefore = redactor?.policyVersion;
        const events = await readPatiently(this.#reader, { wait: true, signal });
        for (const event of events) this.#add(event);
        if (redactor?.policyVersion !== versionBefore) redactor?.note(this.#events.map(({ event }) => event));
        this.isComplete = this.#reader.isComplete;
        if (this.tail?.turn !== this.#reader.pendingModelCall?.turn) this.tail = undefined;
        this.#changed();
      }
    } catch (error) {
      this.error = error instanceof Error ? error : new Error(String(error));
      this.#changed();
    }
  }

  /** Keeps an event, and drops the oldest events beyond the limits. One event is always kept. */
  #add(event: RecordedEvent): void {
    const size = JSON.stringify(event).length;
    this.#events.push({ event, place: parseEventId(event.id)!, size });
    this.#size += size;
    while (
      this.#events.length > this.#limits.events ||
      (this.#size > this.#limits.characters && this.#events.length > 1)
    ) {
      this.#size -= this.#events.shift()!.size;
      this.#dropped += 1;
    }
  }

  #hasRead(reader: RunReader, { runId, eventId }: EventPlace): boolean {
    const [at, wanted] = [reader.executions.length - 1, reader.executions.lastIndexOf(runId)];
    return wanted !== -1 && (wanted < at || reader.place.eventId >= eventId);
  }

  /** Reads the text of a model call in flight, while viewers want it; more often while the text grows. */
  async #pollTokens(): Promise<void> {
    this.#polls = true;
    const signal = this.#over;
    let pauseMs = pausesMs.least;
    while (this.#tokenViewers > 0 && !signal.aborted && !this.hasEnded) {
      const call = this.#reader?.pendingModelCall;
      if (call === undefined) {
        await this.changed;
        continue;
      }
      // Errors are ignored here, because the stream of events reports problems of the server.
      const tail = await readModelTail(this.#session, this.#workflowId, call).catch(() => undefined);
      const isCurrent = this.#reader?.pendingModelCall === call;
      if (tail !== undefined && isCurrent && !isSame({ turn: call.turn, tail }, this.#read)) {
        this.#read = { turn: call.turn, tail };
        this.#showTail(this.#read);
        pauseMs = pausesMs.afterNews;
      } else pauseMs = Math.min(pauseMs === pausesMs.afterNews ? pausesMs.least : pauseMs * 1.5, pausesMs.most);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
    this.#polls = false;
  }

  #showTail({ turn, tail: read }: { turn: number; tail: TokenTail }): void {
    const redactor = this.#reader?.redactor;
    const tail = redactor === undefined ? read : redactor.tail(turn, read);
    if (tail === undefined) return;
    this.tail = { turn, tail };
    this.#changed();
  }

  /** Returns the event as viewers get it; undefined if it must be redacted and the policies were not read yet. */
  #shown(kept: KeptEvent | undefined): RecordedEvent | undefined {
    const redactor = this.#reader?.redactor;
    if (kept === undefined || redactor === undefined) return kept?.event;
    if (!redactor.isReady && !this.isComplete) return undefined;
    const { version } = redactor;
    if (kept.shown?.version !== version) kept.shown = { event: redactor.redact(kept.event), version };
    return kept.shown.event;
  }

  #changed(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers<void>();
    resolve();
  }
}

/** True if no text has come between two readings. */
function isSame(one: NonNullable<RunFeed['tail']>, other: RunFeed['tail']): boolean {
  return (
    one.turn === other?.turn &&
    one.tail.attempt === other.tail.attempt &&
    one.tail.offset === other.tail.offset &&
    one.tail.tail === other.tail.tail
  );
}

/** Reads streamed text from the heartbeat of a model's activity; undefined if its present attempt has sent none. */
async function readModelTail(
  session: Session,
  workflowId: string,
  { activityId }: PendingModelCall,
): Promise<TokenTail | undefined> {
  const { connection, namespace } = session;
  const execution = { workflowId };
  const { pendingActivities } = await connection.withDeadline(Date.now() + 5_000, () =>
    connection.workflowService.describeWorkflowExecution({ namespace, execution }),
  );
  const pending = pendingActivities.find((each) => each.activityId === activityId);
  const payload = pending?.heartbeatDetails?.payloads?.[0];
  if (payload == null || pending?.activityType?.name !== activityNames.callModel) return undefined;
  const tail = readTokenTail(await readPayload(session, payload));
  // After a failed attempt, the server still has the heartbeat of that attempt.
  return tail?.attempt === pending.attempt ? tail : undefined;
}

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** The gRPC statuses that no retry changes. `CANCELLED`: the client was closed. */
const final: readonly (number | undefined)[] = [
  grpcStatus.CANCELLED,
  grpcStatus.NOT_FOUND,
  grpcStatus.PERMISSION_DENIED,
  grpcStatus.UNAUTHENTICATED,
  grpcStatus.UNIMPLEMENTED,
  undefined,
];

/** Reads events, and retries while the server is unavailable. Returns none after abort. Throws lasting errors. */
export async function readPatiently(
  reader: RunReader,
  options: { wait: boolean; signal: AbortSignal },
): Promise<RecordedEvent[]> {
  const { signal } = options;
  for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await reader.read(options);
    } catch (error) {
      if (signal.aborted) return [];
      const status = grpcStatusOf(error);
      // This status ends a long wait without an event. It is no failure of the server.
      if (status === grpcStatus.DEADLINE_EXCEEDED) pauseMs = firstPauseMs;
      else if (final.includes(status)) throw error;
      reader.restart();
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
  return [];
}
