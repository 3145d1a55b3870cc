import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { type LookupFunction, isIP } from 'node:net';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { ProblemError } from '../../core/base/problem.ts';
import type { AddressFilter } from './address-filter.ts';
import { policyInvalid } from '../channel-kind.ts';

export interface AgentSettings {
  filter: AddressFilter;
  /** The function that resolves names of hosts. Default: the system's resolver. */
  lookup?: LookupFunction;
  /** The URL of an HTTP proxy, which then does the DNS lookups. */
  proxy?: string;
  /** The client's certificate and key, and the trusted authorities, as PEM texts. */
  tls: { cert?: string; key?: string; ca?: string };
}

/** The HTTP agents of one channel. They do not connect to an address that the channel's filter refuses. */
export interface FilteredAgents {
  readonly filter: AddressFilter;
  agentFor(url: URL): http.Agent;
}

const idleMs = 30_000;
const mostKept = 1_000;

/**
 * Makes agents that check the address of each connection, so a name that later resolves to another address does not
 * escape the check. A proxy resolves names itself; behind one, only addresses in URLs are checked.
 */
export function filteredAgents({ filter, lookup = systemLookup, proxy, tls }: AgentSettings): FilteredAgents {
  const common = { keepAlive: true, timeout: idleMs, ...tls };
  if (proxy !== undefined) {
    const proxyEnv = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
    return choose(filter, new http.Agent({ ...common, proxyEnv }), new https.Agent({ ...common, proxyEnv }));
  }
  // The library compares addresses as texts and knows no networks. So each address of an allowed network is added when
  // it is first used.
  const allowed: string[] = [];
  const allow = (address: string): void => {
    if (!filter.isAllowed(address) || allowed.includes(address)) return;
    if (allowed.length === mostKept) allowed.shift();
    allowed.push(address);
  };
  const options = { ...common, allowIPAddressList: allowed, lookup: checkedLookup(lookup, filter, allow) };
  const agents = choose(filter, new RequestFilteringHttpAgent(options), new RequestFilteringHttpsAgent(options));
  return {
    filter,
    agentFor: (url) => {
      const host = hostOf(url);
      if (isIP(host) !== 0) allow(host);
      return agents.agentFor(url);
    },
  };
}

/** The host of a URL; an IPv6 address is without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

export function addressRefused(host: string, address: string): ProblemError {
  const at = host === address ? host : `${host} (${address})`;
  const message = `The channel must not reach ${at}: it is no public address; allow it with 'allow_addresses'.`;
  return new ProblemError({ code: 'forbidden', message });
}

function choose(filter: AddressFilter, plain: http.Agent, secure: http.Agent): FilteredAgents {
  return {
    filter,
    agentFor: (url) => {
      const host = hostOf(url);
      // An address in a URL is never resolved, so check it here.
      if (isIP(host) !== 0 && filter.isRefused(host)) throw addressRefused(host, host);
      return url.protocol === 'https:' ? secure : plain;
    },
  };
}

/**
 * Returns a function that resolves a name, and fails if the filter refuses any of its addresses. It passes accepted
 * addresses to `allow`, which adds them to those that the library connects to.
 */
function checkedLookup(
  lookup: LookupFunction,
  filter: AddressFilter,
  allow: (address: string) => void,
): LookupFunction {
  return (host, options, callback) =>
    lookup(host, { ...options, all: true }, (error, found, family) => {
      if (error !== null) return callback(error, []);
      const all: LookupAddress[] =
        typeof found === 'string' ? [{ address: found, family: family ?? isIP(found) }] : found;
      const refused = all.find(({ address }) => filter.isRefused(address));
      if (refused !== undefined) return callback(addressRefused(host, refused.address), []);
      for (const { address } of all) allow(address);
      const [first] = all;
      if (first === undefined) return callback(new Error(`${host} has no address`), []);
      return options.all === true ? callback(null, all) : callback(null, first.address, first.family);
    });
}

const longestMs = 5_000;

/**
 * Throws `policy_invalid` if a URL leads to a refused address. Accepts a name that cannot be resolved now, because each
 * connection checks again. Behind a proxy it checks only addresses, and names of this machine.
 */
export async function checkAddress(
  url: URL,
  options: { filter: AddressFilter; lookup?: LookupFunction; proxy?: string },
): Promise<void> {
  const { filter, lookup = systemLookup, proxy } = options;
  const host = hostOf(url);
  const isLocal = /^(?:.+\.)?localhost\.?$/.test(host);
  const addresses =
    isIP(host) !== 0 ? [host] : proxy === undefined ? await addressesOf(host, lookup) : isLocal ? ['127.0.0.1'] : [];
  const refused = addresses.find((address) => filter.isRefused(address));
  if (refused === undefined) return;
  throw policyInvalid(addressRefused(host, refused).message);
}

async function addressesOf(host: string, lookup: LookupFunction): Promise<string[]> {
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const timer = setTimeout(() => resolve([]), longestMs);
  lookup(host, { all: true }, (error, found) => {
    if (error !== null) resolve([]);
    else resolve(typeof found === 'string' ? [found] : found.map(({ address }) => address));
  });
  return promise.finally(() => clearTimeout(timer));
}
