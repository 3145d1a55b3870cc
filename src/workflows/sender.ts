import type { MessageSignature } from '../core/decision.ts';
import type { Voter } from '../core/entitlement.ts';
import type { Problem } from '../core/problem.ts';

/** Who sends a message, as far as it can be believed. */
export function senderOf(message: {
  reviewerId?: string;
  signature?: MessageSignature;
}): { voter: Voter } | { problem: Problem } {
  const { reviewerId, signature } = message;
  if (signature !== undefined) {
    return { problem: { code: 'unverified_reviewer', message: 'signatures are not supported by this version' } };
  }
  const isNamed = reviewerId !== undefined && reviewerId.trim() !== '';
  return { voter: isNamed ? { reviewerId, identity: 'claimed' } : { identity: 'anonymous' } };
}
