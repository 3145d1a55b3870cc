import { randomUUID, sign } from 'node:crypto';
import type { Decision } from '../contract.ts';
import { ProblemError } from '../core/base/problem.ts';
import { signedText, type SignedAction } from '../core/messages/signature.ts';
import { readPrivateKey } from './reviewer-key.ts';

export interface Signer {
  /** Under `reviewer_keys` in the operator's policy. */
  keyId: string;
  /** PEM, or the key's 32 bytes in base64. It does not leave this process. */
  privateKey: string;
}

export interface SigningOptions extends Signer {
  /** Of the run; a signature for one run says nothing to another. */
  workflowId: string;
  /** Temporal namespace of the run. */
  namespace: string;
  /** ISO 8601. Default: now. */
  signedAt?: string;
}

export type Signed<Message> = Message & { signature: { keyId: string; signedAt: string; value: string } };

/**
 * Signs a decision for one run. It gets a `decisionId` if it has none, for nothing may be added to it afterwards. Throws
 * a `ProblemError` for a key that is none, and for a decision without JSON.
 */
export function signDecision(decision: Decision, options: SigningOptions): Signed<Decision> {
  return signed('decide', { ...decision, decisionId: decision.decisionId ?? randomUUID() }, options);
}

/**
 * Signs the message of a signal or update `setPolicy`, `revoke`, `extend` or `delegate`, in which `by` names the sender.
 * It gets a `messageId` if it has none.
 */
export function signMessage<Message extends object>(
  action: Exclude<SignedAction, 'decide'>,
  message: Message,
  options: SigningOptions,
): Signed<Message> {
  return signed(action, { messageId: randomUUID(), ...message }, options);
}

function signed<Message extends object>(
  action: SignedAction,
  message: Message,
  { keyId, privateKey, workflowId, namespace, signedAt = new Date().toISOString() }: SigningOptions,
): Signed<Message> {
  if ('signature' in message && message.signature !== undefined) {
    throw new ProblemError({
      code: 'invalid_decision',
      message: 'the message is signed already: a message has one signature',
    });
  }
  const proof = { keyId, signedAt };
  const text = signedText({ action, message: { ...message, signature: proof }, namespace, workflowId });
  const value = sign(null, Buffer.from(text), readPrivateKey(privateKey)).toString('base64');
  return { ...message, signature: { ...proof, value } };
}
