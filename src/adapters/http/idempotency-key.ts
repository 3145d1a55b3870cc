import { createHash } from 'node:crypto';
import { ProblemError } from '../../core/base/problem.ts';
import type { Principal } from './principal.ts';

/**
 * The id under which a person's message is sent once: their header or the id in the body, made theirs, so that nobody
 * meets the id of another. Undefined if they gave none.
 */
export function idempotencyKeyOf(
  principal: Principal,
  header: string | undefined,
  inBody?: string,
): string | undefined {
  if (header !== undefined && inBody !== undefined && header !== inBody) {
    const message = 'The header Idempotency-Key and the id in the body differ: give one of them.';
    throw new ProblemError({ code: 'invalid_message', message });
  }
  const key = header ?? inBody;
  if (key === undefined) return undefined;
  const owner = createHash('sha256').update(principal.key).digest('hex').slice(0, 16);
  return `${owner}-${key}`;
}
