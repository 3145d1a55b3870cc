import { isSamePerson, isOneOf, personKeyIn, seatsOf } from 'countersign/adapter';
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
    people,
  }: Pick<ApprovalDetails, 'reviewers' | 'delegations' | 'approvers' | 'people'>,
): WaitsFor {
  const keyOf = personKeyIn({ people });
  if (approvers !== undefined) return isOneOf(undefined, id, approvers, keyOf) ? 'you' : 'others';
  const seats = seatsOf(delegations, id, keyOf);
  if (reviewers.length === 0) return seats.length === 0 ? 'others' : 'anyone';
  const own = { people: { [id]: { groups, keys: [] } } };
  return seats.some(([owner]) => isOneOf(own, owner, reviewers, keyOf)) ? 'you' : 'others';
}

/** As `waitsFor`, of one request with its votes: nothing waits for somebody who has voted. */
export function waitsForOne(principal: Principal, request: ApprovalDetails): WaitsFor {
  const { settled, votes = [] } = request;
  const hasVoted = votes.some(({ reviewerId }) => isSamePerson(reviewerId, principal.id, personKeyIn(request)));
  return settled !== undefined || hasVoted ? 'others' : waitsFor(principal, request);
}
