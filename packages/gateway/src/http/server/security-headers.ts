import type { MiddlewareHandler } from 'hono';
import type { HttpEnv } from '../gateway-context.ts';
import type { Site } from '../site.ts';

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

/** Adds the security headers to every response. */
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
