import { isAmong, isOneOf, personOf, personKey, type Directory, type PersonKey } from '../people/directory.ts';
import type { Voter } from '../people/entitlement.ts';
import type { Policy } from '../policy/policy.ts';
import type { Problem } from '../base/problem.ts';
import { verifySignature, type Addressed } from './signature.ts';
import { nfc } from '../base/text.ts';
import { revokedOf, revokedSentence, type Revoked } from '../people/revoked.ts';

/** A message whose form has been checked. The sender's name is `reviewerId` in a decision, `by` in the others. */
export interface SentMessage {
  reviewerId?: string;
  by?: string;
  signature?: { keyId: string };
}

export interface Sender {
  voter: Voter;
  /** True: signed with an operator's key, which may loosen what the ceiling allows to be changed (I10). */
  operator: boolean;
}

/**
 * The sender of a message, or why the sender cannot be verified. Keys and owners come only from the ceiling: a run's
 * own policy verifies no sender. An invalid signature is refused, never treated as none. To change a policy or revoke
 * grants, an operator's key needs no owner. A key with `signsFor` belongs to a gateway, whose messages name a person.
 */
export function verifiedSender(
  sent: Addressed & { message: SentMessage },
  ceiling: Pick<Policy, 'reviewerKeys' | 'directory' | 'revoked'> | undefined,
  keyOf: PersonKey = personKey,
): Sender | { problem: Problem } {
  const sender = claimedSender(sent, ceiling, keyOf);
  const { message, workflowId, namespace } = sent;
  if ('problem' in sender || message.signature === undefined) return sender;
  const { keyId } = message.signature;
  const { publicKey } = ceiling!.reviewerKeys![keyId]!;
  if (verifySignature({ ...sent, publicKey })) return sender;
  return refused(`the signature is not that of key '${keyId}' over this message to '${workflowId}' in '${namespace}'`);
}

/** The sender by the name and the owner of the key, or a refusal. The costly signature is checked later. */
export function claimedSender(
  { message, action }: Pick<Addressed, 'action'> & { message: SentMessage },
  ceiling: Pick<Policy, 'reviewerKeys' | 'directory' | 'revoked'> | undefined,
  keyOf: PersonKey = personKey,
): Sender | { problem: Problem } {
  const name = (action === 'decide' ? message.reviewerId : message.by) ?? '';
  if (message.signature === undefined) {
    const voter: Voter = name === '' ? { identity: 'anonymous' } : { reviewerId: name, identity: 'claimed' };
    return { voter, operator: false };
  }
  const { keyId } = message.signature;
  const revokedKey = revokedOf(ceiling?.revoked, { keyId });
  if (revokedKey !== undefined) return refused(revokedSentence(revokedKey));
  const keys = ceiling?.reviewerKeys ?? {};
  const key = Object.hasOwn(keys, keyId) ? keys[keyId] : undefined;
  if (key === undefined) return refused(`the operator's policy has no reviewer key '${keyId}'`);
  const needsNoOwner = key.operator && (action === 'setPolicy' || action === 'revoke');
  const owners = ownersOf(ceiling?.directory, keyId, keyOf);
  if (key.signsFor !== undefined) {
    // A person who owned such a key could sign as any other person.
    if (owners.length > 0) return refused(`key '${keyId}' signs for others and is a person's own: it cannot be both`);
    const signer = { signsFor: key.signsFor, keyId };
    const revokedName = revokedOf(ceiling?.revoked, { reviewerId: name }, keyOf);
    if (revokedName !== undefined) return refused(revokedSentence(revokedName));
    if (name !== '' || !needsNoOwner) return signedFor(signer, name, ceiling?.directory, keyOf);
  }
  // From here on, the key is a person's own, or an operator's key without a person.
  const owner = owners.length === 1 ? owners[0] : undefined;
  const revokedOwner = revokedOf(ceiling?.revoked, { reviewerId: owner }, keyOf);
  if (revokedOwner !== undefined) return refused(revokedSentence(revokedOwner));
  if (owner === undefined && !needsNoOwner) {
    return refused(`key '${keyId}' is not that of exactly one person of the operator's directory`);
  }
  if (name !== '' && (owner === undefined || keyOf(name) !== keyOf(owner))) {
    return refused(`key '${keyId}' is not that of '${name}'`);
  }
  const voter: Voter = { reviewerId: owner, identity: 'verified', keyId };
  return { voter, operator: key.operator };
}

/** The person that a gateway signs for: never an operator, even if the key is an operator's. */
function signedFor(
  { signsFor, keyId }: { signsFor: readonly string[]; keyId: string },
  name: string,
  directory: Directory | undefined,
  keyOf: PersonKey,
): Sender | { problem: Problem } {
  if (name === '') return refused(`key '${keyId}' signs for others: the message must name the person`);
  if (!signsFor.includes('*') && !isOneOf(directory, name, signsFor, keyOf)) {
    return refused(
      `key '${keyId}' does not sign for '${name}': its 'signs_for' names people, or groups of the operator's directory`,
    );
  }
  return { voter: { reviewerId: nfc(name), identity: 'verified', keyId }, operator: false };
}

/** Returns a function that says whether the person with a key of `keyOf` can sign: personally, or by a gateway. */
export function canSign(
  directories: { ceiling?: Directory; reviewerKeys?: Policy['reviewerKeys']; revoked?: Revoked },
  keyOf: PersonKey,
): (key: string) => boolean {
  const { ceiling: directory, reviewerKeys = {}, revoked } = directories;
  const valid = Object.entries(reviewerKeys).filter(([id]) => revoked?.keys.includes(id) !== true);
  const signsFor = valid.flatMap(([, key]) => key.signsFor ?? []);
  const personal = new Set(valid.flatMap(([id, key]) => (key.signsFor === undefined ? [id] : [])));
  const isSignedFor = isAmong(directory, signsFor, keyOf);
  const isForAll = signsFor.includes('*');
  return (key) =>
    isForAll || isSignedFor(key) || (personOf(directory, key, keyOf)?.keys.some((id) => personal.has(id)) ?? false);
}

function ownersOf(directory: Directory | undefined, keyId: string, keyOf: PersonKey): string[] {
  const people = Object.keys(directory?.people ?? {});
  const owners = people.filter((id) => personOf(directory, id, keyOf)?.keys.includes(keyId));
  return owners.map((id) => nfc(id));
}

function refused(message: string): { problem: Problem } {
  return { problem: { code: 'unverified_reviewer', message } };
}
