import { BlockList, isIP } from 'node:net';
import { policyInvalid } from '../channel-kind.ts';

/** The addresses that a channel may reach. */
export interface AddressFilter {
  /** True for an address that the operator allows by name. */
  isAllowed(address: string): boolean;
  /** True for any address that is neither public nor allowed, and for a text that is not an address. */
  isRefused(address: string): boolean;
}

/**
 * The special IPv4 addresses of IANA's registry. Also the address of Azure's internal services, although it is a public
 * one.
 */
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
/** All addresses that IANA has assigned for public use: `::/96`, mapped, translated and local addresses are outside. */
const publicIpv6 = ['2000::/3'];
/**
 * The special ranges within `publicIpv6`: tunnels that contain an IPv4 address, documentation, and other protocols.
 */
const specialIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const special = blockList([...specialIpv4, ...specialIpv6]);
const global = blockList(publicIpv6);

/**
 * A filter that admits public addresses, and those of `allowed`: addresses, or networks such as `10.20.0.0/16`. Throws
 * `policy_invalid` for an entry that is neither.
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

/**
 * Lists of networks, one for each version of IP: in a common list, Node would also match mapped IPv6 addresses with
 * IPv4 networks.
 */
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
  return ([undefined, 'ipv4', 'ipv6'] as const)[[0, 4, 6].indexOf(isIP(address))];
}

/** The address without the zone that a link-local address may have, as in `fe80::1%eth0`. */
function bare(address: string): string {
  return address.replace(/%.*$/, '');
}
