/** Assesses where a call connects to, by the text of its addresses (docs/assessment.md). Nothing is looked up. */
import { type ArgumentField, type CallView, type Finding, holdsWord, isNamed } from './finding.ts';
import { hostKind, type HostKind } from './host-kind.ts';
import type { Severity } from '../core/base/tool-call.ts';

export interface NetworkRow {
  what: string;
  test: (place: { kind: HostKind; url: URL }) => boolean;
  /** If the call only fetches. Absent: no finding. */
  fetching?: Severity;
  /** If the call sends or changes something. */
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

/** Methods that send. A tool that only reads would not use them. */
export const methodRows: readonly { methods: readonly string[]; severity: Severity; reason: string }[] = [
  { methods: ['POST', 'PUT', 'PATCH'], severity: 'medium', reason: 'the request sends data' },
  { methods: ['DELETE'], severity: 'high', reason: 'the request deletes something' },
];

const addressWords = new Set('url urls uri uris endpoint href link webhook'.split(' '));
const hostWords = new Set('host hosts hostname hostnames ip'.split(' '));
const sendingWords = new Set('upload post put patch send publish push webhook'.split(' '));
const bodyWords = new Set('body data payload form upload attachment attachments json'.split(' '));
const longestAddress = 8_192;

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

/** Returns the findings of the table about one address. `sends`: the call may send or change something there. */
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

/** The address that a field holds, if any. A bare host becomes an `https:` address. */
function addressOf({ words, value }: ArgumentField): string[] {
  if (typeof value !== 'string') return [];
  const text = value.trim();
  if (/^(https?|wss?|ftp):\/\//i.test(text)) return [text];
  if (text === '') return [];
  if (isNamed(words, hostWords)) return [`https://${text}`];
  if (!isNamed(words, addressWords)) return [];
  const [, remote] = /^[\w.-]+@([\w.-]+):(?!\d+(\/|$))/.exec(text) ?? [];
  if (remote !== undefined) return [`ssh://${remote}`];
  if (text.startsWith('//')) return [`https:${text}`];
  // Not every text in such a field is an address: a path is not; a host has a dot, a port or a well-known name.
  if (/^([^/?#]*\.[^/?#]*|[^/?#:]+:\d+|localhost|\d+|0x[\da-f]+)([/?#]|$)/i.test(text)) return [`https://${text}`];
  return /^[a-z][a-z0-9+.-]*:/i.test(text) ? [text] : [];
}
