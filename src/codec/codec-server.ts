import type { Payload, PayloadCodec } from '@temporalio/common';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject } from '../core/base/json.ts';
import { ProblemError } from '../core/base/problem.ts';
import { checkCallOptions } from '../text/check-call-options.ts';

/** A payload as the protocol of codec servers writes it: metadata and data in Base64. */
interface PayloadJson {
  metadata?: Record<string, string>;
  data?: string;
}

export function payloadToJson({ metadata, data }: Payload): PayloadJson {
  const entries = Object.entries(metadata ?? {});
  return {
    metadata: Object.fromEntries(entries.map(([name, bytes]) => [name, Buffer.from(bytes ?? []).toString('base64')])),
    ...(data != null && data.length > 0 && { data: Buffer.from(data).toString('base64') }),
  };
}

/** Reads a payload from JSON; undefined for any other value. */
export function payloadFromJson(json: unknown): Payload | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const { metadata = {}, data = '' } = json as PayloadJson;
  if (typeof metadata !== 'object' || metadata === null || typeof data !== 'string') return undefined;
  const entries = Object.entries(metadata);
  if (!entries.every(([, text]) => typeof text === 'string')) return undefined;
  return {
    metadata: Object.fromEntries(entries.map(([name, text]) => [name, Buffer.from(text, 'base64')])),
    data: Buffer.from(data, 'base64'),
  };
}

/** Options of `codecServer`. */
export interface CodecServerOptions {
  /** The codec, which must be the same as that of the workers. */
  codec: PayloadCodec;
  /** The origin of Temporal's UI, such as `https://temporal.example`. Pages of other origins are refused. */
  uiOrigin: string;
  /** The required `Authorization` header, or a function that returns true if a request may pass. */
  authorize: string | ((request: IncomingMessage) => boolean | Promise<boolean>);
}

/** The limits of one request. They are high, because Temporal's UI sends all payloads of a page in one request. */
const maxBodyBytes = 16_000_000;
const maxPayloads = 10_000;

/**
 * Returns a listener for `http.createServer` that decodes and encodes for Temporal's UI and command line (`POST
 * /decode`, `POST /encode`). A payload that the codec cannot read is returned unchanged. The status is 401 without
 * authorization, and 403 for a page of another origin. Throws `internal` for an invalid option.
 *
 * @example
 * ```ts
 * import { randomBytes } from 'node:crypto';
 * import { createServer } from 'node:http';
 * import { codecServer, EncryptionCodec } from 'countersign/codec';
 *
 * const codec = new EncryptionCodec({ keys: [{ id: '2030-01', key: randomBytes(32) }] });
 * const server = createServer(codecServer({ codec, uiOrigin: 'http://127.0.0.1:8233', authorize: 'Bearer secret' }));
 * console.log(server.listening); // false
 * ```
 */
export function codecServer(options: CodecServerOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const names = { codec: true, uiOrigin: true, authorize: true } as const;
  checkCallOptions('codecServer', options, names, 'internal');
  const { codec, uiOrigin, authorize } = options;
  if (URL.parse(uiOrigin)?.origin !== uiOrigin) {
    const message = `uiOrigin '${uiOrigin}' is not an origin: write scheme, host and port, as in http://127.0.0.1:8233`;
    throw new ProblemError({ code: 'internal', message });
  }
  if (authorize === '')
    throw new ProblemError({ code: 'internal', message: 'authorize is empty: everybody would pass' });
  return (request, response) => {
    void answer(request, { codec, uiOrigin, authorize }).then(({ status, body }) => {
      response.writeHead(status, {
        'Access-Control-Allow-Origin': uiOrigin,
        'Access-Control-Allow-Credentials': 'true',
        'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-Namespace',
        'Access-Control-Allow-Methods': 'POST',
        'Cache-Control': 'no-store',
        Vary: 'Origin',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      });
      response.end(body);
    });
  };
}

/** Answers one request: 413 if it is too large, 400 if it has no payloads, 500 if the codec fails. Never rejects. */
async function answer(
  request: IncomingMessage,
  { codec, uiOrigin, authorize }: CodecServerOptions,
): Promise<{ status: number; body?: string }> {
  const { origin } = request.headers;
  if (origin !== undefined && origin !== uiOrigin) return { status: 403 };
  // A browser's preflight request has no credentials, so it is answered before they are checked.
  if (request.method === 'OPTIONS') return { status: 204 };
  const path = URL.parse(request.url ?? '', uiOrigin)?.pathname ?? '';
  const convert = { '/encode': encodeAll, '/decode': decodeEach }[path];
  if (convert === undefined) return { status: 404 };
  if (request.method !== 'POST') return { status: 405 };
  if (!(await isAuthorized(request, authorize))) return { status: 401 };
  const text = await bodyOf(request);
  if (text === undefined) return { status: 413 };
  const payloads = payloadsIn(text);
  if (payloads === undefined) return { status: 400 };
  try {
    return { status: 200, body: JSON.stringify({ payloads: (await convert(codec, payloads)).map(payloadToJson) }) };
  } catch {
    return { status: 500 };
  }
}

