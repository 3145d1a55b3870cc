import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';
import { MemoryStore, rateLimiter } from 'hono-rate-limiter';
import type { HttpEnv } from '../gateway-context.ts';
import type { GatewayLimits, SenderAddress } from './limits.ts';
import { problemResponse } from '../responses.ts';
import { ProblemError } from 'countersign/base';

const minuteMs = 60_000;
/** The routes without a rate limit: load balancers check them often. */
const unlimited = ['/healthz', '/readyz'];

/** Limits requests per minute: for each person, or, without a credential, each address. Each process counts its own. */
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
    return ''; // a request without a connection, as in a test
  }
}

const signedRoutes = /^(?:\/slack\/interactions|\/channels\/[^/]+\/answers\/[^/]+)$/;

/**
 * Applies `limit` to all requests, but counts requests that their senders sign only if they fail. All these senders may
 * share the address of a proxy, so forged requests would otherwise use up the quota of genuine ones.
 */
export function limitUnproven(limit: MiddlewareHandler<HttpEnv>): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    if (context.req.method !== 'POST' || !signedRoutes.test(context.req.path)) return limit(context, next);
    await next();
    if (context.res.status < 400 || context.get('provenAnswer') !== undefined) return undefined;
    const limited = await limit(context, () => Promise.resolve());
    if (limited instanceof Response) context.res = limited;
    return undefined;
  };
}

/** How many requests of one person may run at the same time. Open streams have another limit, in `sse-stream.ts`. */
const mostAtOnce = 64;

/**
 * Limits how many requests of one person run at the same time: some read many histories, and one person must not
 * overload the Temporal server. Without authentication, all senders count as one person, so there is no limit.
 */
export function limitConcurrency(
  most = mostAtOnce,
): (context: Context<HttpEnv>, next: () => Promise<void>) => Promise<void> {
  const running = new Map<string, number>();
  return async (context, next) => {
    const principal = context.get('principal');
    if (principal === undefined || principal.via === 'local') return next();
    const { key } = principal;
    const before = running.get(key) ?? 0;
    if (before >= most) {
      const message = `You have ${most} requests under way: wait for one of them, and try again.`;
      throw new ProblemError({ code: 'rate_limited', message });
    }
    running.set(key, before + 1);
    try {
      await next();
    } finally {
      const left = running.get(key)! - 1;
      if (left === 0) running.delete(key);
      else running.set(key, left);
    }
  };
}
