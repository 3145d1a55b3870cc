import { parseJson } from 'countersign/json';

/** The state of a stream. A `lost` stream reconnects automatically. */
export type StreamState = 'connecting' | 'live' | 'lost';

interface StreamOptions {
  /** Returns the address for each connection, which can name the last received event. */
  path: () => string;
  on: Readonly<Record<string, (data: unknown, id: string) => void>>;
  onState?: (state: StreamState) => void;
}

/** A stream that is silent for this time is lost: a heartbeat should arrive every 15 seconds. */
const silentMs = 40_000;
const checkMs = 5_000;
const [firstRetryMs, mostRetryMs] = [500, 15_000];

/**
 * Follows an event stream of the gateway until a call of the returned function. A stream that breaks or is silent for
 * too long reconnects. `EventSource` alone does not notice a dead connection, and gives up after an error response.
 */
export function openStream({ path, on, onState = () => undefined }: StreamOptions): () => void {
  let source: EventSource | undefined;
  let isClosed = false;
  let retryMs = firstRetryMs;
  let heardAtMs = 0;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;

  const lost = (): void => {
    if (isClosed) return;
    source?.close();
    source = undefined;
    onState('lost');
    clearTimeout(retryTimer);
    retryTimer = setTimeout(open, retryMs);
    retryMs = Math.min(mostRetryMs, retryMs * 2);
  };
  const heard = (): void => {
    heardAtMs = Date.now();
    retryMs = firstRetryMs;
    onState('live');
  };
  function open(): void {
    onState('connecting');
    heardAtMs = Date.now();
    const opened = new EventSource(path());
    source = opened;
    opened.addEventListener('error', lost);
    opened.addEventListener('heartbeat', heard);
    for (const [name, handle] of Object.entries(on)) {
      opened.addEventListener(name, (event) => {
        heard();
        handle(parseJson(event.data), event.lastEventId);
      });
    }
  }
  const watch = setInterval(() => {
    if (source !== undefined && Date.now() - heardAtMs > silentMs) lost();
  }, checkMs);
  // After a change of the network, or after sleep, the stream reconnects at once instead of waiting for `silentMs`.
  const reopen = (): void => {
    if (source !== undefined && Date.now() - heardAtMs < checkMs) return;
    retryMs = firstRetryMs;
    lost();
  };
  window.addEventListener('offline', lost);
  window.addEventListener('online', reopen);
  open();
  return () => {
    window.removeEventListener('offline', lost);
    window.removeEventListener('online', reopen);
    isClosed = true;
    clearInterval(watch);
    clearTimeout(retryTimer);
    source?.close();
  };
}

/** True if this page can take locks. Browsers give none to a page at a plain http address of another machine. */
function hasLocks(): boolean {
  return 'locks' in navigator;
}

/**
 * Calls `use` when this tab gets a lock, and the function that `use` returned when it loses the lock to another tab.
 * `take` takes the lock from another tab. In a browser without locks, every tab behaves as if it had the lock.
 */
export function holdLock(name: string, use: () => () => void) {
  let attempt = new AbortController();
  let isHeld = false;
  const request = (steal: boolean): void => {
    attempt.abort();
    const own = new AbortController();
    attempt = own;
    let stopUse: (() => void) | undefined;
    const start = (): void => {
      isHeld = true;
      stopUse = use();
    };
    const stop = (): void => {
      if (stopUse === undefined) return;
      isHeld = false;
      stopUse();
      stopUse = undefined;
    };
    own.signal.addEventListener('abort', stop);
    if (!hasLocks()) return start();
    const hold = (): Promise<void> | undefined => {
      if (own.signal.aborted) return undefined;
      start();
      return new Promise((done) => own.signal.addEventListener('abort', () => done()));
    };
    navigator.locks.request(name, steal ? { steal } : { signal: own.signal }, hold).catch(() => {
      if (own.signal.aborted) return;
      // If the tab had the lock, another tab has taken it. Otherwise the browser gives this page no locks.
      if (stopUse === undefined) return start();
      stop();
      request(false);
    });
  };
  request(false);
  return {
    take: (): void => {
      if (!isHeld) request(true);
    },
    release: (): void => attempt.abort(),
  };
}

/** Calls `start` when the tab is visible, and the function from `start` when it is hidden. Returns how to stop both. */
export function whileVisible(start: () => () => void): () => void {
  let stop: (() => void) | undefined;
  const look = (): void => {
    if (document.visibilityState === 'visible') stop ??= start();
    else {
      stop?.();
      stop = undefined;
    }
  };
  document.addEventListener('visibilitychange', look);
  look();
  return () => {
    document.removeEventListener('visibilitychange', look);
    stop?.();
    stop = undefined;
  };
}

