import { createHash } from 'node:crypto';
import { ProblemError } from 'countersign/base';
import type { Principal } from '../identity/principal.ts';

/**
 * The idempotency key of a request: the header `Idempotency-Key` or the id in the body, prefixed with a hash of the person,
 * so that keys of different people never collide. Undefined if there is none.
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
