import { resultWithheldType } from '../base/tool-failure.ts';
import { withoutShare, withShareSpent } from './argument-sums.ts';
import type { Ran } from './approval.ts';
import { type Ledger, journaled, kept, type Reduction, unchanged } from './ledger-state.ts';

/** An admitted call has ended. `withheld`: why the tool's check lets the model have nothing of what the tool gave. */
export interface EndCommand {
  kind: 'ran';
  atMs: number;
  callId: string;
  ran: Ran;
  withheld?: string;
}

export function recordEnd(ledger: Ledger, { kind, atMs, callId, ran, withheld }: EndCommand): Reduction {
  const isWithheld = withheld !== undefined;
  const end = { ran, ...(isWithheld && { withheld: true as const }) };
  const outcomes = ledger.outcomes.map((each) => (each.callId === callId ? { ...each, ...end } : each));
  // Edited arguments have been sent once the call ran: like the call's own, large ones stay in history only.
  const settled = ledger.settled.map((each) => {
    const { edited } = each.settlement;
    if (each.callId !== callId || edited === undefined) return each;
    const { arguments: args } = kept({ ...each.request, arguments: edited.arguments });
    return { ...each, settlement: { ...each.settlement, edited: { ...edited, arguments: args } } };
  });
  const code = isWithheld ? resultWithheldType : undefined;
  const counting = ran === 'no' ? withoutShare(ledger, callId) : withShareSpent(ledger, callId);
  return journaled(unchanged({ ...counting, outcomes, settled }), atMs, { kind, callId, ran, code, reason: withheld });
}
