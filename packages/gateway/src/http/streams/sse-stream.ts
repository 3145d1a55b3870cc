import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { ProblemError } from 'countersign/base';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import type { Principal } from '../identity/principal.ts';

const openStreams = new WeakMap<GatewayContext, { all: number; byPerson: Map<string, number> }>();

export interface StreamLimits {
  heartbeatMs: number;
  /** The stream closes the connection of a viewer that reads nothing for this time. */
  stalledMs: number;
  /** A stream ends after this time, so that the viewer's credential is checked again. */
  longestMs: number;
  most: number;
  /** The most streams of one authenticated person, so that one person cannot use all of `most`. */
  mostOfOne: number;
}

const defaultLimits: StreamLimits = {
  heartbeatMs: 15_000,
  stalledMs: 30_000,
  longestMs: 3_600_000,
  most: 2_000,
  mostOfOne: 200,
};

/** A frame is sent in pieces of this size, so that a slow viewer of a large frame does not count as stalled. */
const pieceBytes = 65_536;
const encoder = new TextEncoder();
/** The first bytes of a stream. `retry` says how many milliseconds a browser waits before it reconnects. */
const opening = encoder.encode('retry: 1000\n\n');
const heartbeatFrame = sseFrame('heartbeat', {});

export interface StreamForm {
  /** The bytes of a heartbeat. Default: an event `heartbeat`. */
  heartbeat?: Uint8Array;
  headers?: Record<string, string>;
}

/** The bytes of one event. `id`: a browser sends it as `Last-Event-ID` when it reconnects. */
export function sseFrame(event: string, data: unknown, id?: string): Uint8Array {
  return encoder.encode(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
}

/**
 * The server-sent events of one viewer. `send` waits until the connection has accepted a frame, so a viewer that does
 * not read costs only the memory of one frame and of the socket's buffer, until the stream closes the connection.
 */
export class SseStream {
  readonly #over = new AbortController();
  readonly #limits: StreamLimits;
  readonly #heartbeat: Uint8Array;
  readonly #cut: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The piece that `send` has for the connection. It waits until the connection accepts bytes. */
  #waiting: { piece: Uint8Array; sinceMs: number; taken: () => void } | undefined;
  /** Resolves the pending `pull` of `body`. Undefined while the connection accepts no more bytes. */
  #wants: (() => void) | undefined;
  readonly body: ReadableStream<Uint8Array>;

  /** `cut` closes the connection and drops the data that it has not sent. */
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
      // With 0, `pull` is called only when the connection accepts bytes.
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

  /** Resolves once the connection has accepted the frame; with false if the stream is over. Await each call. */
  async send(frame: Uint8Array): Promise<boolean> {
    for (let at = 0; at < frame.length && !this.signal.aborted; at += pieceBytes) {
      await new Promise<void>((taken) => {
        this.#waiting = { piece: frame.subarray(at, at + pieceBytes), sinceMs: performance.now(), taken };
        this.#flush();
      });
    }
    return !this.signal.aborted;
  }

  /** Ends the stream. If a frame still waits for the viewer, this closes the connection and drops the data. */
  end(): void {
    if (this.signal.aborted) return;
    const isStuck = this.#waiting !== undefined;
    this.#finish();
    if (isStuck) this.#cut();
    else this.#controller?.close();
    this.#wants?.();
  }

  /** Gives the waiting piece to the connection if it accepts bytes now. Both `send` and `pull` call this. */
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

  /** Sends a heartbeat, unless the connection accepts no bytes or is about to get a piece. */
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

/** The response whose events `write` sends. It ends when `write` returns, the viewer leaves or the gateway stops. */
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
    // This header turns off the buffering of proxies such as nginx.
    'x-accel-buffering': 'no',
    // HTTP/1.0 has no chunked encoding: there, the end of the connection ends the stream.
    ...(incoming?.httpVersion !== '1.0' && { 'transfer-encoding': 'chunked' }),
    connection: 'close',
    ...headers,
  };
  // A HEAD request has no body: its stream would never be read or closed.
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

/** True for a HEAD request. Hono routes it as a GET, so only the raw request shows its method. */
export function isHead({ req }: Context<HttpEnv>): boolean {
  return req.raw.method === 'HEAD';
}

/** Counts a stream and returns the function that uncounts it. Throws `rate_limited` if there are too many streams. */
function countStream(
  gateway: GatewayContext,
  principal: Principal | undefined,
  limits: { most: number; mostOfOne: number },
): () => void {
  const open = openStreams.get(gateway) ?? { all: 0, byPerson: new Map<string, number>() };
  openStreams.set(gateway, open);
  // Without authentication, all senders count as one person, so a limit for each person would make no sense.
  const person = principal === undefined || principal.via === 'local' ? undefined : principal.key;
  const own = person === undefined ? 0 : (open.byPerson.get(person) ?? 0);
  if (open.all >= limits.most || own >= limits.mostOfOne) {
    const whose = open.all >= limits.most ? 'This gateway has' : 'You have';
    const message = `${whose} too many open streams: close some, or try again.`;
    throw new ProblemError({ code: 'rate_limited', message });
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
