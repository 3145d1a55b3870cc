import { openStream, type StreamOptions, type StreamState } from './event-stream.ts';
import { hasLocks, holdLock, whileVisible } from './tab-lock.ts';

export interface SharedStreamOptions extends StreamOptions {
  /** Tabs with the same name share one stream: those of one session. */
  name: string;
  /** The events that bring another tab to the present state of this one. */
  present: () => readonly SharedEvent[];
  onState: (state: StreamState) => void;
}

/** One event: its name and its data. */
export type SharedEvent = readonly [name: string, data: unknown];

/** What tabs tell each other. `from`: the tab that has the stream. */
type Message =
  | { kind: 'hello' }
  | { kind: 'leads'; from: string; state: StreamState; events: readonly SharedEvent[] }
  | { kind: 'state'; from: string; state: StreamState; isHidden: boolean }
  | { kind: 'event'; from: string; event: SharedEvent };

/** The tab that has the stream passes its heartbeats on, which come every 15 seconds. */
const silentMs = 40_000;
/** It answers at once, unless the browser has frozen it. */
const answerMs = 5_000;
const checkMs = 5_000;

/**
 * Follows an event stream together with the other tabs of this browser: one of them has the stream, and passes its events
 * on. When it is closed, frozen or silent, another one opens the stream. Each opening must begin with the whole state.
 * Returns how to stop. A browser that cannot share has a stream in each tab that can be seen.
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
    // A tab that was frozen may still pass on what was true before.
    if (leader === own) return;
    if (message.kind === 'leads') leader = message.from;
    if (message.from !== leader) return;
    silentAtMs = Date.now() + silentMs;
    if (message.kind === 'event') return take(message.event);
    onState(message.state);
    if (message.kind === 'leads') message.events.forEach(take);
    // The browser slows a hidden tab down, and what it tries again too.
    else if (message.state === 'lost' && message.isHidden && !isHidden()) lock.take();
  };
  const take = ([event, data]: SharedEvent): void => on[event]?.(data, '');
  const look = (): void => {
    if (leader === own || Date.now() < silentAtMs) return;
    silentAtMs = Date.now() + silentMs;
    lock.take();
  };
  let isOver = false;
  channel.addEventListener('message', ({ data }) => hear(data as Message));
  follow();
  const lock = holdLock(name, lead);
  const watch = setInterval(look, checkMs);
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
