import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';
import { MemoryStore, rateLimiter } from 'hono-rate-limiter';
import type { HttpEnv } from './http-env.ts';
import type { GatewayLimits } from './limits.ts';
import { problemResponse } from './problem-response.ts';

const minuteMs = 60_000;
/** What load balancers ask all the time. */
const unlimited = ['/healthz', '/readyz'];

/**
 * Bounds the requests of one person, however many credentials they use; of a sender whom nobody knows, by their address.
 * Each gateway counts for itself.
 */
export function rateLimit({ readsPerMinute, writesPerMinute }: Required<GatewayLimits>): MiddlewareHandler<HttpEnv> {
  return rateLimiter<HttpEnv>({
    windowMs: minuteMs,
    limit: (context) => (isRead(context) ? readsPerMinute : writesPerMinute),
    keyGenerator: (context) => `${isRead(context) ? 'read' : 'write'} ${senderOf(context)}`,
    skip: ({ req }) => unlimited.includes(req.path),
    standardHeaders: 'draft-7',
    store: new MemoryStore<HttpEnv>(),
    handler: (context) =>
      problemResponse(
        { code: 'rate_limited', message: 'Too many requests: wait, and try again.' },
        { 'retry-after': context.res.headers.get('retry-after') ?? '1' },
      ),
  });
}

function isRead({ req }: Context<HttpEnv>): boolean {
  return req.method === 'GET' || req.method === 'HEAD';
}

function senderOf(context: Context<HttpEnv>): string {
  const principal = context.get('principal');
  return principal === undefined ? `address ${addressOf(context)}` : `person ${principal.key}`;
}

/** Not a header's: anybody writes those. */
function addressOf(context: Context<HttpEnv>): string {
  try {
    return getConnInfo(context).remote.address ?? '';
  } catch {
    return ''; // a request that came over no connection, as in a test
  }
}
