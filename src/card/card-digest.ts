import { jsonDigest } from '../core/base/digest.ts';
import type { Json } from '../core/base/tool-call.ts';
import type { Card } from './card.ts';

/**
 * Identifies what a reviewer was shown: SHA-256 over the canonical JSON of the card without the time left, as 64
 * lower-case hex digits.
 */
export function cardDigest({ time, ...card }: Card): string {
  const { left: _, ...fixed } = time;
  return jsonDigest({ ...card, time: fixed } as unknown as Json);
}
