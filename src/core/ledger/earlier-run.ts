import { iso, type Ledger, outcomesKept, type RequestRecord } from './ledger-state.ts';

/** A call that ran before the request about an identical call. */
export interface EarlierRun {
  /** Absent: a rule or a grant allowed the earlier call, so reviewers were not asked. */
  requestId?: string;
  /** When the earlier call was allowed, or its request settled, in ISO 8601. */
  at: string;
  /** `unknown`: it started, and its outcome is unknown. */
  ran: 'yes' | 'unknown';
}

/** Hex digits kept of a digest: enough to tell the calls of a run apart, and cheap to carry. */
const digestKept = 16;

/** The ledger with a call added that was allowed without a request. */
export function withAllowed(
  ledger: Ledger,
  { callId, digest, atMs }: { callId: string; digest: string; atMs: number },
): Ledger {
  const call = { callId, digest: digest.slice(0, digestKept), atMs };
  return { ...ledger, allowed: [...(ledger.allowed ?? []), call].slice(-outcomesKept) };
}

/** The last identical call that ran before, if any did. Identical: the same tool, arguments and definition. */
export function earlierRunOf(ledger: Ledger, { request: asked }: RequestRecord): EarlierRun | undefined {
  const { outcomes, settled, allowed = [] } = ledger;
  const withoutRequest = allowed
    .filter(({ digest }) => asked.digest.startsWith(digest))
    .map(({ callId, atMs }) => ({ callId, at: iso(atMs) }));
  const byRequest = settled
    .filter(({ request, settlement: { edited } }) => (edited?.digest ?? request.digest) === asked.digest)
    .map(({ callId, request: { requestId }, settlement }) => ({ callId, at: settlement.settledAt, requestId }));
  const earlier = [...withoutRequest, ...byRequest].flatMap(({ callId, ...call }) => {
    const ran = outcomes.find((each) => each.callId === callId)?.ran;
    // A call that was admitted after this question is left out: it would change a card that people are reading.
    return call.at <= asked.requestedAt && (ran === 'yes' || ran === 'unknown') ? [{ ...call, ran }] : [];
  });
  // Of calls at the same time, the last one in the list counts.
  return earlier.toSorted((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at))).at(-1);
}
