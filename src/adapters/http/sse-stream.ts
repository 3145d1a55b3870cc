import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { GatewayContext } from './gateway-context.ts';
import type { HttpEnv } from './http-env.ts';
import type { Principal } from './principal.ts';
import { ProblemError } from '../../core/base/problem.ts';

/** How a stream behaves. Times in milliseconds. */
export interface StreamLimits {
  heartbeatMs: number;
  /** A viewer that takes nothing for so long is cut off. */
  stalledMs: number;
  /** A stream ends after this time, so that the viewer's credential is looked at again. */
  longestMs: number;
  /** Streams of one gateway. */
  most: number;
  /** Streams of one person who has authenticated: nobody takes all of them. */
  mostOfOne: number;
}

const defaultLimits: StreamLimits = {
  heartbeatMs: 15_000,
  stalledMs: 30_000,
  longestMs: 3_600_000,
  most: 2_000,
  mostOfOne: 200,
};

/** A viewer that takes such a piece in time is slow, not gone. */
const pieceBytes = 65_536;
const encoder = new TextEncoder();
/** What a browser waits before it connects again, in milliseconds. */
const opening = encoder.encode('retry: 1000\n\n');
const heartbeatFrame = frameOf('heartbeat', {});

/** What a protocol of its own wants of a stream. */
export interface StreamForm {
  /** Default: an event `heartbeat`. */
  heartbeat?: Uint8Array;
  headers?: Record<string, string>;
}

/** One event as it is sent. `id`: where a viewer goes on after it. */
export function frameOf(event: string, data: unknown, id?: string): Uint8Array {
  return encoder.encode(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
}

/** The open streams of a gateway, and those of each person. */
const openStreams = new WeakMap<GatewayContext, { all: number; byPerson: Map<string, number> }>();

/** Counts a stream. Throws `rate_limited` if there are too many; else returns how to end the count. */
function countStream(gateway: GatewayContext, principal: Principal | undefined, limits: StreamLimits): () => void {
  const open = openStreams.get(gateway) ?? { all: 0, byPerson: new Map<string, number>() };
  openStreams.set(gateway, open);
  // Without authentication everybody is one person.
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

/**
 * The server-sent events of one viewer. It holds one frame at a time: whoever sends waits until the connection has taken it,
 * so a viewer that does not read costs one frame and what the socket buffers, until it is cut off.
 */
export class SseStream {
  readonly #over = new AbortController();
  readonly #limits: StreamLimits;
  readonly #heartbeat: Uint8Array;
  readonly #cut: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #waiting: { piece: Uint8Array; sinceMs: number; taken: () => void } | undefined;
  /** Set while the connection has room. */
  #wants: (() => void) | undefined;
  readonly body: ReadableStream<Uint8Array>;

  /** `cut`: closes the connection, whatever it still has to send. */
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

  /** Aborts once nothing can be sent any more. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Resolves once the connection has taken the frame. False: the stream is over. One call at a time. */
  async send(frame: Uint8Array): Promise<boolean> {
    for (let at = 0; at < frame.length && !this.signal.aborted; at += pieceBytes) {
      await new Promise<void>((taken) => {
        this.#waiting = { piece: frame.subarray(at, at + pieceBytes), sinceMs: performance.now(), taken };
        this.#flush();
      });
    }
    return !this.signal.aborted;
  }

  /** Ends the stream. What the viewer has not taken is lost. */
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

/**
 * Answers with server-sent events. `write` sends them; the stream ends when it returns, when the viewer goes or stalls, and
 * when the gateway stops.
 */
export function sseResponse(
  context: Context<HttpEnv>,
  gateway: GatewayContext,
  write: (stream: SseStream) => Promise<void>,
  limits: Partial<StreamLimits> = {},
  { heartbeat, headers = {} }: StreamForm = {},
): Response {
  const { stopping, log } = gateway;
  const all = { ...defaultLimits, ...limits };
  const uncount = countStream(gateway, context.get('principal'), all);
  const { outgoing } = (context.env ?? {}) as Partial<HttpBindings>;
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
  return new Response(stream.body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // For proxies that collect what they pass on.
      'x-accel-buffering': 'no',
      'transfer-encoding': 'chunked',
      connection: 'close',
      ...headers,
    },
  });
}