interface SharedStreamOptions extends StreamOptions {
  /** Tabs with the same name share one stream. */
  name: string;
  /** Returns events that bring another tab to the present state of this tab. */
  present: () => readonly SharedEvent[];
  onState: (state: StreamState) => void;
}

type SharedEvent = readonly [name: string, data: unknown];

/** A message between tabs. `from`: the id of the tab that has the stream. */
type Message =
  | { kind: 'hello' }
  | { kind: 'leads'; from: string; state: StreamState; events: readonly SharedEvent[] }
  | { kind: 'state'; from: string; state: StreamState; isHidden: boolean }
  | { kind: 'event'; from: string; event: SharedEvent };

/** If the tab with the stream forwards nothing for this time, another tab opens a stream. Heartbeats come each 15 s. */
const sharedSilentMs = 40_000;
/** How long a new tab waits for an answer of the tab with the stream, which is late only if the browser froze it. */
const answerMs = 5_000;
const sharedCheckMs = 5_000;

/**
 * Follows an event stream together with the other tabs of this browser: one tab has the stream and forwards its events.
 * When that tab is closed, frozen or silent, another tab opens the stream, which must begin with the whole state. In a
 * browser whose tabs cannot share, each visible tab has a stream. Returns a function that leaves the stream.
 */
export function openSharedStream(options: SharedStreamOptions): () => void {
  if (!hasLocks() || !('BroadcastChannel' in globalThis)) return whileVisible(() => openStream(options));
  let leave: (() => void) | undefined = share(options);
  const freeze = (): void => {
    leave?.();
    leave = undefined;
  };
  const resume = (): void => {
    leave ??= share(options);
  };
  document.addEventListener('freeze', freeze);
  document.addEventListener('resume', resume);
  return () => {
    document.removeEventListener('freeze', freeze);
    document.removeEventListener('resume', resume);
    leave?.();
  };
}

/** The tab with the lock has the stream (`lead`). The others `follow` it, and take the lock if it is silent. */
function share({ name, path, on, onState, present }: SharedStreamOptions): () => void {
  const own = crypto.randomUUID();
  const channel = new BroadcastChannel(name);
  const tell = (message: Message): void => channel.postMessage(message);
  let leader: string | undefined;
  let state: StreamState = 'connecting';
  /** When the tab with the stream counts as silent, unless a message of it arrives before. */
  let silentAtMs = 0;
  const follow = (): void => {
    leader = undefined;
    silentAtMs = Date.now() + answerMs;
    tell({ kind: 'hello' });
  };
  const lead = (): (() => void) => {
    leader = own;
    tell({ kind: 'leads', from: own, state: 'connecting', events: [] });
    const pass = (event: string) => (data: unknown, id: string) => {
      on[event]?.(data, id);
      tell({ kind: 'event', from: own, event: [event, data] });
    };
    const close = openStream({
      path,
      on: Object.fromEntries(Object.keys(on).map((event) => [event, pass(event)])),
      onState: (next) => {
        state = next;
        tell({ kind: 'state', from: own, state, isHidden: isHidden() });
        onState(state);
      },
    });
    return () => {
      close();
      if (!isOver) follow();
    };
  };
  const hear = (message: Message): void => {
    if (message.kind === 'hello') {
      if (leader === own) tell({ kind: 'leads', from: own, state, events: present() });
      return;
    }
    // This tab has the stream now. A tab that was frozen may still forward its outdated events.
    if (leader === own) return;
    if (message.kind === 'leads') leader = message.from;
    if (message.from !== leader) return;
    silentAtMs = Date.now() + sharedSilentMs;
    if (message.kind === 'event') return take(message.event);
    onState(message.state);
    if (message.kind === 'leads') message.events.forEach(take);
    // The browser slows down the reconnection of a hidden tab, so a visible tab takes over.
    else if (message.state === 'lost' && message.isHidden && !isHidden()) lock.take();
  };
  const take = ([event, data]: SharedEvent): void => on[event]?.(data, '');
  const look = (): void => {
    if (leader === own || Date.now() < silentAtMs) return;
    silentAtMs = Date.now() + sharedSilentMs;
    lock.take();
  };
  let isOver = false;
  channel.addEventListener('message', ({ data }) => hear(data as Message));
  follow();
  const lock = holdLock(name, lead);
  const watch = setInterval(look, sharedCheckMs);
  document.addEventListener('visibilitychange', look);
  return () => {
    isOver = true;
    document.removeEventListener('visibilitychange', look);
    clearInterval(watch);
    lock.release();
    channel.close();
  };
}

function isHidden(): boolean {
  return document.visibilityState === 'hidden';
}
