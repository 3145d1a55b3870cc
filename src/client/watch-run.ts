import { parseEventId, type EventPlace } from '../core/events/event-id.ts';
import type { RecordedEvent, RunEvent } from '../core/events/run-event.ts';
import { TokenCursor } from '../core/events/token-cursor.ts';
import { translateServerError } from '../connection/server-error.ts';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';
import { readPatiently } from './read-patiently.ts';
import { findPlace } from './resume-place.ts';
import { RunFeed } from './run-feed.ts';
import { RunReader } from './run-reader.ts';

/** Options of `client.events`. */
export interface WatchOptions {
  /** The id of an event: the stream goes on after it. Default: from the beginning of the run. */
  after?: string;
  /** Ends the stream. */
  signal?: AbortSignal;
  /** False: the stream ends with what has happened so far. Default true: it ends with the run. */
  follow?: boolean;
  /** False: without `RawResponseEvent`. Default true. */
  tokens?: boolean;
}

/** The feeds of a client, by workflow id, and how many watch each. */
const feeds = new WeakMap<Session, Map<string, { feed: RunFeed; viewers: number }>>();

/** The events of a run, past and future; see `CountersignClient.events`. */
export async function* watchRun(
  session: Session,
  workflowId: string,
  options: WatchOptions = {},
): AsyncGenerator<RunEvent, void, undefined> {
  const { after, follow = true, tokens = true, signal = new AbortController().signal } = options;
  try {
    const find = () => findPlace(session, workflowId, after!);
    const resumed = after === undefined ? {} : await callServer(session, find, { workflowId, timeoutMs: 60_000 });
    if (resumed.gap !== undefined) yield resumed.gap;
    yield* follow
      ? followRun(session, workflowId, resumed.place, { signal, tokens })
      : readRun(session, workflowId, resumed.place, signal);
  } catch (error) {
    if (signal.aborted) return;
    throw translateServerError(error, { address: session.address, namespace: session.namespace, workflowId });
  }
}

/** What has happened up to now, after a place. */
async function* readRun(
  session: Session,
  workflowId: string,
  place: EventPlace | undefined,
  signal: AbortSignal,
): AsyncGenerator<RecordedEvent, void, undefined> {
  const reader = await RunReader.open(session, workflowId);
  let hasPassed = place === undefined;
  while (!signal.aborted) {
    for (const event of await readPatiently(reader, { wait: false, signal })) {
      hasPassed ||= reader.isAfter(parseEventId(event.id)!, place!);
      if (hasPassed) yield event;
    }
    if (reader.isComplete || reader.isAtEnd) return;
  }
}

async function* followRun(
  session: Session,
  workflowId: string,
  from: EventPlace | undefined,
  { signal, tokens }: { signal: AbortSignal; tokens: boolean },
): AsyncGenerator<RunEvent, void, undefined> {
  const { feed, leave } = joinFeed(session, workflowId);
  const unwatch = tokens ? feed.watchTokens() : () => undefined;
  const cursor = new TokenCursor();
  let place = from;
  let ordinal: number | undefined;
  try {
    while (!signal.aborted) {
      const { changed } = feed;
      const found: number | 'behind' | 'dropped' = ordinal ?? feed.find(place);
      const event = typeof found === 'number' ? feed.at(found) : found;
      if (event === 'dropped') {
        ordinal = undefined;
        for await (const missed of readRun(session, workflowId, place, signal)) {
          place = parseEventId(missed.id);
          yield missed;
        }
        continue;
      }
      if (event !== undefined && event !== 'behind') {
        ordinal = (found as number) + 1;
        place = parseEventId(event.id);
        yield event;
        continue;
      }
      if (feed.error !== undefined) throw feed.error;
      if (feed.isComplete) return;
      const delta = feed.tail === undefined ? undefined : cursor.next(feed.tail.turn, feed.tail.tail);
      if (delta !== undefined) yield { type: 'RawResponseEvent', workflowId, at: new Date().toISOString(), ...delta };
      else await changedOrAborted(changed, signal);
    }
  } finally {
    unwatch();
    leave();
  }
}

function changedOrAborted(changed: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
    void changed.then(done);
  });
}

function joinFeed(session: Session, workflowId: string): { feed: RunFeed; leave: () => void } {
  const open = feeds.get(session) ?? new Map<string, { feed: RunFeed; viewers: number }>();
  feeds.set(session, open);
  const known = open.get(workflowId);
  const shared =
    known === undefined || known.feed.error !== undefined
      ? { feed: new RunFeed(session, workflowId), viewers: 0 }
      : known;
  open.set(workflowId, shared);
  shared.viewers += 1;
  return {
    feed: shared.feed,
    leave: () => {
      shared.viewers -= 1;
      if (shared.viewers > 0) return;
      shared.feed.stop();
      if (open.get(workflowId) === shared) open.delete(workflowId);
    },
  };
}
