import { isSamePerson, isOneOf, personKeyIn, seatsOf } from 'countersign/adapter';
import { rowSentence } from 'countersign/card';
import type { ApprovalDetails, ApprovalSummary } from 'countersign/client';
import type { InboxRow, WaitsFor } from './api.ts';
import type { SharedRow } from './open-view.ts';
import type { Principal } from '../identity/principal.ts';

/** The row as everyone sees it. All of it is from the index: no run is asked, so it decides nothing. */
export function sharedRow(row: ApprovalSummary): SharedRow {
  return { ...row, sentence: rowSentence(row) };
}

export function readBy(row: SharedRow, principal: Principal): InboxRow {
  return { ...row, waitsFor: waitsForRow(principal, row) };
}

/** The key of a row. It includes the workflow, because any workflow can list a request under another one's id. */
export function rowKey({ workflowId, requestId }: Pick<ApprovalSummary, 'workflowId' | 'requestId'>): string {
  return `${requestId} ${workflowId}`;
}

export function waitsForRow(
  principal: Pick<Principal, 'id' | 'groups' | 'roles'>,
  { reviewers, approvers }: Pick<ApprovalSummary, 'reviewers' | 'approvers'>,
): WaitsFor {
  if (!principal.roles.includes('reviewer')) return 'others';
  if (approvers !== undefined) return waitsFor(principal, { reviewers: [], approvers });
  if (reviewers === undefined) return 'unknown';
  const known = waitsFor(principal, { reviewers });
  // Another id of this person, or a group that only the run knows, may be among the reviewers.
  return known === 'others' ? 'unknown' : known;
}

/**
 * Whether a request waits for this person. The run lists the people whose approval would count. Without that list (they
 * are too many), this guesses by the person's id and the groups of their credential.
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

/** As `waitsFor`, of one request with its votes: nothing waits for a person who has voted. */
export function waitsForOne(principal: Principal, request: ApprovalDetails): WaitsFor {
  if (!principal.roles.includes('reviewer')) return 'others';
  const { settled, votes = [] } = request;
  const hasVoted = votes.some(({ reviewerId }) => isSamePerson(reviewerId, principal.id, personKeyIn(request)));
  return settled !== undefined || hasVoted ? 'others' : waitsFor(principal, request);
}
