import type { OpenCard, ReviewState } from './review-state.ts';

/** How a card stands: its keys depend on it. */
export type CardStanding = 'loading' | 'open' | 'expired' | 'settled';

export function cardStanding({ row, request, unanswered }: OpenCard, nowMs: number): CardStanding {
  if (request?.settled !== undefined) return 'settled';
  if (request === undefined && unanswered === undefined) return 'loading';
  const { deadline } = request ?? row;
  return deadline !== null && Date.parse(deadline) < nowMs ? 'expired' : 'open';
}

/** The requests that wait for this reviewer, without those that were put aside. */
export function waitingRows({ rows, aside }: ReviewState) {
  return rows.filter(({ requestId }) => aside[requestId] === undefined);
}

/** The number of requests that were skipped and are still open. */
export function skippedCount({ rows, aside }: ReviewState): number {
  return rows.filter(({ requestId }) => aside[requestId] === 'skipped').length;
}
