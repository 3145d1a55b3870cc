import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { formatDuration } from '../../core/base/duration.ts';
import { type ProblemCode, ProblemError, isProblemError } from '../../core/base/problem.ts';
import { type FilteredAgents, filteredAgents, addressFilter } from './address-filter.ts';
import { utf8Text } from '../../text/read-json.ts';
import { errorText, NotTaken, readRetryAfter } from './not-taken.ts';
import type { LookupFunction } from 'node:net';

export interface Outgoing {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  signal: AbortSignal;
}

export interface Incoming {
  status: number;
  headers: IncomingHttpHeaders;
  /** The body as text; undefined if it is longer than 64 kB, or not UTF-8. */
  text?: string;
}

const mostBytes = 65_536;

/**
 * Sends one HTTP request without following redirects, and reads at most 64 kB of the response. Throws a `ProblemError`:
 * `internal` if the receiver is unreachable or too slow, `forbidden` if its address is refused. Throws the signal's
 * reason if it aborts. Errors name only the origin, because paths and queries may contain secrets.
 */
export async function exchange(outgoing: Outgoing, agents: FilteredAgents, timeoutMs: number): Promise<Incoming> {
  const { url, signal } = outgoing;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await send(outgoing, agents.agentFor(url), AbortSignal.any([signal, timeout]));
  } catch (error) {
    signal.throwIfAborted();
    if (isProblemError(error)) throw error;
    const why = timeout.aborted ? `it did not answer within ${formatDuration(timeoutMs)}` : errorText(error);
    const message = `The service at ${url.origin} cannot be reached: ${why}.`;
    throw new ProblemError({ code: 'internal', message }, { cause: error });
  }
}

/** Checks whether a host answers, without a path, which may be secret or have an effect. Throws as `exchange`. */
export async function reachHost(
  { origin }: URL,
  agents: FilteredAgents,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  await exchange({ method: 'HEAD', url: new URL(origin), headers: {}, signal }, agents, timeoutMs);
}

/** The statuses with which a receiver refuses the content of a request, because it is invalid or too large. */
const aboutContent: readonly number[] = [400, 413, 414, 422, 431];

/** Builds the error for a response without success. A retry may succeed for `rate_limited` and `internal`. */
export function refusedStatus({ origin }: URL, { status, headers }: Incoming): NotTaken {
  const why = isRedirect(status) ? ', and redirects are not followed: configure the address to which it leads' : '';
  const message = `The service at ${origin} answered ${status}${why}.`;
  const retryAfterMs = readRetryAfter(headers['retry-after'], Date.now());
  const refusesMessage = aboutContent.includes(status);
  return new NotTaken({ code: codeOfStatus(status), message }, { retryAfterMs, refusesMessage });
}

function codeOfStatus(status: number): ProblemCode {
  if (status === 429) return 'rate_limited';
  if (status >= 500 || status === 408) return 'internal';
  return isRedirect(status) ? 'forbidden' : 'invalid_message';
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** Sends a request and reads the response, whatever its status. Rejects if the connection fails. */
async function send(
  { method, url, headers, body }: Outgoing,
  agent: http.Agent,
  signal: AbortSignal,
): Promise<Incoming> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { request } = url.protocol === 'https:' ? https : http;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  request(url, { method, headers: { ...headers, ...length }, agent, signal })
    .on('response', resolve)
    .on('error', reject)
    .end(body);
  const response = await promise;
  return { status: response.statusCode ?? 0, headers: response.headers, text: await readText(response) };
}

/** Reads the body of a response; undefined if it has more than `mostBytes`, or is not UTF-8. */
async function readText(response: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Returning from the loop also closes the connection.
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return utf8Text(Buffer.concat(chunks));
}

/** The HTTP settings of a channel. */
export interface HttpSettings {
  /** Private addresses to which the channel may connect, such as `10.20.0.7` or `10.20.0.0/16`. Default: none. */
  allowAddresses?: readonly string[];
  /** The time limit of one request with its response, in milliseconds. Default 10,000. */
  requestTimeoutMs?: number;
  /** The function that resolves names of hosts. Default: the system's resolver. */
  lookup?: LookupFunction;
}

/**
 * Sends HTTP requests without following redirects, and only to public addresses and those in `allowAddresses`. It
 * checks the address of each connection. The constructor throws `policy_invalid` for an invalid entry of
 * `allowAddresses`.
 */
export class HttpSender {
  readonly #agents: FilteredAgents;
  readonly #timeoutMs: number;

  constructor({ allowAddresses = [], requestTimeoutMs = 10_000, lookup }: HttpSettings) {
    this.#agents = filteredAgents({ filter: addressFilter(allowAddresses), lookup, tls: {} });
    this.#timeoutMs = requestTimeoutMs;
  }

  /**
   * Sends a request and returns the body of a successful response; empty if it is longer than 64 kB. Throws a
   * `ProblemError`: `forbidden` for a refused address or a redirect, `rate_limited` for status 429, `internal` for 408
   * and 5xx or if the service is unreachable or too slow, otherwise `invalid_message`. Errors for a status are of the
   * class `NotTaken`. They name only the origin, because paths and headers may contain secrets.
   */
  async send(request: Outgoing): Promise<string> {
    const answer = await exchange(request, this.#agents, this.#timeoutMs);
    if (answer.status >= 200 && answer.status < 300) return answer.text ?? '';
    throw refusedStatus(request.url, answer);
  }

  reach(url: URL, signal: AbortSignal): Promise<void> {
    return reachHost(url, this.#agents, this.#timeoutMs, signal);
  }
}