function encodeAll(codec: PayloadCodec, payloads: Payload[]): Promise<Payload[]> {
  return codec.encode(payloads);
}

/** Decodes each payload alone, so that an unreadable payload is returned unchanged and the others are decoded. */
async function decodeEach(codec: PayloadCodec, payloads: Payload[]): Promise<Payload[]> {
  return Promise.all(
    payloads.map(async (payload) => {
      const [read = payload] = await codec.decode([payload]).catch(() => []);
      return read;
    }),
  );
}

/** True if the request's header is the text `authorize`, or if the function `authorize` returns true. Never rejects. */
async function isAuthorized(request: IncomingMessage, authorize: CodecServerOptions['authorize']): Promise<boolean> {
  if (typeof authorize === 'string') {
    // Digests are compared, because `timingSafeEqual` throws for values of different lengths.
    const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
    return timingSafeEqual(digestOf(request.headers.authorization ?? ''), digestOf(authorize));
  }
  try {
    const isPassed: unknown = await authorize(request);
    return isPassed === true;
  } catch {
    return false;
  }
}

/** Reads the body of a request; undefined if it is too large or was cut off. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Returns the payloads in the body of a request; undefined if it is malformed or has too many. */
function payloadsIn(text: string): Payload[] | undefined {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  // A missing list means an empty one: Temporal's command line omits it for a query without arguments.
  const listed: unknown = isObject(read) ? (read['payloads'] ?? []) : undefined;
  if (!Array.isArray(listed) || listed.length > maxPayloads) return undefined;
  const payloads = listed.map(payloadFromJson);
  return payloads.every((payload) => payload !== undefined) ? payloads : undefined;
}

/** Options of `RemoteCodec`. */
export interface RemoteCodecOptions {
  /** The URL of the codec server; `/encode` and `/decode` are appended. */
  endpoint: string;
  /** The namespace, sent as header `X-Namespace`. */
  namespace: string;
  /** The value of the header `Authorization`. Default: the header is not sent. */
  authorization?: string;
  /** The longest time of one call, in milliseconds. Default 10,000. */
  timeoutMs?: number;
}

/**
 * A payload codec that calls a codec server. Use it in clients: a worker should not depend on an HTTP call in each
 * workflow task. Throws `internal` for an invalid `endpoint` and an unknown option.
 *
 * @example
 * ```ts
 * import { createClient } from 'countersign/client';
 * import { RemoteCodec } from 'countersign/codec';
 *
 * const codec = new RemoteCodec({ endpoint: 'http://127.0.0.1:8081', namespace: 'default' });
 * const client = await createClient({ dataConverter: { payloadCodecs: [codec] } });
 * const [server] = await client.check();
 * console.log(server?.isOk); // true
 * await client.close();
 * ```
 */
export class RemoteCodec implements PayloadCodec {
  readonly #endpoint: string;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;

  constructor(options: RemoteCodecOptions) {
    const names = { endpoint: true, namespace: true, authorization: true, timeoutMs: true } as const;
    checkCallOptions('RemoteCodec', options, names, 'internal');
    const { endpoint, namespace, authorization, timeoutMs = 10_000 } = options;
    if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
      const message = `'${endpoint}' is not the address of a codec server: write an http or https URL.`;
      throw new ProblemError({ code: 'internal', message });
    }
    this.#endpoint = endpoint.replace(/\/+$/, '');
    this.#headers = {
      'Content-Type': 'application/json',
      'X-Namespace': namespace,
      ...(authorization !== undefined && { Authorization: authorization }),
    };
    this.#timeoutMs = timeoutMs;
  }

  encode(payloads: Payload[]): Promise<Payload[]> {
    return this.#ask('encode', payloads);
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return this.#ask('decode', payloads);
  }

  /** Returns one payload for each that was sent. Throws for any other answer, so that Temporal tries again. */
  async #ask(path: 'encode' | 'decode', payloads: Payload[]): Promise<Payload[]> {
    const url = `${this.#endpoint}/${path}`;
    let response: Response;
    try {
      response = await fetch(url, {
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify({ payloads: payloads.map(payloadToJson) }),
        signal: AbortSignal.timeout(this.#timeoutMs),
      });
    } catch (cause) {
      throw new Error(`the codec server ${url} does not answer`, { cause });
    }
    if (!response.ok) throw new Error(`the codec server ${url} answers with status ${response.status}`);
    const answer = (await response.json().catch(() => undefined)) as { payloads?: unknown } | undefined;
    const listed: unknown[] = Array.isArray(answer?.payloads) ? answer.payloads : [];
    const read = listed.map(payloadFromJson).filter((payload) => payload !== undefined);
    if (read.length === payloads.length) return read;
    throw new Error(`the codec server ${url} does not answer with ${payloads.length} payloads`);
  }
}
