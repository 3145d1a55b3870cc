import type { ApprovalDetails } from 'countersign/client';

/** How a request stands: its answers depend on it. */
export type RequestStanding = 'open' | 'expired' | 'settled';

export function requestStanding({ settled, deadline }: ApprovalDetails, nowMs: number): RequestStanding {
  if (settled !== undefined) return 'settled';
  return deadline !== null && Date.parse(deadline) <= nowMs ? 'expired' : 'open';
}
