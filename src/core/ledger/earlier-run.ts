import type { Ledger, RequestRecord } from './ledger-state.ts';

/** A call that reviewers were asked about, that was the very same one, and that ran before it was asked about again. */
export interface EarlierRun {
  requestId: string;
  /** ISO 8601: when that request was settled. */
  at: string;
  /** `unknown`: it started, and its outcome is unknown. */
  ran: 'yes' | 'unknown';
}

/**
 * The last such call of the run, as far as the ledger remembers. A digest covers the tool, its arguments and its definition.
 * Nothing is recorded for it, so executions that began under an older version know it, too.
 */
export function earlierRunOf({ outcomes, settled }: Ledger, { request: asked }: RequestRecord): EarlierRun | undefined {
  const found = settled.findLast(({ callId, request, settlement }) => {
    const digest = settlement.edited?.digest ?? request.digest;
    // A call that ends later is left out: it would change a card that people are reading.
    return digest === asked.digest && settlement.settledAt <= asked.requestedAt && ranOf(callId) !== undefined;
  });
  if (found === undefined) return undefined;
  const { callId, request, settlement } = found;
  return { requestId: request.requestId, at: settlement.settledAt, ran: ranOf(callId)! };

  function ranOf(callId: string): EarlierRun['ran'] | undefined {
    const ran = outcomes.find((each) => each.callId === callId)?.ran;
    return ran === 'yes' || ran === 'unknown' ? ran : undefined;
  }
}
