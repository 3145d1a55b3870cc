import type { OutcomeName, Ran } from './approval.ts';
import { standingDenial } from '../policy/grants.ts';
import { denialOfCall, finalDenials } from './denials.ts';
import { type Ledger, journaled, kept, type Reduction, unchanged } from './ledger-state.ts';
import type { Limits } from '../policy/limits.ts';
import { isAsked } from '../policy/modes.ts';
import type { RulingMeter } from '../match/ruling-meter.ts';
import { readyCall, type RuledCall, type Ruling } from '../policy/ruling.ts';
import { sentences } from './sentences.ts';
import { resultWithheldType } from '../base/tool-call.ts';
import { withoutShare, withShareSpent } from './argument-sums.ts';

/** An answer without a request: `denied` by a reviewer's earlier decision, or `refused` by a limit. */
export interface EarlyAnswer {
  outcome: Extract<OutcomeName, 'denied' | 'refused'>;
  content: string;
  reason?: string;
  grantId?: string;
}

export interface AdmittedCall {
  ruled: RuledCall;
  digest: string;
  reversible: boolean;
  atMs: number;
}

export type LedgerBefore = Pick<Ledger, 'counts' | 'denied' | 'grants'> & { open: readonly unknown[] };

/**
 * Answers a call without a request, by an earlier decision or a limit; undefined if the call may go on. Standing
 * denials and the limit of irreversible calls also bind calls that the policy allows; other denials and limits answer
 * only calls that it asks about. Adds the work of matching denials to `meter`.
 */
export function answerBefore(
  ledger: LedgerBefore,
  { action }: Pick<Ruling, 'action'>,
  call: AdmittedCall,
  limits: Limits,
  meter?: RulingMeter,
): EarlyAnswer | undefined {
  const { ruled, digest, atMs } = call;
  const { tool } = ruled;
  const denials = ledger.grants.filter(({ approved }) => !approved);
  const standing =
    denials.length > 0 ? standingDenial(denials, { digest, atMs, ready: readyCall(ruled, {}, meter) }) : undefined;
  if (standing !== undefined) return { ...denied(standing.reason), grantId: standing.grantId };
  const most = limits.maxIrreversiblePerRun;
  if (isAsked(action)) {
    const attempts = finalDenials(ledger.denied, tool, limits);
    if (attempts !== undefined) return refused(sentences.deniedForGood(attempts));
    const remembered = denialOfCall(ledger.denied, digest, limits);
    if (remembered !== undefined) return denied(remembered.reason);
  }
  if (!call.reversible && most !== null && ledger.counts.irreversible >= most) {
    return refused(sentences.tooManyIrreversible(most));
  }
  if (isAsked(action) && ledger.open.length >= limits.maxPending) return refused(sentences.tooManyPending);
  return undefined;
}

function denied(reason: string | undefined): EarlyAnswer {
  return { outcome: 'denied', content: sentences.deniedByReviewer(reason), reason };
}

function refused(content: string): EarlyAnswer {
  return { outcome: 'refused', content, reason: content };
}

/** Records the end of an admitted call. `withheld`: why the tool's check withheld the result from the model. */
export interface EndCommand {
  kind: 'ran';
  atMs: number;
  callId: string;
  ran: Ran;
  withheld?: string;
}

/** Records whether an admitted call ran. If it did not run, its numbers no longer count in `sum`. */
export function recordEnd(ledger: Ledger, { kind, atMs, callId, ran, withheld }: EndCommand): Reduction {
  const isWithheld = withheld !== undefined;
  const end = { ran, ...(isWithheld && { withheld: true as const }) };
  const outcomes = ledger.outcomes.map((each) => (each.callId === callId ? { ...each, ...end } : each));
  // Once the call has run, history has its edited arguments, so large ones are dropped here, as in settled requests.
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
