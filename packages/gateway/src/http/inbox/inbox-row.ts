import { isSamePerson, isOneOf, personKeyIn, seatsOf } from 'countersign/adapter';
import { rowSentence } from 'countersign/card';
import type { ApprovalDetails, ApprovalSummary } from 'countersign/client';
import type { InboxRow, WaitsFor } from './api.ts';
import type { SharedRow } from './open-view.ts';
import type { Principal } from '../identity/principal.ts';

/** The part of a row that is the same for all readers. It comes from Temporal's visibility, so it may be outdated. */
export function sharedRow(row: ApprovalSummary): SharedRow {
  return { ...row, sentence: rowSentence(row) };
}

export function readBy(row: SharedRow, principal: Principal): InboxRow {
  return { ...row, waitsFor: waitsForRow(principal, row) };
}

/** The key of a row. It includes the workflow id, because two workflows can list the same request id. */
export function rowKey({ workflowId, requestId }: Pick<ApprovalSummary, 'workflowId' | 'requestId'>): string {
  return `${requestId} ${workflowId}`;
}

/** Says whether the request of a row waits for this person; `unknown` if only the run can tell. */
export function waitsForRow(
  principal: Pick<Principal, 'id' | 'groups' | 'roles'>,
  { reviewers, approvers }: Pick<ApprovalSummary, 'reviewers' | 'approvers'>,
): WaitsFor {
  if (!principal.roles.includes('reviewer')) return 'others';
  if (approvers !== undefined) return waitsFor(principal, { reviewers: [], approvers });
  if (reviewers === undefined) return 'unknown';
  const known = waitsFor(principal, { reviewers });
  // `others` is not certain, because only the run knows all groups and all ids of this person.
  return known === 'others' ? 'unknown' : known;
}

/**
 * Says whether a request waits for this person. `approvers` are the people whose approval would count. If they are too
 * many, the run leaves `approvers` out. Then the reviewers, the person's id and the groups of the credential decide.
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
  // The seats of this person among the reviewers: their own unless given away, and those given to them by delegations.
  const seats = seatsOf(delegations, id, keyOf);
  if (reviewers.length === 0) return seats.length === 0 ? 'others' : 'anyone';
  const directory = { people: { [id]: { groups, keys: [] } } };
  return seats.some(([owner]) => isOneOf(directory, owner, reviewers, keyOf)) ? 'you' : 'others';
}

/** Says whether a request waits for this person now. After a settlement or the person's vote, it waits for others. */
export function waitsForOne(principal: Principal, request: ApprovalDetails): WaitsFor {
  if (!principal.roles.includes('reviewer')) return 'others';
  const { settled, votes = [] } = request;
  const hasVoted = votes.some(({ reviewerId }) => isSamePerson(reviewerId, principal.id, personKeyIn(request)));
  return settled !== undefined || hasVoted ? 'others' : waitsFor(principal, request);
}
