import { parseJson } from 'countersign/json';

/** The state of a stream. `lost`: it reconnects automatically. */
export type StreamState = 'connecting' | 'live' | 'lost';

interface StreamOptions {
  /** Read before each connection: it can name the last event received. */
  path: () => string;
  on: Readonly<Record<string, (data: unknown, id: string) => void>>;
  onState?: (state: StreamState) => void;
}

/** A heartbeat arrives every 15 seconds. */
const silentMs = 40_000;
const checkMs = 5_000;
const [firstAgainMs, mostAgainMs] = [500, 15_000];

/**
 * Follows an event stream of the gateway until the returned function closes it. A stream that breaks, or is silent for
 * too long, reconnects; `EventSource` alone notices no dead connection, and gives up on an error page.
 */
export function openStream({ path, on, onState = () => undefined }: StreamOptions): () => void {
  let source: EventSource | undefined;
  let isClosed = false;
  let againMs = firstAgainMs;
  let heardAtMs = 0;
  let again: ReturnType<typeof setTimeout> | undefined;

  const lost = (): void => {
    if (isClosed) return;
    source?.close();
    source = undefined;
    onState('lost');
    clearTimeout(again);
    again = setTimeout(open, againMs);
    againMs = Math.min(mostAgainMs, againMs * 2);
  };
  const heard = (): void => {
    heardAtMs = Date.now();
    againMs = firstAgainMs;
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
  // The browser reports a network change at once, and a sleep afterwards.
  const reopen = (): void => {
    if (source !== undefined && Date.now() - heardAtMs < checkMs) return;
    againMs = firstAgainMs;
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
    clearTimeout(again);
    source?.close();
  };
}

/** A page at a plain http address of another machine has no locks. */
function hasLocks(): boolean {
  return 'locks' in navigator;
}

/** Calls `use` when this tab gets the lock, and its result when the lock is lost. Without locks, every tab has it. */
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
      // Either another tab has taken it, or this document gets no lock at all.
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

/** Calls `start` while the tab is visible, and its result once it is hidden. Returns a function that stops this. */
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
  /** Tabs with the same name share one stream: those of one session. */
  name: string;
  /** The events that bring another tab to this one's present state. */
  present: () => readonly SharedEvent[];
  onState: (state: StreamState) => void;
}

type SharedEvent = readonly [name: string, data: unknown];

/** A message between tabs. `from`: the tab that has the stream. */
type Message =
  | { kind: 'hello' }
  | { kind: 'leads'; from: string; state: StreamState; events: readonly SharedEvent[] }
  | { kind: 'state'; from: string; state: StreamState; isHidden: boolean }
  | { kind: 'event'; from: string; event: SharedEvent };

/** The tab that has the stream forwards its heartbeats, one every 15 seconds. */
const sharedSilentMs = 40_000;
/** It answers at once, unless the browser has frozen it. */
const answerMs = 5_000;
const sharedCheckMs = 5_000;

/**
 * Follows an event stream together with the other tabs of this browser: one of them has the stream, and forwards its
 * events. When it is closed, frozen or silent, another one opens the stream. Each opening must begin with the whole
 * state. Returns a function that stops this. A browser that cannot share has a stream in each visible tab.
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

function share({ name, path, on, onState, present }: SharedStreamOptions): () => void {
  const own = crypto.randomUUID();
  const channel = new BroadcastChannel(name);
  const tell = (message: Message): void => channel.postMessage(message);
  let leader: string | undefined;
  let state: StreamState = 'connecting';
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
    // A tab that was frozen may still forward outdated events.
    if (leader === own) return;
    if (message.kind === 'leads') leader = message.from;
    if (message.from !== leader) return;
    silentAtMs = Date.now() + sharedSilentMs;
    if (message.kind === 'event') return take(message.event);
    onState(message.state);
    if (message.kind === 'leads') message.events.forEach(take);
    // The browser throttles a hidden tab, and its retries, too.
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
