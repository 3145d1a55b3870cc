import { iso, type Ledger, outcomesKept, type RequestRecord } from './ledger-state.ts';

/** A call that was the very same one, and that ran before it was asked about again. */
export interface EarlierRun {
  /** Absent: reviewers were not asked, because a rule or a grant allowed the call. */
  requestId?: string;
  /** ISO 8601: when that request was settled, or that call was allowed. */
  at: string;
  /** `unknown`: it started, and its outcome is unknown. */
  ran: 'yes' | 'unknown';
}

/** So much of a digest tells the calls of a run apart, and costs little to carry. */
const digestKept = 16;

/** Remembers a call that is allowed without a question: a settled request has its own digest. */
export function withAllowed(
  ledger: Ledger,
  { callId, digest, atMs }: { callId: string; digest: string; atMs: number },
): Ledger {
  const call = { callId, digest: digest.slice(0, digestKept), atMs };
  return { ...ledger, allowed: [...(ledger.allowed ?? []), call].slice(-outcomesKept) };
}

/**
 * The last such call of the run, as far as the ledger remembers. A digest covers the tool, its arguments and its
 * definition.
 */
export function earlierRunOf(ledger: Ledger, { request: asked }: RequestRecord): EarlierRun | undefined {
  const { outcomes, settled, allowed = [] } = ledger;
  const admitted = [
    ...allowed
      .filter(({ digest }) => asked.digest.startsWith(digest))
      .map(({ callId, atMs }) => ({ callId, at: iso(atMs) })),
    ...settled
      .filter(({ request, settlement: { edited } }) => (edited?.digest ?? request.digest) === asked.digest)
      .map(({ callId, request: { requestId }, settlement }) => ({ callId, at: settlement.settledAt, requestId })),
  ];
  const earlier = admitted.flatMap(({ callId, ...call }) => {
    const ran = outcomes.find((each) => each.callId === callId)?.ran;
    // A call that ends later is left out: it would change a card that people are reading.
    return call.at <= asked.requestedAt && (ran === 'yes' || ran === 'unknown') ? [{ ...call, ran }] : [];
  });
  return earlier.reduce<EarlierRun | undefined>(
    (last, each) => (last === undefined || each.at >= last.at ? each : last),
    undefined,
  );
}
