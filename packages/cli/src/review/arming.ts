/** When a key counts. A key that is meant for the request before must never answer this one. */
import { armingMs } from 'countersign/card';
import type { ReviewState } from './review-state.ts';

/**
 * The same for the key that gave the last answer. A key that is held down begins to repeat after up to a second, and
 * stays without effect as long as it repeats.
 */
export const armingAgainMs = 1_500;
/** On a smaller terminal a person cannot see what they answer. */
export const leastSize = { columns: 40, rows: 12 };

/** True if the keys of this view count; `key`: if this one does. */
export function isArmed(state: ReviewState, key?: string): boolean {
  const { quietFromMs, nowMs, isSending, outage, size, lastKey } = state;
  if (quietFromMs === undefined || isSending || outage !== undefined) return false;
  if (size.columns < leastSize.columns || size.rows < leastSize.rows) return false;
  return nowMs - quietFromMs >= (key !== undefined && key === lastKey ? armingAgainMs : armingMs);
}

/** The state after a key that does not count: the delay begins again. */
export function pressedInVain(state: ReviewState): ReviewState {
  return state.quietFromMs === undefined ? state : { ...state, quietFromMs: state.nowMs };
}
