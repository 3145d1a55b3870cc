import type { OutcomeName, Ran } from './approval.ts';
import { standingDenial } from '../policy/grants.ts';
import { denialOfCall, finalDenials } from './denials.ts';
import { type Ledger, journaled, kept, type Reduction, type SettledRequest, unchanged } from './ledger-state.ts';
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
 * Answers a call without a request, by an earlier decision or a limit; undefined if no such answer applies. Two
 * answers also stop calls that the policy allows: a standing denial and the limit of irreversible calls. The others
 * apply only to calls that the policy asks about. `meter` counts the work of matching denials.
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
  if (isAsked(action)) {
    const finalCount = finalDenials(ledger.denied, tool, limits);
    if (finalCount !== undefined) return refused(sentences.deniedForGood(finalCount));
    const identical = denialOfCall(ledger.denied, digest, limits);
    if (identical !== undefined) return denied(identical.reason);
  }
  const most = limits.maxIrreversiblePerRun;
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

/** Records whether an admitted call ran, and drops a large edit. If it did not run, no `sum` counts its numbers. */
export function recordEnd(ledger: Ledger, { kind, atMs, callId, ran, withheld }: EndCommand): Reduction {
  const isWithheld = withheld !== undefined;
  const end = { ran, ...(isWithheld && { withheld: true as const }) };
  const outcomes = ledger.outcomes.map((each) => (each.callId === callId ? { ...each, ...end } : each));
  const settled = ledger.settled.map((each) => (each.callId === callId ? withoutLargeEdit(each) : each));
  const code = isWithheld ? resultWithheldType : undefined;
  const counting = ran === 'no' ? withoutShare(ledger, callId) : withShareSpent(ledger, callId);
  return journaled(unchanged({ ...counting, outcomes, settled }), atMs, { kind, callId, ran, code, reason: withheld });
}

/** Drops large edited arguments, because history has them once the call has run. */
function withoutLargeEdit(request: SettledRequest): SettledRequest {
  const { edited } = request.settlement;
  if (edited === undefined) return request;
  const { arguments: args } = kept({ ...request.request, arguments: edited.arguments });
  return { ...request, settlement: { ...request.settlement, edited: { ...edited, arguments: args } } };
}
