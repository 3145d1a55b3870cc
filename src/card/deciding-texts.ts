import type { CardRequest } from './card-request.ts';

/** What a reviewer decides by, as one text; without what may change at any time: votes, seats, the deadline, the outcome. */
export function decidingTexts(request: CardRequest): string {
  const {
    votes: _,
    approvals: __,
    delegations: ___,
    deadline: ____,
    reviewers: _____,
    settled: ______,
    always: _______,
    ...texts
  } = request;
  return JSON.stringify(texts);
}
