import { parseJson } from 'countersign/json';

/** How a stream stands. `lost`: it is opened again by itself. */
export type StreamState = 'connecting' | 'live' | 'lost';

export interface StreamOptions {
  /** Read before each opening: it can name the event after which to go on. */
  path: () => string;
  /** By event name: what to do with its data, parsed, and its id. */
  on: Readonly<Record<string, (data: unknown, id: string) => void>>;
  onState?: (state: StreamState) => void;
}

/** A heartbeat comes every 15 seconds. */
const silentMs = 40_000;
const checkMs = 5_000;
const [firstAgainMs, mostAgainMs] = [500, 15_000];

/**
 * Follows an event stream of the gateway until it is closed with the function that this returns. A stream that breaks, or
 * is silent for too long, is opened again; `EventSource` alone notices no dead connection, and gives up on an error page.
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
  // The browser tells of its network at once, and of a sleep after it.
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
