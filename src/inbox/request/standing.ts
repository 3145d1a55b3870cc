import type { ApprovalDetails } from '../../contract.ts';

/** How a request stands: its answers depend on it. */
export type Standing = 'open' | 'expired' | 'settled';

export function standingOf({ settled, deadline }: ApprovalDetails, nowMs: number): Standing {
  if (settled !== undefined) return 'settled';
  return deadline !== null && Date.parse(deadline) <= nowMs ? 'expired' : 'open';
}

/** What a reviewer decides by, without what may change at any time: votes, seats, the deadline and its settlement. */
export function decidingTexts(request: ApprovalDetails): string {
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
