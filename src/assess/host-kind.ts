export const hostKinds = [
  'metadata',
  'link-local',
  'loopback',
  'private',
  'drop-box',
  'address',
  'disguised',
  'public',
] as const;
export type HostKind = (typeof hostKinds)[number];

const metadataHosts = new Set([
  '169.254.169.254',
  '169.254.169.253',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
]);
/** Services that publish received data, or that forward it to any machine. */
const dropBoxes =
  /(^|\.)(pastebin\.com|paste\.ee|hastebin\.com|transfer\.sh|file\.io|0x0\.st|webhook\.site|requestbin\.(com|net)|pipedream\.net|ngrok\.(io|app|dev)|ngrok-free\.(app|dev)|trycloudflare\.com|interact\.sh|oast\.(fun|live|me|online|pro|site)|burpcollaborator\.net)$/;
/** Names that spell an address with dots or dashes: `10.0.0.1.nip.io`. */
const addressNames = /(^|\.)(nip\.io|sslip\.io|xip\.io|localtest\.me|lvh\.me)$/;
const privateNames = /(^|\.)(internal|intranet|local|lan|corp|home|private|localdomain|home\.arpa|svc|cluster\.local)$/;

/** The kind of a host, from its name alone. `host` as `URL` writes it: lower case, IPv4 in four parts. */
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

/** `address` as `URL` writes it: the shortest form, in lower case. */
function addressKind6(address: string): HostKind {
  if (address === '::1' || address === '::') return 'loopback';
  // IPv4 in IPv6: mapped, translated by NAT64, and the network of a 6to4 address.
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
