/**
 * Protects against cross-site request forgery: a page of another origin must not use the gateway through the browser of
 * an authorized user. A browser adds cookies to the requests of any page, and a local gateway trusts every sender; a
 * browser never adds a bearer token automatically.
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

/** Without `access-control-allow-credentials`: a page of another origin never uses a cookie. */
function allow(context: Context, origin: string): void {
  context.header('access-control-allow-origin', origin);
  context.header('vary', 'origin', { append: true });
}

/** Why a request is refused because a foreign page may have sent it; undefined if none can have. */
function refusal(site: Site, request: Request, path: string): Problem | undefined {
  const { headers, method } = request;
  if (site.isLocal) {
    const problem = foreignToLocal(site, request);
    if (problem !== undefined) return problem;
  }
  if (safeMethods.includes(method)) return undefined;
  // No page makes a browser add this header, and a preflight for it is answered for configured origins only. A header
  // for Basic proves nothing: browsers repeat it for every page.
  if (!site.isLocal && /^bearer /i.test(headers.get('authorization') ?? '')) return undefined;
  // A link in the path is a credential that no other page has.
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

/** A page can send this type to another origin, and an old browser does not name the origin. */
const otherType: Problem = {
  code: 'forbidden',
  message: 'This may be of a page of another origin: send it with content-type: application/json.',
};

function isFromPage(headers: Headers): boolean {
  return ['origin', 'sec-fetch-site', 'cookie'].some((name) => headers.has(name));
}

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
  const isOpened = method === 'GET' && isPage;
  if (from === null || from === 'same-origin' || from === 'none' || isOpened || isAllowed) return undefined;
  return otherOrigin;
}

/** True if the gateway's own page sent this, or the sender is not a browser. */
function isSameOrigin(site: Site, request: Request): boolean {
  const { headers } = request;
  const origin = headers.get('origin');
  const from = headers.get('sec-fetch-site');
  if (site.isLocal && origin !== null && site.cors.includes(origin)) return true;
  if (from !== null) {
    // A form of a page with `no-referrer` has the origin `null`.
    const fits = origin === null || origin === 'null' || origin === ownOrigin(site, request);
    return from === 'same-origin' ? fits : from === 'none' && fits && isJson(headers);
  }
  if (origin !== null) return origin === ownOrigin(site, request);
  if (headers.has('cookie')) return false;
  return isJson(headers);
}

/** A page cannot send JSON to another origin without a preflight. */
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

/** Defaults: a response may override them, such as a page with a style, or a file that browsers may cache. */
const byDefault = {
  'content-security-policy': contentSecurityPolicy,
  'cache-control': 'no-store',
};

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
