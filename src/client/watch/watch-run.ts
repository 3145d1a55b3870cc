import { parseEventId, type EventPlace, type RecordedEvent, type RunEvent } from '../../events/run-event.ts';
import { TokenCursor } from '../../events/token-tail.ts';
import { translateServerError } from '../../connection/server-error.ts';
import { callServer, changedOrAborted, type Session } from '../server/session.ts';
import { readPatiently, RunFeed } from './run-feed.ts';
import { findPlace, type ResumePlace, RunReader } from '../history/run-reader.ts';

/** The most viewers of a client that read the history at the same time, each with a `CatchUp`. */
const mostCatchUps = 4;
/** The longest time for one event in a `CatchUp`, in milliseconds. A slower viewer gives its place to another viewer. */
const longestReadMs = 2_000;

/** The turn of a viewer that is behind its feed: it reads the history itself, and keeps a page in memory. */
interface CatchUp {
  /** True once the turn is over. Then the viewer has to read again from its place. */
  isOver(): boolean;
  /**
   * Called before an event is yielded; the result is called when the viewer has read the event. If that takes too
   * long, `offer` calls `letGo`, which frees the page, and ends the turn.
   */
  offer(letGo: () => void): () => void;
  end(): void;
}

const running = new WeakMap<Session, { count: number; waiting: (() => void)[] }>();

/** Options of `client.events`. */
export interface WatchOptions {
  /** The id of an event after which the stream resumes. Default: the stream begins with the run. */
  after?: string;
  /** A signal that ends the stream when it aborts. Closing the client ends the stream, too. */
  signal?: AbortSignal;
  /** If false, the stream ends after the past events. Default true: it ends with the run. */
  follow?: boolean;
  /** If false, the stream has no `RawResponseEvent`. Default true. */
  tokens?: boolean;
  /** If true, the events show only what reviewers may see of them (docs/gateway-events.md). Default false. */
  redacted?: boolean;
}

const feeds = new WeakMap<Session, Map<string, OpenFeed>>();

/** Yields the events of a run, past and future; see `CountersignClient.events`. */
export async function* watchRun(
  session: Session,
  workflowId: string,
  options: WatchOptions = {},
): AsyncGenerator<RunEvent, void, undefined> {
  try {
    yield* await openWatch(session, workflowId, options);
  } catch (error) {
    if (options.signal?.aborted === true || session.closed.aborted) return;
    throw error;
  }
}

/** Opens a stream of events. Rejects if `after` is not a place in the run. Closing the client ends the stream. */
export async function openWatch(
  session: Session,
  workflowId: string,
  options: WatchOptions = {},
): Promise<AsyncGenerator<RunEvent, void, undefined>> {
  const { after } = options;
  const place = after === undefined ? undefined : parseEventId(after);
  // A feed that has read the event at this place saves the search on the server.
  const isKnown = place !== undefined && openFeed(session, workflowId, options)?.feed.knows(place) === true;
  const find = () => findPlace(session, workflowId, after!);
  const found =
    isKnown || after === undefined ? { place } : await callServer(session, find, { workflowId, timeoutMs: 60_000 });
  const signal = AbortSignal.any([session.closed, ...(options.signal === undefined ? [] : [options.signal])]);
  return watchFrom(session, workflowId, found, { ...options, signal });
}

/** Yields the gap, if there is one, and the events after the place. Throws the server's problem, except after abort. */
async function* watchFrom(
  session: Session,
  workflowId: string,
  { place, gap }: ResumePlace,
  { follow = true, tokens = true, redacted = false, signal }: WatchOptions & { signal: AbortSignal },
): AsyncGenerator<RunEvent, void, undefined> {
  try {
    if (gap !== undefined) yield gap;
    yield* follow
      ? followRun(session, workflowId, place, { signal, tokens, redacted })
      : readRun(session, workflowId, place, { signal, redacted });
  } catch (error) {
    if (signal.aborted) return;
    throw translateServerError(error, { address: session.address, namespace: session.namespace, workflowId });
  }
}

/** Yields the recorded events after a place. With `redacted`, they wait until the reader knows the policies. */
async function* readRun(
  session: Session,
  workflowId: string,
  place: EventPlace | undefined,
  { signal, redacted, turn }: { signal: AbortSignal; redacted: boolean; turn?: CatchUp },
): AsyncGenerator<RecordedEvent, void, undefined> {
  const reader = await RunReader.open(session, workflowId, { redacted });
  const { redactor } = reader;
  let isAfterPlace = place === undefined;
  const unread: RecordedEvent[] = [];
  const letGo = (): void => void unread.splice(0);
  while (!signal.aborted) {
    for (const event of await readPatiently(reader, { wait: false, signal })) {
      isAfterPlace ||= reader.isAfter(parseEventId(event.id)!, place!);
      if (isAfterPlace) unread.push(event);
    }
    if (redactor === undefined || redactor.isReady || reader.isComplete) {
      // The viewer may leave an event unread for long. Then `letGo` empties the list, and the turn is over.
      for (let event = unread.shift(); event !== undefined; event = unread.shift()) {
        const wasRead = turn?.offer(letGo);
        yield redactor === undefined ? event : redactor.redact(event);
        wasRead?.();
      }
    }
    if (turn?.isOver() === true) return;
    if (reader.isComplete || reader.isAtEnd) return;
  }
}

