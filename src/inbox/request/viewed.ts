import type { Viewed } from '../../contract.ts';

/** A year: a decision that says more is refused. */
const mostShownMs = 365 * 24 * 3_600_000;

/** What the inbox says of how a request was looked at. */
export function viewedSince(shownAtMs: number, more: Pick<Viewed, 'card'> = {}): Viewed {
  const durationMs = Math.round(Math.min(mostShownMs, Math.max(0, Date.now() - shownAtMs)));
  return { channel: 'inbox', durationMs, ...more };
}

/** The id of one attempt to decide: a retry after a lost answer has the same. */
export function newDecisionId(): string {
  // `crypto.randomUUID` exists only on https and on loopback.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `inbox-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
