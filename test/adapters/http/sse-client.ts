import type { RunEvent } from '../../../src/events/run-event.ts';

/** One server-sent event. */
export interface SseEvent {
  event: string;
  id?: string;
  data: unknown;
}

/** A viewer that reads at once whatever comes. */
export interface SseClient {
  status: number;
  contentType: string;
  /** What has come so far. */
  events: SseEvent[];
  /** Resolves when the stream has ended, in whichever way. */
  ended: Promise<void>;
  close(): Promise<void>;
}

export async function openSse(url: string | URL, headers: Record<string, string> = {}): Promise<SseClient> {
  const stop = new AbortController();
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: stop.signal });
  const events: SseEvent[] = [];
  const read = async (): Promise<void> => {
    let text = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body!) {
        text += decoder.decode(chunk as Uint8Array, { stream: true });
        const blocks = text.split('\n\n');
        text = blocks.pop()!;
        events.push(...blocks.flatMap(eventOf));
      }
    } catch {
      // Cut off, or closed by this client.
    }
  };
  const ended = read();
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    events,
    ended,
    close: async () => {
      stop.abort();
      await ended;
    },
  };
}

/** The events of a run among them. */
export function runEventsOf({ events }: Pick<SseClient, 'events'>): RunEvent[] {
  const beside = ['heartbeat', 'end', 'trouble'];
  return events.filter(({ event }) => !beside.includes(event)).map(({ data }) => data as RunEvent);
}

/** As the standard says; a block without data is no event. */
function eventOf(block: string): SseEvent[] {
  const field = (name: string): string[] =>
    block
      .split('\n')
      .filter((line) => line.startsWith(`${name}: `))
      .map((line) => line.slice(name.length + 2));
  const [data] = field('data');
  const [event = 'message'] = field('event');
  const [id] = field('id');
  return data === undefined ? [] : [{ event, data: JSON.parse(data) as unknown, ...(id !== undefined && { id }) }];
}
