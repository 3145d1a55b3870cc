/**
 * Prevents cross-site request forgery: a page of another origin must not use the gateway through the browser of an
 * authorized user. The browser adds cookies to the requests of such a page, and a gateway without authentication
 * trusts every sender. A bearer token is safe, because no browser adds one automatically.
 */
import type { Context, MiddlewareHandler } from 'hono';
import type { Problem } from 'countersign/base';
import type { HttpEnv } from '../gateway-context.ts';
import { problemResponse } from '../responses.ts';
import { loopbackHosts, ownOrigin, type Site } from '../site.ts';

const safeMethods = ['GET', 'HEAD', 'OPTIONS'];
const proxyHeaders = ['forwarded', 'via', 'x-real-ip'];
const allowedHeaders = 'authorization, content-type, idempotency-key, last-event-id';
const allowedMethods = 'GET, POST, PUT, DELETE';

/** Refuses requests that a page of another origin may have sent, and answers the preflights of configured origins. */
export function browserGuard(site: Site): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const problem = refusal(site, context.req.raw, context.req.path);
    if (problem !== undefined) return problemResponse(problem);
    const origin = context.req.header('origin');
    if (origin === undefined || !site.cors.includes(origin)) return next();
    if (context.req.method === 'OPTIONS' && context.req.header('access-control-request-method') !== undefined) {
      allow(context, origin);
      context.header('access-control-allow-methods', allowedMethods);
      context.header('access-control-allow-headers', allowedHeaders);
      return context.body(null, 204);
    }
    await next();
    allow(context, origin);
    return undefined;
  };
}

/** Allows a configured origin, but sends no `access-control-allow-credentials`, so its pages never use a cookie. */
function allow(context: Context, origin: string): void {
  context.header('access-control-allow-origin', origin);
  context.header('vary', 'origin', { append: true });
}

/** The refusal of a request that a page of another origin may have sent; undefined if no such page can have sent it. */
function refusal(site: Site, request: Request, path: string): Problem | undefined {
  const { headers, method } = request;
  if (site.isLocal) {
    const problem = foreignToLocal(site, request);
    if (problem !== undefined) return problem;
  }
  if (safeMethods.includes(method)) return undefined;
  // A page of another origin can send a bearer token only after a preflight, which only configured origins pass.
  // `Authorization: Basic` proves nothing, because browsers add it to the requests of every page. A gateway without
  // authentication checks no credential, so there, none of these three proves anything.
  if (!site.isLocal && /^bearer /i.test(headers.get('authorization') ?? '')) return undefined;
  // The path contains the link, a credential that no other page has.
  if (!site.isLocal && path.startsWith('/links/')) return undefined;
  // Slack signs its requests with a secret that no page has.
  if (!site.isLocal && path === '/slack/interactions') return undefined;
  if (isSameOrigin(site, request)) return undefined;
  return isFromPage(headers) ? otherOrigin : otherType;
}

const otherOrigin: Problem = {
  code: 'forbidden',
  message: 'A page of another origin sent this: use the page of the gateway, or a bearer token.',
};

/** For a body that any page could send without a preflight. In an old browser, such a page sends no origin. */
const otherType: Problem = {
  code: 'forbidden',
  message: 'This may be of a page of another origin: send it with content-type: application/json.',
};

function isFromPage(headers: Headers): boolean {
  return ['origin', 'sec-fetch-site', 'cookie'].some((name) => headers.has(name));
}

/** Why a gateway without authentication refuses a request: its host name, a proxy, or a page of another origin. */
function foreignToLocal(site: Site, { headers, method }: Request): Problem | undefined {
  const host = (headers.get('host') ?? '').toLowerCase();
  if (!loopbackHosts(site).includes(host)) {
    const message = `A gateway without authentication answers under ${loopbackHosts(site)[0]} only.`;
    return { code: 'forbidden', message };
  }
  const proxy = [...headers.keys()].find((name) => proxyHeaders.includes(name) || name.startsWith('x-forwarded-'));
  if (proxy !== undefined) {
    const message = `A gateway without authentication does not answer through a proxy (${proxy}): give it an identity file.`;
    return { code: 'forbidden', message };
  }
  const from = headers.get('sec-fetch-site');
  const isPage = headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document';
  const isAllowed = site.cors.includes(headers.get('origin') ?? '');
  // A link on another page may open the inbox in the browser.
  const isOpened = method === 'GET' && isPage;
  if (from === null || from === 'same-origin' || from === 'none' || isOpened || isAllowed) return undefined;
  return otherOrigin;
}

/** True if the gateway's own page sent this, or the sender is not a browser. */
function isSameOrigin(site: Site, request: Request): boolean {
  const { headers } = request;
  const origin = headers.get('origin');
  const fetchSite = headers.get('sec-fetch-site');
  const isOwnOrigin = origin !== null && origin === ownOrigin(site, request);
  if (site.isLocal && origin !== null && site.cors.includes(origin)) return true;
  if (fetchSite === null) {
    // Old browsers and programs do not send `Sec-Fetch-Site`.
    if (origin !== null) return isOwnOrigin;
    return !headers.has('cookie') && isJson(headers);
  }
  // A form of a page with `no-referrer` has the origin `null`.
  if (origin !== null && origin !== 'null' && !isOwnOrigin) return false;
  if (fetchSite === 'same-origin') return true;
  return fetchSite === 'none' && isJson(headers);
}

/** True if the body is JSON or has no type. A page cannot send JSON to another origin without a preflight. */
function isJson(headers: Headers): boolean {
  const type = headers.get('content-type');
  return type === null || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type);
}

/** The content security policy of the gateway's pages: a page loads only files of the gateway. */
export const contentSecurityPolicy = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self' data:`,
  `connect-src 'self'`,
  `font-src 'self'`,
  `manifest-src 'self'`,
  `worker-src 'self'`,
  `form-action 'self'`,
  `frame-ancestors 'none'`,
  `base-uri 'none'`,
].join('; ');

const always = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

/** The headers that a response may replace, as pages with a style and files that browsers may cache do. */
const byDefault = { 'content-security-policy': contentSecurityPolicy, 'cache-control': 'no-store' };

/** Adds the security headers to every response. Those of `byDefault` do not replace headers of the response. */
export function securityHeaders({ publicUrl, cors }: Site): MiddlewareHandler<HttpEnv> {
  const fixed = {
    ...always,
    'cross-origin-resource-policy': cors.length > 0 ? 'cross-origin' : 'same-origin',
    ...(publicUrl?.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
  };
  return async (context, next) => {
    await next();
    const { headers } = context.res;
    for (const [name, value] of Object.entries(fixed)) headers.set(name, value);
    for (const [name, value] of Object.entries(byDefault)) {
      if (!headers.has(name)) headers.set(name, value);
    }
  };
}
