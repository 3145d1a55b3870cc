/** Who sent a message: nobody who says so, somebody by their own word, or somebody by their signature. */
import { personOf, type Directory } from '../people/directory.ts';
import type { Voter } from '../people/entitlement.ts';
import type { Policy } from '../policy/policy.ts';
import type { Problem } from '../base/problem.ts';
import { verifySignature, type Addressed } from './signature.ts';

/** A message whose form has been checked. `reviewerId` in a decision, `by` in the others. */
export interface Sent {
  reviewerId?: string;
  by?: string;
  signature?: { keyId: string };
}

export interface Sender {
  voter: Voter;
  /** True: signed with a key of the operator's, which may loosen what the ceiling allows to be changed (I10). */
  operator: boolean;
}

/**
 * Who sent it, or why that cannot be believed. Keys are the ceiling's, and so is the word on whose they are: a run's own
 * policy makes nobody verified. A message with a signature that does not hold is refused, whoever it says it is from;
 * it is never taken as an unsigned one. An operator's key need not be anybody's to change a policy or revoke grants.
 */
export function verifiedSender(
  sent: Addressed & { message: Sent },
  ceiling: Pick<Policy, 'reviewerKeys' | 'directory'> | undefined,
): Sender | { problem: Problem } {
  const sender = claimedSender(sent, ceiling);
  const { message, workflowId, namespace } = sent;
  if ('problem' in sender || message.signature === undefined) return sender;
  const { keyId } = message.signature;
  const { publicKey } = ceiling!.reviewerKeys![keyId]!;
  if (verifySignature({ ...sent, publicKey })) return sender;
  return refused(`the signature is not that of key '${keyId}' over this message to '${workflowId}' in '${namespace}'`);
}

/** Who sent it if its signature holds: everything but the one check that costs something. */
export function claimedSender(
  { message, action }: Pick<Addressed, 'action'> & { message: Sent },
  ceiling: Pick<Policy, 'reviewerKeys' | 'directory'> | undefined,
): Sender | { problem: Problem } {
  const name = (action === 'decide' ? message.reviewerId : message.by) ?? '';
  if (message.signature === undefined) {
    const voter: Voter = name === '' ? { identity: 'anonymous' } : { reviewerId: name, identity: 'claimed' };
    return { voter, operator: false };
  }
  const { keyId } = message.signature;
  const keys = ceiling?.reviewerKeys ?? {};
  const key = Object.hasOwn(keys, keyId) ? keys[keyId] : undefined;
  if (key === undefined) return refused(`the operator's policy has no reviewer key '${keyId}'`);
  const owner = ownerOf(ceiling?.directory, keyId);
  const isFree = key.operator && (action === 'setPolicy' || action === 'revoke');
  if (owner === undefined && !isFree) {
    return refused(`key '${keyId}' is not that of exactly one person of the operator's directory`);
  }
  if (name !== '' && name.normalize('NFC') !== owner) {
    return refused(`key '${keyId}' is not that of '${name}'`);
  }
  const voter: Voter = { ...(owner !== undefined && { reviewerId: owner }), identity: 'verified' };
  return { voter, operator: key.operator };
}

/** In NFC. Undefined where it is nobody's, or would be several people's. */
function ownerOf(directory: Directory | undefined, keyId: string): string | undefined {
  const owners = Object.keys(directory?.people ?? {}).filter((id) => personOf(directory, id)?.keys.includes(keyId));
  return owners.length === 1 ? owners[0]?.normalize('NFC') : undefined;
}

function refused(message: string): { problem: Problem } {
  return { problem: { code: 'unverified_reviewer', message } };
}
