import type { ApprovalDetails } from 'countersign/client';

/** How a request stands: its answers depend on it. */
export type Standing = 'open' | 'expired' | 'settled';

export function standingOf({ settled, deadline }: ApprovalDetails, nowMs: number): Standing {
  if (settled !== undefined) return 'settled';
  return deadline !== null && Date.parse(deadline) <= nowMs ? 'expired' : 'open';
}
