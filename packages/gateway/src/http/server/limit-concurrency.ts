import type { Context } from 'hono';
import { ProblemError } from 'countersign/base';
import type { HttpEnv } from '../http-env.ts';

/** Requests of one person that run at the same time; open streams are counted elsewhere. */
const mostAtOnce = 64;

/**
 * Bounds how many requests of one person run at the same time: some read many histories, and one person must not use up
 * the Temporal server. Without authentication everybody is the same person, so there is no bound.
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
