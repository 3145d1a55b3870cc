/** What an earlier link of a run carried, which may have been written by an earlier version (I12). */
import { openedAtMs } from './ladder.ts';
import { emptyLedger, type BookedRequest, type Ledger, type SettledRequest } from './ledger-state.ts';

/** Before the first lifecycle a request was anybody's to decide, by one word, and had no steps on its way. */
const plainTerms: BookedRequest['terms'] = {
  timeoutMs: null,
  onTimeout: 'deny',
  requirements: [{ layer: 'run', reviewers: [], quorum: 1, oneOfEach: [], escalate: [] }],
  named: false,
  veto: true,
  verified: false,
  allowSelf: false,
  warnBeforeMs: null,
  remindMs: null,
  escalate: [],
  always: false,
};

/** The ledger with all that this version reads of one; `engine` where none was carried. */
export function carriedLedger(carried: Ledger | undefined, engine: number): Ledger {
  const ledger = { ...emptyLedger(engine), ...carried };
  return { ...ledger, open: ledger.open.map(bookedNow), settled: ledger.settled.map(settledNow) };
}

function bookedNow<Booked extends BookedRequest>(booked: Booked): Booked {
  const plain = {
    terms: plainTerms,
    votes: [],
    delegations: [],
    ladderMs: openedAtMs(booked),
    ruled: { definition: '' },
  };
  return { ...plain, ...booked };
}

function settledNow(booked: SettledRequest): SettledRequest {
  const { outcome } = booked.settlement;
  return {
    ...bookedNow(booked),
    settlement: { ...booked.settlement, runs: booked.settlement.runs ?? outcome === 'approved' },
  };
}
