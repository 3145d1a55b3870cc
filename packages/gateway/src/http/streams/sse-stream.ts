import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { ProblemError } from 'countersign/base';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import type { Principal } from '../identity/principal.ts';

const openStreams = new WeakMap<GatewayContext, { all: number; byPerson: Map<string, number> }>();

export interface StreamLimits {
  heartbeatMs: number;
  /** A viewer that reads nothing for this time is cut off. */
  stalledMs: number;
  /** A stream ends after this time, so that the viewer's credential is checked again. */
  longestMs: number;
  most: number;
  /** Streams of one authenticated person, so that one person cannot take all of them. */
  mostOfOne: number;
}

const defaultLimits: StreamLimits = {
  heartbeatMs: 15_000,
  stalledMs: 30_000,
  longestMs: 3_600_000,
  most: 2_000,
  mostOfOne: 200,
};

/** A frame is sent in pieces, so that a slow viewer of a large frame does not count as stalled. */
const pieceBytes = 65_536;
const encoder = new TextEncoder();
/** `retry`: how long a browser waits before it reconnects, in milliseconds. */
const opening = encoder.encode('retry: 1000\n\n');
const heartbeatFrame = sseFrame('heartbeat', {});

export interface StreamForm {
  /** Default: an event `heartbeat`. */
  heartbeat?: Uint8Array;
  headers?: Record<string, string>;
}

/** One event as it is sent. `id`: its place, after which a viewer resumes. */
export function sseFrame(event: string, data: unknown, id?: string): Uint8Array {
  return encoder.encode(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
}

/**
 * The server-sent events of one viewer. It holds one frame at a time: `send` waits until the connection has accepted
 * it, so a viewer that does not read costs one frame and the buffer of the socket, until it is cut off.
 */
export class SseStream {
  readonly #over = new AbortController();
  readonly #limits: StreamLimits;
  readonly #heartbeat: Uint8Array;
  readonly #cut: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #waiting: { piece: Uint8Array; sinceMs: number; taken: () => void } | undefined;
  /** Resolves the pending `pull`. Set while the connection has room. */
  #wants: (() => void) | undefined;
  readonly body: ReadableStream<Uint8Array>;

  /** `cut`: closes the connection, and drops pending data. */
  constructor(limits: StreamLimits, cut: () => void, heartbeat = heartbeatFrame) {
    this.#limits = limits;
    this.#heartbeat = heartbeat;
    this.#cut = cut;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          controller.enqueue(opening);
        },
        pull: () =>
          new Promise<void>((resolve) => {
            this.#wants = resolve;
            this.#flush();
          }),
        cancel: () => this.#finish(),
      },
      { highWaterMark: 0 },
    );
    const timers = [
      setInterval(() => this.#beat(), limits.heartbeatMs),
      setInterval(() => this.#look(), Math.min(1_000, limits.stalledMs / 4)),
      setTimeout(() => this.end(), limits.longestMs),
    ];
    for (const timer of timers) timer.unref();
    this.signal.addEventListener('abort', () => timers.forEach((timer) => clearTimeout(timer)));
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Resolves once the connection has accepted the frame. False: the stream is over. One call at a time. */
  async send(frame: Uint8Array): Promise<boolean> {
    for (let at = 0; at < frame.length && !this.signal.aborted; at += pieceBytes) {
      await new Promise<void>((taken) => {
        this.#waiting = { piece: frame.subarray(at, at + pieceBytes), sinceMs: performance.now(), taken };
        this.#flush();
      });
    }
    return !this.signal.aborted;
  }

  /** Ends the stream. Unread data of the viewer is lost. */
  end(): void {
    if (this.signal.aborted) return;
    const isStuck = this.#waiting !== undefined;
    this.#finish();
    if (isStuck) this.#cut();
    else this.#controller?.close();
    this.#wants?.();
  }

  #flush(): void {
    if (this.#wants === undefined || this.#waiting === undefined || this.signal.aborted) return;
    const { piece, taken } = this.#waiting;
    this.#waiting = undefined;
    this.#give(piece);
    taken();
  }

  #give(piece: Uint8Array): void {
    const wants = this.#wants!;
    this.#wants = undefined;
    this.#controller!.enqueue(piece);
    wants();
  }

  #beat(): void {
    if (this.#wants !== undefined && this.#waiting === undefined) this.#give(this.#heartbeat);
  }

  #look(): void {
    if (this.#waiting !== undefined && performance.now() - this.#waiting.sinceMs > this.#limits.stalledMs) this.end();
  }

  #finish(): void {
    this.#over.abort();
    this.#waiting?.taken();
  }
}

/** The stream ends when `write` returns, when the viewer disconnects or stalls, and when the gateway stops. */
export function sseResponse(
  context: Context<HttpEnv>,
  gateway: GatewayContext,
  write: (stream: SseStream) => Promise<void>,
  limits: Partial<StreamLimits> = {},
  { heartbeat, headers = {} }: StreamForm = {},
): Response {
  const { stopping, log } = gateway;
  const { incoming, outgoing } = (context.env ?? {}) as Partial<HttpBindings>;
  const sent = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Turns the buffering of proxies off.
    'x-accel-buffering': 'no',
    // HTTP/1.0 has no chunks: its streams end with the connection.
    ...(incoming?.httpVersion !== '1.0' && { 'transfer-encoding': 'chunked' }),
    connection: 'close',
    ...headers,
  };
  // A HEAD request never reads the events, nor closes the stream.
  if (isHead(context)) return new Response(null, { headers: sent });
  const all = { ...defaultLimits, ...limits };
  const uncount = countStream(gateway, context.get('principal'), all);
  const stream = new SseStream(all, () => outgoing?.destroy(), heartbeat);
  const stop = (): void => stream.end();
  stopping.addEventListener('abort', stop);
  stream.signal.addEventListener('abort', () => {
    stopping.removeEventListener('abort', stop);
    uncount();
  });
  if (stopping.aborted) stop();
  void (async () => {
    try {
      await write(stream);
    } catch (error) {
      log(`A stream ended early: ${String(error)}`);
    }
    stream.end();
  })();
  return new Response(stream.body, { headers: sent });
}

/** True for a request that wants the headers alone; the framework routes it as a GET. */
export function isHead({ req }: Context<HttpEnv>): boolean {
  return req.raw.method === 'HEAD';
}

/** Returns the function that uncounts the stream. Throws `rate_limited` if there are too many. */
function countStream(
  gateway: GatewayContext,
  principal: Principal | undefined,
  limits: { most: number; mostOfOne: number },
): () => void {
  const open = openStreams.get(gateway) ?? { all: 0, byPerson: new Map<string, number>() };
  openStreams.set(gateway, open);
  // Without authentication all senders are one person.
  const person = principal === undefined || principal.via === 'local' ? undefined : principal.key;
  const own = person === undefined ? 0 : (open.byPerson.get(person) ?? 0);
  if (open.all >= limits.most || own >= limits.mostOfOne) {
    const whose = open.all >= limits.most ? 'This gateway has' : 'You have';
    throw new ProblemError({
      code: 'rate_limited',
      message: `${whose} too many open streams: close some, or try again.`,
    });
  }
  open.all += 1;
  if (person !== undefined) open.byPerson.set(person, own + 1);
  return () => {
    open.all -= 1;
    if (person === undefined) return;
    const left = open.byPerson.get(person)! - 1;
    if (left === 0) open.byPerson.delete(person);
    else open.byPerson.set(person, left);
  };
}
