import { type Problem, ProblemError } from 'countersign/base';
import { BlockList, isIP } from 'node:net';

/** The limits of a gateway. Those per minute are for each person. */
export interface GatewayLimits {
  /** The largest body of a request, in bytes. Default 2,000,000: Temporal accepts no larger payload. */
  bodyBytes?: number;
  /** Requests that read, per person and minute. Default 1,200. */
  readsPerMinute?: number;
  /** Requests that change something, per person and minute. Default 300. */
  writesPerMinute?: number;
}

export const defaultLimits = { bodyBytes: 2_000_000, readsPerMinute: 1_200, writesPerMinute: 300 } as const;

/** The refusal of a large body. A front end sends the past of a chat each time, so its bodies grow with the chat. */
export function tooLarge(path: string, bodyBytes: number): Problem {
  const isChat = /^\/(ai-sdk|ag-ui)\//.test(path);
  const remedy = isChat ? ': send only the last message of the chat, and no results of tools' : '';
  return { code: 'too_large', message: `A body has at most ${bodyBytes} bytes${remedy}.` };
}

/** Returns the address of a sender. `peer`: that of the connection; `forwarded`: the header `X-Forwarded-For`. */
export type SenderAddress = (peer: string, forwarded: string | undefined) => string;

/**
 * Returns a function that finds the sender: the last address of no trusted proxy, because a client can forge earlier
 * addresses. `trusted`: addresses, and networks such as `10.0.0.0/8`. Throws a `ProblemError` for any other text.
 */
export function senderAddress(trusted: readonly string[]): SenderAddress {
  const proxies = new BlockList();
  for (const each of trusted) addTo(proxies, each);
  const isProxy = (address: string): boolean => proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return (peer, forwarded = '') => {
    const hops = forwarded.split(',').map((each) => each.trim());
    let sender = peer;
    while (isIP(sender) !== 0 && isProxy(sender)) {
      const before = hops.pop();
      if (before === undefined || isIP(before) === 0) break;
      sender = before;
    }
    return sender;
  };
}

/** Adds an address or a network to `proxies`. Throws `arguments_invalid` for any other text. */
function addTo(proxies: BlockList, text: string): void {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  const bits = prefix === undefined ? undefined : Number(prefix);
  const isNumber = bits === undefined || (/^\d{1,3}$/.test(prefix!) && bits <= (version === 6 ? 128 : 32));
  if (version === 0 || !isNumber || rest.length > 0) {
    const message = `'${text}' is not the address of a proxy, nor a network such as 10.0.0.0/8.`;
    throw new ProblemError({ code: 'arguments_invalid', message });
  }
  const family = version === 6 ? 'ipv6' : 'ipv4';
  if (bits === undefined) proxies.addAddress(address, family);
  else proxies.addSubnet(address, bits, family);
}
