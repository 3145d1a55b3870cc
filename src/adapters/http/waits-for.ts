import type { ApprovalDetails } from '../../contract.ts';
import { isOneOf } from '../../core/people/directory.ts';
import { type Delegation, seatsOf } from '../../core/people/delegation.ts';
import type { WaitsFor } from './api.ts';
import type { Principal } from './principal.ts';

/**
 * Whether a request waits for this person, as far as its view and their credential say. A hint for the inbox: who may
 * decide is for the run to say.
 */
export function waitsFor(
  { id, groups }: Pick<Principal, 'id' | 'groups'>,
  { reviewers, delegations = [] }: { reviewers: readonly string[]; delegations?: readonly Delegation[] },
): WaitsFor {
  const seats = seatsOf(delegations, id);
  if (reviewers.length === 0) return seats.length === 0 ? 'others' : 'anyone';
  const own = { people: { [id]: { groups, keys: [] } } };
  return seats.some(([owner]) => isOneOf(own, owner, reviewers)) ? 'you' : 'others';
}

/** As `waitsFor`, of one request with its votes: nothing waits for somebody who has voted. */
export function waitsForOne(principal: Principal, request: ApprovalDetails): WaitsFor {
  const { settled, votes = [] } = request;
  const hasVoted = votes.some(({ reviewerId }) => reviewerId?.normalize('NFC') === principal.id.normalize('NFC'));
  return settled !== undefined || hasVoted ? 'others' : waitsFor(principal, request);
}
