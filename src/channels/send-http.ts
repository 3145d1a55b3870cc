import type { LookupFunction } from 'node:net';
import { addressFilter } from './outgoing/address-filter.ts';
import { exchange, reachHost, refusedStatus } from './outgoing/exchange.ts';
import { filteredAgents } from './outgoing/filtered-agents.ts';

/** How a channel may send. */
export interface HttpSettings {
  /** Addresses that are not public and may be reached all the same, such as `10.20.0.7` or `10.20.0.0/16`. Default: none. */
  allowAddresses?: readonly string[];
  /** For one request and its answer, in milliseconds. Default 10,000. */
  requestTimeoutMs?: number;
  /** Default: the system's resolver. */
  lookup?: LookupFunction;
}

export interface HttpRequest {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
}

/** Sends a request and returns the body of the answer, which is a success; empty if it is longer than 64 kB. */
export type SendHttp = (request: HttpRequest) => Promise<string>;

/**
 * A sender that reaches public addresses only, checked at each connection, so a name that resolves elsewhere the second
 * time gains nothing. It follows no redirect. Throws a `ProblemError`: `policy_invalid` for an entry of the list that is
 * no address; when it sends, `forbidden` for an address that is refused and for a redirect, `rate_limited` for 429,
 * `internal` if the service is away, too slow or answers 408 or 5xx, else `invalid_message`. A refusal is a `NotTaken`.
 * Errors name the origin only: paths and headers may hold secrets.
 */
export function httpSender({ allowAddresses = [], requestTimeoutMs = 10_000, lookup }: HttpSettings = {}): SendHttp {
  const agents = filteredAgents({ filter: addressFilter(allowAddresses), lookup, tls: {} });
  return async (request) => {
    const answer = await exchange(request, agents, requestTimeoutMs);
    if (answer.status >= 200 && answer.status < 300) return answer.text ?? '';
    throw refusedStatus(request.url, answer);
  };
}

/** Looks whether a host answers, by the same rules. */
export function httpReacher({ allowAddresses = [], requestTimeoutMs = 10_000, lookup }: HttpSettings = {}): (
  url: URL,
  signal: AbortSignal,
) => Promise<void> {
  const agents = filteredAgents({ filter: addressFilter(allowAddresses), lookup, tls: {} });
  return (url, signal) => reachHost(url, agents, requestTimeoutMs, signal);
}
