import type { ApprovalRequest } from '../../src/core/ledger/approval.ts';
import { askTermsOf, type AskTerms } from '../../src/core/policy/ask-terms.ts';
import type { Voter } from '../../src/core/people/entitlement.ts';
import type { RequestRecord } from '../../src/core/ledger/ledger.ts';
import { iso } from '../../src/core/ledger/ledger.ts';
import type { Ruling } from '../../src/core/policy/ruling.ts';
import { requestDetails } from './requests.ts';

export const askRuling: Ruling = { action: 'ask', rule: null, layer: 'default', severity: 'medium', engine: 1 };

/** The id of request number `number`. */
export const requestIdOf = (number: number): string => number.toString(16).padStart(32, '0');
export const digestOf = (number: number): string => number.toString(16).padStart(64, 'd');

/** Request number `number` of a run, as its ledger records it. */
export function requestRecord(
  number: number,
  deadlineMs: number | null = null,
  fields: Partial<ApprovalRequest> = {},
  terms: Partial<AskTerms> = {},
): RequestRecord {
  return {
    callId: `1.${number}`,
    deadlineMs,
    request: requestDetails({
      requestId: requestIdOf(number),
      arguments: { to: 'ann', amount: number },
      agentName: 'tester',
      reason: 'Risk default for write',
      requestedAt: iso(0),
      deadline: deadlineMs === null ? null : iso(deadlineMs),
      digest: digestOf(number),
      ...fields,
    }),
    terms: { ...askTermsOf({}, askRuling, { risk: 'write' }), ...terms },
    votes: [],
    delegations: [],
    stepsTakenUntilMs: -1,
    ruled: { definition: 'd'.repeat(64) },
  };
}

/** A voter who claims this name without proof; anonymous without a name. */
export function claimedBy(reviewerId: string | undefined): Voter {
  return reviewerId === undefined ? { identity: 'anonymous' } : { reviewerId, identity: 'claimed' };
}
