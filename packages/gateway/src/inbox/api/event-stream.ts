import { parseJson } from 'countersign/json';

/** The state of a stream. `lost`: it reconnects automatically. */
export type StreamState = 'connecting' | 'live' | 'lost';

export interface StreamOptions {
  /** Read before each connection: it can name the last event received. */
  path: () => string;
  /** By event name: what to do with its data, parsed, and its id. */
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
