import { isSamePerson, isOneOf, seatsOf, type Delegation } from 'countersign/adapter';
import type { ApprovalDetails } from 'countersign/client';
import type { WaitsFor } from './api.ts';
import type { Principal } from '../identity/principal.ts';

/**
 * Whether a request waits for this person. The run says whose approval would count; where it does not (an older worker, or too
 * many people), the names and the groups of the credential are a guess.
 */
export function waitsFor(
  { id, groups }: Pick<Principal, 'id' | 'groups'>,
  {
    reviewers,
    delegations = [],
    approvers,
  }: { reviewers: readonly string[]; delegations?: readonly Delegation[]; approvers?: readonly string[] },
): WaitsFor {
  if (approvers !== undefined) return isOneOf(undefined, id, approvers) ? 'you' : 'others';
  const seats = seatsOf(delegations, id);
  if (reviewers.length === 0) return seats.length === 0 ? 'others' : 'anyone';
  const own = { people: { [id]: { groups, keys: [] } } };
  return seats.some(([owner]) => isOneOf(own, owner, reviewers)) ? 'you' : 'others';
}

/** As `waitsFor`, of one request with its votes: nothing waits for somebody who has voted. */
export function waitsForOne(principal: Principal, request: ApprovalDetails): WaitsFor {
  const { settled, votes = [] } = request;
  const hasVoted = votes.some(({ reviewerId }) => isSamePerson(reviewerId, principal.id));
  return settled !== undefined || hasVoted ? 'others' : waitsFor(principal, request);
}
