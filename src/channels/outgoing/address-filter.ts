import { BlockList, isIP, type LookupFunction } from 'node:net';
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { policyInvalid } from '../channel-kind.ts';
import { ProblemError } from '../../core/base/problem.ts';

export interface AddressFilter {
  /** True for an address that the operator's settings list. */
  isAllowed(address: string): boolean;
  /** True for an address that is neither public nor allowed, and for a text that is not an IP address. */
  isRefused(address: string): boolean;
}

/** The IPv4 networks that IANA's registry lists as special, and the address of Azure's internal services. */
const specialIpv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/** The IPv6 network from which IANA assigns public addresses. Mapped, translated and local addresses are outside it. */
const publicIpv6 = ['2000::/3'];
/** The parts of `publicIpv6` that are not for public hosts: tunnels to IPv4, documentation, and other protocols. */
const specialIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const special = blockList([...specialIpv4, ...specialIpv6]);
const global = blockList(publicIpv6);

/**
 * Creates a filter that allows public addresses, and those in `allowed`: addresses, or networks such as `10.20.0.0/16`.
 * Throws `policy_invalid` for an entry that is neither.
 */
export function addressFilter(allowed: readonly string[]): AddressFilter {
  const own = blockList(allowed);
  const isAllowed = (address: string): boolean => isIn(own, address);
  return {
    isAllowed,
    isRefused: (address) => {
      const version = isIP(bare(address));
      if (version === 0) return true;
      if (isAllowed(address)) return false;
      return isIn(special, address) || (version === 6 && !isIn(global, address));
    },
  };
}

interface Networks {
  ipv4: BlockList;
  ipv6: BlockList;
}

/** Builds one list for each IP version: in a common list, Node would match mapped IPv6 addresses with IPv4 networks. */
function blockList(networks: readonly string[]): Networks {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const network of networks) {
    const [, address = '', bits] = /^([\da-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(network) ?? [];
    const family = familyOf(address);
    const most = family === 'ipv4' ? 32 : 128;
    const length = bits === undefined ? most : Number(bits);
    if (family === undefined || length > most) {
      const message = `'${network}' is neither an IP address nor a network such as 10.20.0.0/16.`;
      throw policyInvalid(message);
    }
    lists[family].addSubnet(address, length, family);
  }
  return lists;
}

function isIn(lists: Networks, address: string): boolean {
  const family = familyOf(bare(address));
  return family !== undefined && lists[family].check(bare(address), family);
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? 'ipv4' : 'ipv6';
}

/** Removes the zone that a link-local address may have, such as `%eth0` in `fe80::1%eth0`. */
function bare(address: string): string {
  return address.replace(/%.*$/, '');
}

interface AgentSettings {
  filter: AddressFilter;
  /** The function that resolves names of hosts. Default: the system's resolver. */
  lookup?: LookupFunction;
  /** The URL of an HTTP proxy, which then resolves the host names. */
  proxy?: string;
  /** The client's certificate and key, and the trusted certificate authorities, as PEM texts. */
  tls: { cert?: string; key?: string; ca?: string };
}

/** The HTTP agents of a channel. They refuse to connect to an address that the channel's filter refuses. */
export interface FilteredAgents {
  readonly filter: AddressFilter;
  agentFor(url: URL): http.Agent;
}

const idleMs = 30_000;
const mostKept = 1_000;

/**
 * Creates agents that check the address of each connection, so a host cannot pass the check with one address and then
 * use another. A proxy resolves host names itself; with one, only IP addresses in URLs are checked.
 */
export function filteredAgents({ filter, lookup = systemLookup, proxy, tls }: AgentSettings): FilteredAgents {
  const common = { keepAlive: true, timeout: idleMs, ...tls };
  if (proxy !== undefined) {
    const proxyEnv = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
    return choose(filter, new http.Agent({ ...common, proxyEnv }), new https.Agent({ ...common, proxyEnv }));
  }
  // The agents' list takes addresses, not networks, so add each allowed address when it is first used.
  const allowed: string[] = [];
  const allow = (address: string): void => {
    if (!filter.isAllowed(address) || allowed.includes(address)) return;
    if (allowed.length === mostKept) allowed.shift(); // its next look-up adds it again
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

/** The host of a URL; an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

export function addressRefused(host: string, address: string): ProblemError {
  const at = host === address ? host : `${host} (${address})`;
  const message = `The channel must not reach ${at}: it is no public address; allow it with 'allow_addresses'.`;
  return new ProblemError({ code: 'forbidden', message });
}

/** Returns the agent for a URL's protocol. Throws for an IP address in a URL that the filter refuses. */
function choose(filter: AddressFilter, plain: http.Agent, secure: http.Agent): FilteredAgents {
  return {
    filter,
    agentFor: (url) => {
      const host = hostOf(url);
      // Check an IP address in a URL here: it is not resolved, so `checkedLookup` does not see it.
      if (isIP(host) !== 0 && filter.isRefused(host)) throw addressRefused(host, host);
      return url.protocol === 'https:' ? secure : plain;
    },
  };
}

/** Returns a lookup that fails if the filter refuses an address of the host, and else calls `allow` with each. */
function checkedLookup(
  lookup: LookupFunction,
  filter: AddressFilter,
  allow: (address: string) => void,
): LookupFunction {
  return (host, options, callback) =>
    lookup(host, { ...options, all: true }, (error, found, family) => {
      if (error !== null) return callback(error, []);
      // A look-up function of the caller may ignore `all`, and return a single address.
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
 * Throws `policy_invalid` if the host of a URL has a refused address. A name that cannot be resolved now passes,
 * because each connection is checked again. With a proxy, only IP addresses and names of this machine are checked.
 */
export async function checkAddress(
  url: URL,
  options: { filter: AddressFilter; lookup?: LookupFunction; proxy?: string },
): Promise<void> {
  const { filter, lookup = systemLookup, proxy } = options;
  const host = hostOf(url);
  const addresses = proxy === undefined ? await addressesOf(host, lookup) : addressesWithoutLookup(host);
  const refused = addresses.find((address) => filter.isRefused(address));
  if (refused === undefined) return;
  throw policyInvalid(addressRefused(host, refused).message);
}

/** Returns the addresses of a host that are known without a look-up, which is left to the proxy. */
function addressesWithoutLookup(host: string): string[] {
  if (isIP(host) !== 0) return [host];
  const isLocal = /^(?:.+\.)?localhost\.?$/.test(host);
  return isLocal ? ['127.0.0.1'] : [];
}

/** Resolves a host name; no address after an error or too long a time, as each connection is checked again. */
async function addressesOf(host: string, lookup: LookupFunction): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const timer = setTimeout(() => resolve([]), longestMs);
  lookup(host, { all: true }, (error, found) => {
    if (error !== null) resolve([]);
    else resolve(typeof found === 'string' ? [found] : found.map(({ address }) => address));
  });
  return promise.finally(() => clearTimeout(timer));
}
