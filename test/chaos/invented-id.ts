import { createHash } from 'node:crypto';

/** The id of a request that does not exist; the same for every send of one message. */
export function inventedId(messageId: string): string {
  return createHash('sha256').update(messageId).digest('hex').slice(0, 32);
}
