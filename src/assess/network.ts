/** Assesses where a call connects to, by the text of its addresses (docs/assessment.md). Nothing is looked up. */
import { type ArgumentField, type CallView, type Finding, holdsWord, isNamed } from './finding.ts';
import type { Severity } from '../core/base/tool-call.ts';

export interface NetworkRow {
  what: string;
  test: (place: { kind: HostKind; url: URL }) => boolean;
  /** The severity of a call that only fetches from the place. Absent: no finding. */
  fetching?: Severity;
  /** The severity of a call that sends something to the place or changes something there. */
  sending: Severity;
  reason: string;
}

const kind =
  (...kinds: HostKind[]) =>
  (place: { kind: HostKind }): boolean =>
    kinds.includes(place.kind);

export const networkRows: readonly NetworkRow[] = [
  {
    what: 'metadata services of clouds: `169.254.169.254`, `metadata.google.internal`',
    test: kind('metadata'),
    fetching: 'critical',
    sending: 'critical',
    reason: 'the host is a metadata service, which gives out credentials',
  },
  {
    what: 'link-local addresses: `169.254.0.0/16`, `fe80::/10`',
    test: kind('link-local'),
    fetching: 'high',
    sending: 'high',
    reason: 'the host is a link-local address',
  },
  {
    what: 'services that show or forward what they are sent: `pastebin.com`, `webhook.site`, `*.ngrok.io`',
    test: kind('drop-box'),
    fetching: 'medium',
    sending: 'high',
    reason: 'the host shows or forwards whatever it is sent',
  },
  {
    what: 'this machine: `localhost`, `127.0.0.0/8`, `::1`',
    test: kind('loopback'),
    fetching: 'medium',
    sending: 'high',
    reason: 'the host is the machine that the tool runs on',
  },
  {
    what: 'private networks: `10.0.0.0/8`, `192.168.0.0/16`, `fc00::/7`, `*.internal`, names without a dot',
    test: kind('private'),
    fetching: 'medium',
    sending: 'high',
    reason: 'the host is in a private network',
  },
  {
    what: 'bare public addresses: `93.184.216.34`',
    test: kind('address'),
    fetching: 'low',
    sending: 'high',
    reason: 'the host is an address without a name',
  },
  {
    what: 'names in foreign letters: `xn--…`',
    test: kind('disguised'),
    fetching: 'medium',
    sending: 'high',
    reason: 'the name of the host is in letters that can look like others',
  },
  {
    what: 'a user or password in the address: `https://ann:pw@host`',
    test: ({ url }) => url.username !== '' || url.password !== '',
    fetching: 'high',
    sending: 'high',
    reason: 'the address holds a user name or a password',
  },
  {
    what: 'not encrypted: `http:`, `ws:`, `ftp:`',
    test: ({ url }) => ['http:', 'ws:', 'ftp:'].includes(url.protocol),
    fetching: 'low',
    sending: 'high',
    reason: 'the connection is not encrypted',
  },
  {
    what: 'other schemes: `file:`, `gopher:`, `data:`',
    test: ({ url }) => !['http:', 'https:', 'ws:', 'wss:', 'ftp:', 'sftp:', 'ssh:'].includes(url.protocol),
    fetching: 'high',
    sending: 'high',
    reason: 'the scheme of the address is unusual',
  },
];

/** HTTP methods that send or delete something. A call with one of them counts as sending. */
export const methodRows: readonly { methods: readonly string[]; severity: Severity; reason: string }[] = [
  { methods: ['POST', 'PUT', 'PATCH'], severity: 'medium', reason: 'the request sends data' },
  { methods: ['DELETE'], severity: 'high', reason: 'the request deletes something' },
];

const addressWords = new Set('url urls uri uris endpoint href link webhook'.split(' '));
const hostWords = new Set('host hosts hostname hostnames ip'.split(' '));
const sendingWords = new Set('upload post put patch send publish push webhook'.split(' '));
const bodyWords = new Set('body data payload form upload attachment attachments json'.split(' '));
const longestAddress = 8_192;

/** The findings about the addresses in a call's arguments, and about the request that is sent to them. */
export function assessNetwork({ call, tool, fields }: CallView): Finding[] {
  const addresses = fields.flatMap(addressOf);
  if (addresses.length === 0) return [];
  const methods = fields
    .filter(({ words }) => words.includes('method'))
    .map(({ value }) => String(value).toUpperCase());
  const rows = methodRows.filter((row) => row.methods.some((method) => methods.includes(method)));
  const hasBody = fields.some(({ words, value }) => holdsWord(words, bodyWords) && value !== '');
  const isRisky = call.risk === 'destructive' || call.risk === 'unknown';
  const sends = rows.length > 0 || hasBody || holdsWord(tool, sendingWords) || isRisky;
  return [
    ...rows.map(({ severity, reason }): Finding => ({ severity, reason })),
    ...(hasBody && rows.length === 0 ? [{ severity: 'medium', reason: 'the request sends data' } as const] : []),
    ...addresses.flatMap((address) => assessAddress(address, sends)),
  ];
}

