import { allIdsOf } from '../people/directory.ts';
import type { Voter } from '../people/entitlement.ts';
import type { RequestRecord, Directories, Ledger, SettledRequest } from './ledger-state.ts';
import type { Delegation } from '../people/delegation.ts';
import { personKeyOfRun, senderOf } from './panel.ts';

/** One id of a person who approved. A person with several ids has several entries. */
export type Approver = Pick<Partial<Voter>, 'reviewerId' | 'keyId'>;

/** The reviewers who approved or answered a request, and the people whose seats they used; empty if no reviewer did. */
export function approversOf(found: RequestRecord | SettledRequest, directories: Directories): Approver[] {
  if (!('settlement' in found)) return [];
  const voters = votersOf(found);
  if (voters.length === 0) return [];
  return inAllIds([...voters, ...giversTo(voters, found.delegations, directories)], directories);
}

/** The people who gave a seat to one of the voters, directly or through others, and the operators who moved it. */
function giversTo(
  voters: readonly Approver[],
  delegations: readonly Delegation[],
  directories: Directories,
): Approver[] {
  const keyOf = personKeyOfRun(directories);
  const givenTo = Map.groupBy(delegations, ({ to }) => keyOf(to));
  const holders = new Set(voters.flatMap(({ reviewerId }) => (reviewerId === undefined ? [] : [keyOf(reviewerId)])));
  const givers: Approver[] = [];
  // A seat may pass through several people. The loop also visits the holders that it adds.
  for (const holder of holders) {
    for (const each of givenTo.get(holder) ?? []) {
      givers.push(senderOf(each));
      holders.add(keyOf(each.from));
    }
  }
  return givers;
}

/** The reviewers whose votes or whose grant let the call run; of a response, the reviewer who wrote it. */
function votersOf({ votes, grantedBy = [], settlement: { outcome, runs } }: SettledRequest): readonly Approver[] {
  // A grant may have let the edited call run, so its makers count, too.
  if (outcome === 'approved') return [...votes.filter(({ approved }) => approved), ...grantedBy];
  // The last vote is the response; an approval before it settled nothing.
  if (outcome === 'responded') return votes.slice(-1);
  return runs ? grantedBy : [];
}

/** The reviewers who made a grant that lets calls run; empty for a grant that denies. */
export function approversOfGrant(grantId: string | null, ledger: Ledger, directories: Directories): Approver[] {
  const grant = ledger.grants.find((each) => each.grantId === grantId && each.approved);
  return inAllIds(grant?.by ?? [], directories);
}

/** Lists people under all ids of the run's directory, because the policy of a worker may revoke any of the ids. */
function inAllIds(people: readonly Approver[], directories: Directories): Approver[] {
  const ids = new Set(people.flatMap(({ reviewerId }) => reviewerId ?? []));
  const furtherIds = allIdsOf(directories.ceiling, [...ids], personKeyOfRun(directories)).filter((id) => !ids.has(id));
  const given = people.map(({ reviewerId, keyId }): Approver => ({
    ...(reviewerId !== undefined && { reviewerId }),
    ...(keyId !== undefined && { keyId }),
  }));
  const distinct = new Map(
    [...given, ...furtherIds.map((reviewerId) => ({ reviewerId }))].map((each) => [JSON.stringify(each), each]),
  );
  // An approver with neither an id nor a key can be revoked by neither.
  distinct.delete('{}');
  return [...distinct.values()];
}
