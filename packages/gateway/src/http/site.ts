import { isLoopbackHost, ProblemError } from 'countersign/base';

export interface Site {
  /** The origin that browsers use, such as `https://approvals.example.com`. Absent: they can use loopback only. */
  readonly publicUrl?: string;
  /** True: there is no authentication, and every sender counts as the user who started the gateway. */
  readonly isLocal: boolean;
  readonly isLoopback: boolean;
  readonly cors: readonly string[];
  readonly host: string;
  /** The real port once the gateway listens. Before, it may be 0, which stands for a free port. */
  port: number;
}

/** The values of `Host` that a gateway on loopback accepts. DNS rebinding by an attacker's page sends another name. */
export function loopbackHosts({ host, port, isLoopback }: Pick<Site, 'host' | 'port' | 'isLoopback'>): string[] {
  const usual = ['127.0.0.1', 'localhost', '[::1]'];
  const own = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host.toLowerCase();
  const names = isLoopback && !usual.includes(own) ? [own, ...usual] : usual;
  return port === 80 ? [...names, ...names.map((name) => `${name}:80`)] : names.map((name) => `${name}:${port}`);
}

/** The origin of the gateway's own pages: `public_url`, or on loopback, by the header `Host`. Otherwise undefined. */
export function ownOrigin(site: Site, request: Request): string | undefined {
  if (site.publicUrl !== undefined) return site.publicUrl;
  const host = (request.headers.get('host') ?? '').toLowerCase();
  return site.isLoopback && loopbackHosts(site).includes(host) ? new URL(`http://${host}`).origin : undefined;
}

/** The address of the web inbox, for links; undefined if the gateway does not know how browsers reach it. */
export function inboxUrl({ publicUrl, isLoopback, port }: Site): string | undefined {
  const origin = publicUrl ?? (isLoopback ? `http://127.0.0.1:${port}` : undefined);
  return origin === undefined ? undefined : `${origin}/inbox`;
}

/**
 * Returns `public_url` if the request uses another name of this machine, such as localhost for 127.0.0.1. The gateway
 * redirects such a browser: under another name, pages have another origin, so forms and cookies would not work.
 */
export function otherLoopbackName({ publicUrl }: Site, request: Request): string | undefined {
  const host = (request.headers.get('host') ?? '').toLowerCase();
  if (publicUrl === undefined || !URL.canParse(`http://${host}`)) return undefined;
  const [wanted, used] = [new URL(publicUrl), new URL(`http://${host}`)];
  const areLoopback = isLoopbackHost(wanted.hostname) && isLoopbackHost(used.hostname);
  return areLoopback && wanted.hostname !== used.hostname && wanted.port === used.port ? publicUrl : undefined;
}

interface SiteOptions {
  identity?: { publicUrl?: string };
  authenticator?: object;
  signer?: object;
  cors?: readonly string[];
}

/** The site of a gateway. Throws a `ProblemError` if the gateway must not start with these options. */
export function siteOf(host: string, port: number, { identity, authenticator, signer, cors = [] }: SiteOptions): Site {
  const isLocal = identity === undefined && authenticator === undefined;
  const isLoopback = isLoopbackHost(host);
  if (isLocal && !isLoopback) {
    throw invalidOptions(
      `The gateway would obey everyone who reaches ${host}: give it an identity file, or listen on 127.0.0.1.`,
    );
  }
  if (isLocal && signer !== undefined) {
    throw invalidOptions(
      'A gateway without authentication cannot sign for its users: give it an identity file, or no key.',
    );
  }
  const wrong = cors.find((origin) => !isOrigin(origin));
  if (wrong !== undefined) {
    throw invalidOptions(
      `'${wrong}' is not an origin whose pages may use the gateway: write it as https://app.example.com.`,
    );
  }
  return { publicUrl: identity?.publicUrl, isLocal, isLoopback, cors, host, port };
}

function invalidOptions(message: string): ProblemError {
  return new ProblemError({ code: 'arguments_invalid', message });
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}
