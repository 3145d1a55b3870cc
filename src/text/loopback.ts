const octet = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const loopbackAddress = new RegExp(`^(?:127(?:\\.${octet}){3}|::1)$`);

/** True for an IP address of this machine, with or without the brackets of a URL: 127.0.0.0/8 or ::1. */
export function isLoopbackAddress(host: string): boolean {
  return loopbackAddress.test(host.replace(/^\[(.*)\]$/, '$1'));
}

/** True for `localhost` and for an IP address of this machine. Another name may resolve to any machine. */
export function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host);
}
