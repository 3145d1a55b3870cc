import type { Viewed } from 'countersign/client';

/** A year: a decision that says more is refused. */
const mostShownMs = 365 * 24 * 3_600_000;

/** What the inbox says of how a request was looked at. */
export function viewedSince(shownAtMs: number, more: Pick<Viewed, 'card' | 'userMessages'> = {}): Viewed {
  const durationMs = Math.round(Math.min(mostShownMs, Math.max(0, Date.now() - shownAtMs)));
  return { channel: 'inbox', durationMs, ...more };
}
