import { irreversibleCount, type Ledger, type RequestRecord } from '../core/ledger/ledger-state.ts';
import type { Standing, StandingRequest } from './evidence.ts';

/** What a ledger says about later rulings. `callOf`: the digest of a request's call in the evidence, if it is known. */
export function standingOf(ledger: Ledger, callOf: (record: RequestRecord) => string | undefined): Standing {
  const { seq, engine, counts, sums, denied, grants, open, settled } = ledger;
  const running = settled.filter(({ settlement, request }) => {
    return settlement.runs && settlement.edited === undefined && irreversibleCount(request.assessment) > 0;
  });
  return {
    seq,
    engine,
    counts,
    ...(sums !== undefined && { sums }),
    denied,
    grants,
    open: open.map((record) => standingRequest(record, callOf(record))),
    running: running.map(({ callId, request: { requestId } }) => ({ callId, requestId })),
    vague: [],
  };
}

function standingRequest(record: RequestRecord, call: string | undefined): StandingRequest {
  const { callId, request, terms, votes, delegations, ruled } = record;
  const { requestId, digest, requestedAt, callerUserId, assessment, replaces } = request;
  return {
    requestId,
    callId,
    digest,
    ...(call !== undefined && { call }),
    terms,
    definition: ruled.definition,
    delegations,
    votes: votes.map(({ reviewerId, identity, approved }) => ({ reviewerId, identity, approved })),
    requestedAt,
    callerUserId,
    irreversible: irreversibleCount(assessment),
    ...(ruled.raised !== undefined && { raised: ruled.raised }),
    ...(replaces?.by === 'edit' && { isEdit: true as const }),
  };
}