/** Yields events until the run ends, from a feed that all viewers share. A viewer far behind reads the history. */
async function* followRun(
  session: Session,
  workflowId: string,
  from: EventPlace | undefined,
  { signal, tokens, redacted }: { signal: AbortSignal; tokens: boolean; redacted: boolean },
): AsyncGenerator<RunEvent, void, undefined> {
  const { feed, leave } = joinFeed(session, workflowId, redacted);
  const unwatch = tokens ? feed.watchTokens() : () => undefined;
  const cursor = new TokenCursor();
  let place = from;
  // The number of the next event in the feed. Undefined: the feed has to find it by `place`.
  let ordinal: number | undefined;
  try {
    while (!signal.aborted) {
      const { changed } = feed;
      const nextOrdinal: number | 'behind' | 'dropped' = ordinal ?? feed.find(place);
      const event = typeof nextOrdinal === 'number' ? feed.at(nextOrdinal) : nextOrdinal;
      if (event === 'dropped') {
        ordinal = undefined;
        for await (const missed of readMissed(session, workflowId, place, { signal, redacted })) {
          place = parseEventId(missed.id);
          yield missed;
        }
        continue;
      }
      if (event !== undefined && event !== 'behind') {
        ordinal = (nextOrdinal as number) + 1;
        place = parseEventId(event.id);
        yield event;
        continue;
      }
      if (feed.error !== undefined) throw feed.error;
      if (feed.isComplete) return;
      // The feed has tokens if any viewer of the run reads them; this viewer may not want them.
      const delta = !tokens || feed.tail === undefined ? undefined : cursor.next(feed.tail.turn, feed.tail.tail);
      if (delta !== undefined) yield { type: 'RawResponseEvent', workflowId, at: new Date().toISOString(), ...delta };
      else await changedOrAborted(changed, signal);
    }
  } finally {
    unwatch();
    leave();
  }
}

/** Yields events that the feed has dropped, from the history, when it is this viewer's turn to read it. */
async function* readMissed(
  session: Session,
  workflowId: string,
  place: EventPlace | undefined,
  { signal, redacted }: { signal: AbortSignal; redacted: boolean },
): AsyncGenerator<RecordedEvent, void, undefined> {
  const turn = await catchUp(session);
  try {
    if (!signal.aborted) yield* readRun(session, workflowId, place, { signal, redacted, turn });
  } finally {
    turn.end();
  }
}

interface OpenFeed {
  feed: RunFeed;
  viewers: number;
}

function openFeed(session: Session, workflowId: string, { redacted = false }: WatchOptions): OpenFeed | undefined {
  return feeds.get(session)?.get(feedKey(workflowId, redacted));
}

function feedKey(workflowId: string, redacted: boolean): string {
  return `${redacted ? 'redacted' : 'whole'} ${workflowId}`;
}

/** Joins the feed of a run, or opens one. The feed stops when its last viewer leaves. */
function joinFeed(session: Session, workflowId: string, redacted: boolean): { feed: RunFeed; leave: () => void } {
  const open = feeds.get(session) ?? new Map<string, OpenFeed>();
  feeds.set(session, open);
  const known = openFeed(session, workflowId, { redacted });
  const shared: OpenFeed =
    known === undefined || known.feed.error !== undefined
      ? { feed: new RunFeed(session, workflowId, undefined, redacted), viewers: 0 }
      : known;
  const key = feedKey(workflowId, redacted);
  open.set(key, shared);
  shared.viewers += 1;
  return {
    feed: shared.feed,
    leave: () => {
      shared.viewers -= 1;
      if (shared.viewers > 0) return;
      shared.feed.stop();
      if (open.get(key) === shared) open.delete(key);
    },
  };
}

/** Waits for a turn to read the history. A slow viewer loses its turn and its page, so others soon get theirs. */
async function catchUp(session: Session): Promise<CatchUp> {
  const turns = running.get(session) ?? { count: 0, waiting: [] };
  running.set(session, turns);
  if (turns.count >= mostCatchUps) await new Promise<void>((resolve) => turns.waiting.push(resolve));
  else turns.count += 1;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    const next = turns.waiting.shift();
    // If a viewer waits, it takes over this turn, so the number of turns stays the same.
    if (next === undefined) turns.count -= 1;
    else next();
  };
  return {
    isOver: () => isOver,
    offer: (letGo) => {
      const timer = setTimeout(() => {
        letGo();
        end();
      }, longestReadMs);
      timer.unref();
      return () => clearTimeout(timer);
    },
    end,
  };
}
