/** The people whose word lets a call run, or answers it in the tool's place. */
import { allIdsOf } from '../people/directory.ts';
import type { Voter } from '../people/entitlement.ts';
import type { RequestRecord, Directories, Ledger, SettledRequest } from './ledger-state.ts';
import type { Delegation } from '../people/delegation.ts';
import { personKeyOfRun, senderOf } from './panel.ts';

/** One person by one id. A person with several ids has several of these. */
export type Approver = Pick<Partial<Voter>, 'reviewerId' | 'keyId'>;

/**
 * Those whose votes settled a request, and those who gave their seats to one of them. Empty where a policy settled it, or a
 * denial.
 */
export function approversOf(asked: RequestRecord | SettledRequest, among: Directories): Approver[] {
  if (!('settlement' in asked)) return [];
  const voters = votersOf(asked);
  if (voters.length === 0) return [];
  return inAllIds([...voters, ...giversTo(voters, asked.delegations, among)], among);
}

/** Who gives a seat to a voter, or moves it there, says that the voter's word counts for it. */
function giversTo(voters: readonly Approver[], delegations: readonly Delegation[], among: Directories): Approver[] {
  const keyOf = personKeyOfRun(among);
  const givenTo = Map.groupBy(delegations, ({ to }) => keyOf(to));
  const holders = new Set(voters.flatMap(({ reviewerId }) => (reviewerId === undefined ? [] : [keyOf(reviewerId)])));
  const givers: Approver[] = [];
  // A seat may have passed through several hands, which gave it in any order. A set gives also what is added meanwhile.
  for (const holder of holders) {
    for (const each of givenTo.get(holder) ?? []) {
      givers.push(senderOf(each));
      holders.add(keyOf(each.from));
    }
  }
  return givers;
}

function votersOf({ votes, grantedBy = [], settlement: { outcome, runs } }: SettledRequest): readonly Approver[] {
  // A grant may have let the arguments run that a reviewer wrote.
  if (outcome === 'approved') return [...votes.filter(({ approved }) => approved), ...grantedBy];
  // One reviewer answers in the tool's place; an approval before that settled nothing.
  if (outcome === 'responded') return votes.slice(-1);
  return runs ? grantedBy : [];
}

/** Those who made a grant that lets calls run. */
export function approversOfGrant(grantId: string | null, ledger: Ledger, among: Directories): Approver[] {
  const grant = ledger.grants.find((each) => each.grantId === grantId && each.approved);
  return inAllIds(grant?.by ?? [], among);
}

/** The worker's policy may revoke a person by any of their ids, and have another directory than the run. */
function inAllIds(people: readonly Approver[], among: Directories): Approver[] {
  const ids = new Set(people.flatMap(({ reviewerId }) => reviewerId ?? []));
  const others = allIdsOf(among.ceiling, [...ids], personKeyOfRun(among)).filter((id) => !ids.has(id));
  const written = people.map(({ reviewerId, keyId }): Approver => ({
    ...(reviewerId !== undefined && { reviewerId }),
    ...(keyId !== undefined && { keyId }),
  }));
  const distinct = new Map(
    [...written, ...others.map((reviewerId) => ({ reviewerId }))].map((each) => [JSON.stringify(each), each]),
  );
  distinct.delete('{}');
  return [...distinct.values()];
}
