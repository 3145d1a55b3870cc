import type { Ran } from 'countersign/card';
import type {
  ApprovalRequestEvent,
  ApprovalResultEvent,
  RawResponseEvent,
  RecordedEvent,
  RunCompleteEvent,
  RunEvent,
} from 'countersign/client';

/** What the page knows of a run: its events, each once and in order, and the text that the model is writing. */
export interface Timeline {
  events: readonly RecordedEvent[];
  /** The id of the last event, after which a new stream resumes. */
  lastId?: string;
  dropped: number;
  writing?: Writing;
  end?: RunCompleteEvent;
}

export interface Writing {
  turn: number;
  /** The length of the part of the answer before `text`, in UTF-16 code units. */
  before: number;
  text: string;
}

export interface Decided {
  request: ApprovalRequestEvent;
  result?: ApprovalResultEvent;
  ran?: Ran;
}

export const emptyTimeline: Timeline = { events: [], dropped: 0 };

/** The most events that a page keeps, because it may stay open for days. */
const mostEvents = 3_000;
const mostWriting = 100_000;

/** Adds new events in their order. It ignores events that the timeline has already: a stream may repeat some. */
export function withEvents(timeline: Timeline, arrived: readonly RunEvent[]): Timeline {
  const known = new Set(timeline.events.map((event) => event.id));
  const events = [...timeline.events];
  let { lastId, writing, end } = timeline;
  for (const event of arrived) {
    if (event.type === 'RawResponseEvent') {
      writing = withDelta(writing, event);
      continue;
    }
    if (known.has(event.id)) continue;
    known.add(event.id);
    events.push(event);
    lastId = event.id;
    if (event.type === 'RunCompleteEvent') end = event;
    if (endsTurn(event)) writing = undefined;
  }
  const over = Math.max(0, events.length - mostEvents);
  return { events: over === 0 ? events : events.slice(over), dropped: timeline.dropped + over, lastId, writing, end };
}

/** Removes the unfinished text, because a new stream does not repeat the parts that the lost stream has missed. */
export function withoutWriting(timeline: Timeline): Timeline {
  return { ...timeline, writing: undefined };
}

/** The requests in events, in order, with their decisions and whether the tool ran. */
export function decisionsOf(events: readonly RecordedEvent[]): Decided[] {
  const decisions = new Map<string, Decided>();
  for (const event of events) {
    if (event.type === 'ApprovalRequestEvent') decisions.set(event.requestId, { request: event });
    if (event.type === 'ApprovalResultEvent') {
      const asked = decisions.get(event.requestId);
      if (asked !== undefined) Object.assign(asked, { result: event, ran: event.ran });
    }
    if (event.type !== 'RunItemEvent' || event.item.type !== 'tool_result') continue;
    // An approval only starts the tool; the result says whether it ran.
    for (const each of decisions.values()) {
      if (each.ran === 'pending' && each.request.callId === event.item.callId) each.ran = event.item.ran;
    }
  }
  return [...decisions.values()];
}

/** What the user of a session can do with the last turn: retry a failed turn, or stop a running one. */
export interface LastTurn {
  eventId: string;
  canRetry: boolean;
  canStop: boolean;
}

/** The last turn of a session; undefined before the first one, and once the run has ended. */
export function lastTurnOf(events: readonly RecordedEvent[]): LastTurn | undefined {
  const last = events.findLast((event) => endsTurn(event) || isOfUser(event));
  if (last?.type !== 'RunItemEvent') return undefined;
  const { id: eventId, item } = last;
  if (item.type !== 'turn_ended') return { eventId, canRetry: false, canStop: true };
  return { eventId, canRetry: item.failure !== undefined, canStop: false };
}

function isOfUser(event: RecordedEvent): boolean {
  return event.type === 'RunItemEvent' && event.item.type === 'message' && event.item.role === 'user';
}

/** Adds a part to the text that the model is writing. Of a long text, the last `mostWriting` characters are kept. */
function withDelta(writing: Writing | undefined, { turn, offset, delta }: RawResponseEvent): Writing {
  const end = writing === undefined ? -1 : writing.before + writing.text.length;
  // A part that does not follow `writing` directly begins a new text: after a retry, in another turn, or after a loss.
  if (writing === undefined || writing.turn !== turn || offset !== end) return { turn, before: offset, text: delta };
  const text = writing.text + delta;
  const over = Math.max(0, text.length - mostWriting);
  return { turn, before: writing.before + over, text: text.slice(over) };
}

/** True for an event that ends an answer of the model. */
function endsTurn(event: RecordedEvent): boolean {
  if (event.type === 'RunCompleteEvent') return true;
  if (event.type !== 'RunItemEvent') return false;
  const { item } = event;
  return (
    item.type === 'tool_call' || item.type === 'turn_ended' || (item.type === 'message' && item.role === 'assistant')
  );
}
