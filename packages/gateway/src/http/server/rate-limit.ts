import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';
import { MemoryStore, rateLimiter } from 'hono-rate-limiter';
import type { HttpEnv } from '../http-env.ts';
import type { GatewayLimits } from './limits.ts';
import { problemResponse } from '../responses/problem-response.ts';
import type { SenderAddress } from './sender-address.ts';

const minuteMs = 60_000;
/** The health checks of load balancers. */
const unlimited = ['/healthz', '/readyz'];

/**
 * Bounds the requests of one person, however many credentials they use; of an unknown sender, by their address.
 * Each gateway counts for itself.
 */
export function rateLimit(
  { readsPerMinute, writesPerMinute }: Required<GatewayLimits>,
  addressOfSender: SenderAddress,
): MiddlewareHandler<HttpEnv> {
  return rateLimiter<HttpEnv>({
    windowMs: minuteMs,
    limit: (context) => (isRead(context) ? readsPerMinute : writesPerMinute),
    keyGenerator: (context) => `${isRead(context) ? 'read' : 'write'} ${senderOf(context, addressOfSender)}`,
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

function senderOf(context: Context<HttpEnv>, addressOfSender: SenderAddress): string {
  const principal = context.get('principal');
  if (principal !== undefined) return `person ${principal.key}`;
  return `address ${addressOfSender(peerOf(context), context.req.header('x-forwarded-for'))}`;
}

function peerOf(context: Context<HttpEnv>): string {
  try {
    return getConnInfo(context).remote.address ?? '';
  } catch {
    return ''; // a request that came over no connection, as in a test
  }
}

/** Routes whose senders sign what they send. */
const signed = /^(?:\/slack\/interactions|\/channels\/[^/]+\/answers\/[^/]+)$/;

/**
 * As `limit`, for requests that prove their sender themselves: each that proves nothing is counted, whatever was wrong
 * with it. Behind a proxy all strangers may have one address, and a forged request must not use up what a signed one may.
 */
export function limitUnproven(limit: MiddlewareHandler<HttpEnv>): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    if (context.req.method !== 'POST' || !signed.test(context.req.path)) return limit(context, next);
    await next();
    if (context.res.status < 400 || context.get('provenAnswer') !== undefined) return undefined;
    const limited = await limit(context, () => Promise.resolve());
    if (limited instanceof Response) context.res = limited;
    return undefined;
  };
}