/** Returns the findings of `networkRows` about an address, or that it cannot be read. `sends`: does more than fetch. */
export function assessAddress(address: string, sends: boolean): Finding[] {
  const url = address.length > longestAddress ? null : URL.parse(address);
  if (url === null) return [{ severity: 'medium', reason: 'an address cannot be read' }];
  const place = { url, kind: url.hostname === '' ? ('public' as const) : hostKind(url.hostname) };
  const affected = url.hostname === '' ? [] : [`host:${url.hostname}`];
  return networkRows.flatMap(({ test, fetching, sending, reason }): Finding[] => {
    const severity = sends ? sending : fetching;
    return severity !== undefined && test(place) ? [{ severity, reason, affected }] : [];
  });
}

/** Returns the address in a field as a list; empty if there is none. A bare host becomes an `https:` address. */
function addressOf({ words, value }: ArgumentField): string[] {
  if (typeof value !== 'string') return [];
  const text = value.trim();
  if (/^(https?|wss?|ftp):\/\//i.test(text)) return [text];
  if (text === '') return [];
  if (isNamed(words, hostWords)) return [`https://${text}`];
  if (!isNamed(words, addressWords)) return [];
  // scp and git write `user@host:path`.
  const [, remote] = /^[\w.-]+@([\w.-]+):(?!\d+(\/|$))/.exec(text) ?? [];
  if (remote !== undefined) return [`ssh://${remote}`];
  if (text.startsWith('//')) return [`https:${text}`];
  // Other texts may be paths. A text counts as a host if it has a dot or a port, is `localhost`, or is a number, which
  // programs read as an IPv4 address (`2130706433`, `0x7f000001`).
  if (/^([^/?#]*\.[^/?#]*|[^/?#:]+:\d+|localhost|\d+|0x[\da-f]+)([/?#]|$)/i.test(text)) return [`https://${text}`];
  return /^[a-z][a-z0-9+.-]*:/i.test(text) ? [text] : [];
}

type HostKind = 'metadata' | 'link-local' | 'loopback' | 'private' | 'drop-box' | 'address' | 'disguised' | 'public';

const metadataHosts = new Set(
  (
    '169.254.169.254 169.254.169.253 169.254.170.2 169.254.170.23 100.100.100.200 168.63.129.16 192.0.0.192 ' +
    'fd00:ec2::254 fd20:ce::254 metadata metadata.google.internal metadata.goog instance-data ' +
    'instance-data.ec2.internal'
  ).split(' '),
);
/** Services that publish received data, or that forward it to any machine. */
const dropBoxes =
  /(^|\.)(pastebin\.com|paste\.ee|hastebin\.com|transfer\.sh|file\.io|0x0\.st|webhook\.site|requestbin\.(com|net)|pipedream\.net|ngrok\.(io|app|dev)|ngrok-free\.(app|dev)|trycloudflare\.com|interact\.sh|oast\.(fun|live|me|online|pro|site)|burpcollaborator\.net)$/;
/** Domains that resolve to an address in the name, such as `10.0.0.1.nip.io`, or to the machine itself. */
const addressNames = /(^|\.)(nip\.io|sslip\.io|xip\.io|localtest\.me|lvh\.me)$/;
const privateNames = /(^|\.)(internal|intranet|local|lan|corp|home|private|localdomain|home\.arpa|svc|cluster\.local)$/;

/** The kind of a host, by its name alone. `host` is in the form that `URL` writes: lower case, IPv4 in four parts. */
export function hostKind(host: string): HostKind {
  const name = host.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (metadataHosts.has(name)) return 'metadata';
  if (name.includes(':')) return addressKind6(name);
  if (/^\d+\.\d+\.\d+\.\d+$/.test(name)) return addressKind4(name.split('.').map(Number));
  if (/(^|\.)localhost$/.test(name)) return 'loopback';
  if (dropBoxes.test(name)) return 'drop-box';
  if (!name.includes('.') || privateNames.test(name) || addressNames.test(name)) return 'private';
  return /(^|\.)xn--/.test(name) ? 'disguised' : 'public';
}

/** The kind of an IPv4 address. 0.0.0.0/8 counts as this machine; shared, benchmark and multicast networks as private. */
function addressKind4([first = 0, second = 0, third = 0, fourth = 0]: number[]): HostKind {
  if (metadataHosts.has(`${first}.${second}.${third}.${fourth}`)) return 'metadata';
  if (first === 127 || first === 0) return 'loopback';
  if (first === 169 && second === 254) return 'link-local';
  const isPrivate =
    first === 10 ||
    (first === 172 && second >= 16 && second <= 31) ||
    (first === 192 && second === 168) ||
    (first === 100 && second >= 64 && second <= 127) ||
    (first === 198 && (second === 18 || second === 19)) ||
    first >= 224;
  return isPrivate ? 'private' : 'address';
}

/** The kind of an IPv6 address in the form that `URL` writes: the shortest one, in lower case. */
function addressKind6(address: string): HostKind {
  if (address === '::1' || address === '::') return 'loopback';
  // The IPv4 address in an IPv6 address: mapped, translated by NAT64, or the network of a 6to4 address.
  const embedded =
    /^(?:::ffff:|::|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address) ??
    /^2002:([0-9a-f]{1,4}):([0-9a-f]{0,4})(?=:|$)/.exec(address);
  if (embedded !== null) {
    const [high = 0, low = 0] = embedded.slice(1).map((part) => Number.parseInt(part || '0', 16));
    return addressKind4([high >> 8, high & 255, low >> 8, low & 255]);
  }
  if (/^fe[89ab]/.test(address)) return 'link-local';
  return /^(f[cd]|ff)/.test(address) ? 'private' : 'address';
}
