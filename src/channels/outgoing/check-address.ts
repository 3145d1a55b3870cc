import { lookup as systemLookup } from 'node:dns';
import { type LookupFunction, isIP } from 'node:net';
import type { AddressFilter } from './address-filter.ts';
import { addressRefused, hostOf } from './filtered-agents.ts';
import { policyInvalid } from '../policy-invalid.ts';

const longestMs = 5_000;

/**
 * Throws `policy_invalid` if a URL leads to an address that is refused. A name that cannot be looked up now passes: each
 * connection checks again. Behind a proxy only addresses are checked, and the names of this machine.
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
