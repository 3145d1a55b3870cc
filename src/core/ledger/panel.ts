import { reviewersAt, type Requirement } from '../policy/ask-terms.ts';
import type { Panel } from '../people/entitlement.ts';
import { personKeyIn, type Directory, type PersonKey } from '../people/directory.ts';
import type { Delegation } from '../people/delegation.ts';
import { revokedOf } from '../people/revoked.ts';
import { canSign } from '../messages/sender.ts';
import { openedAtMs } from './escalation.ts';
import type { RequestRecord, Directories } from './ledger-state.ts';
import type { PolicyLayers } from '../policy/policy.ts';

/** The parts of a request that determine who may decide it. */
export type Asked = Pick<RequestRecord, 'terms' | 'delegations'> & {
  request: Pick<RequestRecord['request'], 'requestedAt' | 'callerUserId'>;
};

/** The panel that may decide an open request at `atMs`, with the reviewers that escalation has added by then. */
export function panelOf(record: Asked, directories: Directories, atMs: number): Panel {
  const { requirements, named, veto, verified, allowSelf, noChannels } = record.terms;
  const waitedMs = atMs - openedAtMs(record);
  return {
    requirements: requirements.map((each) => ({
      ...each,
      reviewers: reviewersAt(each, waitedMs),
      directory: directoryOf(each, directories),
    })),
    named,
    veto,
    verified,
    allowSelf,
    ...(noChannels && { noChannels }),
    callerUserId: record.request.callerUserId,
    delegations: delegationsLeft(record.delegations, directories),
    keyOf: personKeyOfRun(directories),
    ...(directories.revoked !== undefined && { revoked: directories.revoked }),
    ...(verified && { canVerify: canSign(directories, personKeyOfRun(directories)) }),
  };
}

/** The delegations except those of revoked people and keys. Delegations by the operator's directory stay. */
function delegationsLeft(delegations: readonly Delegation[], directories: Directories): readonly Delegation[] {
  const { revoked } = directories;
  if (revoked === undefined) return delegations;
  const keyOf = personKeyOfRun(directories);
  return delegations.filter((each) => revokedOf(revoked, senderOf(each), keyOf) === undefined);
}

/** Who made a delegation, and with which key; empty for a delegation by the operator's directory. */
export function senderOf({ from, by, movedBy, keyId }: Delegation): { reviewerId?: string; keyId?: string } {
  const reviewerId = by === undefined ? from : movedBy;
  return { ...(reviewerId !== undefined && { reviewerId }), ...(keyId !== undefined && { keyId }) };
}

/** Drops approvals and delegations of revoked people and keys, so that they do not block other votes. Denials stay. */
export function withoutRevoked(record: RequestRecord, directories: Directories): RequestRecord {
  const { revoked } = directories;
  if (revoked === undefined) return record;
  const keyOf = personKeyOfRun(directories);
  const votes = record.votes.filter((vote) => !vote.approved || revokedOf(revoked, vote, keyOf) === undefined);
  const delegations = delegationsLeft(record.delegations, directories);
  const isUnchanged = votes.length === record.votes.length && delegations.length === record.delegations.length;
  return isUnchanged ? record : { ...record, votes, delegations: [...delegations] };
}

/** The panel of a request after its last escalation, with all reviewers that its steps can add. */
export function lastPanelOf(record: Asked, directories: Directories): Panel {
  return panelOf(record, directories, Infinity);
}

/** Returns the key by which a run compares names: the operator's directory knows which ids are one person. */
export function personKeyOfRun({ ceiling }: Pick<Directories, 'ceiling'>): PersonKey {
  return personKeyIn(ceiling);
}

/** The directories of a run's policies. Keys of reviewers and revocations count only in the operator's policy. */
export function directoriesOf({ ceiling, parents = [], run }: PolicyLayers): Directories {
  return {
    ceiling: ceiling?.directory,
    ...(parents.length > 0 && { parents: parents.map(({ directory }) => directory) }),
    run: run?.directory,
    ...(ceiling?.reviewerKeys !== undefined && { reviewerKeys: ceiling.reviewerKeys }),
    ...(ceiling?.revoked !== undefined && { revoked: ceiling.revoked }),
  };
}

/** The directory of a requirement's layer, else of the nearest layer above: none below fills its groups. */
function directoryOf({ layer, parent = 0 }: Requirement, directories: Directories): Directory | undefined {
  const { ceiling, parents = [], run } = directories;
  if (layer === 'ceiling') return ceiling;
  const below = layer === 'parent' ? parents.slice(0, parent + 1) : [...parents, run];
  return below.findLast((directory) => directory !== undefined) ?? ceiling;
}
