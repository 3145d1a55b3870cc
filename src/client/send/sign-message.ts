import { randomUUID, sign } from 'node:crypto';
import { checkCallOptions, type OptionNames } from '../../text/check-call-options.ts';
import type { Decision } from '../../contract.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { signedText, type SignedAction } from '../../core/messages/signature.ts';
import { readPrivateKey } from './reviewer-key.ts';

/** The key with which a reviewer signs. */
export interface Signer {
  /** The id of the key under `reviewer_keys` in the operator's policy. */
  keyId: string;
  /** PEM, or the key's 32 bytes in base64. It does not leave this process. */
  privateKey: string;
}

export const signerNames = { keyId: true, privateKey: true } satisfies OptionNames<Signer>;

/** The key, and the run for which the signature is valid. */
export interface SigningOptions extends Signer {
  /** The workflow id of the run. A signature is valid for this run only. */
  workflowId: string;
  /** Temporal namespace of the run. */
  namespace: string;
  /** The time of the signature, ISO 8601 in UTC. Default: now. */
  signedAt?: string;
}

/** A message with its signature: `value` is Ed25519 in base64 (docs/wire.md). */
export type Signed<Message> = Message & { signature: { keyId: string; signedAt: string; value: string } };

/**
 * Signs a decision for one run. Adds a `decisionId` if there is none, because nothing may be added after signing.
 * Throws a `ProblemError` for an invalid key, for an unknown option, for a decision that is signed already, and for one that has no JSON form.
 * `client.decide(decision, { sign })` signs and sends.
 *
 * @example
 * ```ts
 * import { createReviewerKey, signDecision } from 'countersign/client';
 *
 * const { privateKey } = createReviewerKey();
 * const { decisionId, signature } = signDecision(
 *   { requestId: '5f0c1e9a7b3d4e2f8a6b5c4d3e2f1a0b', approved: true },
 *   { keyId: 'ann-laptop', privateKey, workflowId: 'run-1', namespace: 'default' },
 * );
 * console.log(signature.keyId, decisionId !== undefined); // ann-laptop true
 * ```
 */
export function signDecision(decision: Decision, options: SigningOptions): Signed<Decision> {
  return signed('decide', { ...decision, decisionId: decision.decisionId ?? randomUUID() }, options);
}

/**
 * Signs the message of a signal or update `setPolicy`, `revoke`, `extend` or `delegate`; `by` in it names the sender.
 * Adds a `messageId` if there is none. Throws as `signDecision` does.
 *
 * @example
 * ```ts
 * import { createReviewerKey, signMessage } from 'countersign/client';
 *
 * const { privateKey } = createReviewerKey();
 * const message = signMessage(
 *   'extend',
 *   { requestId: '5f0c1e9a7b3d4e2f8a6b5c4d3e2f1a0b', until: '2030-01-31T12:00:00Z', messageId: 'ann-1' },
 *   { keyId: 'ann-laptop', privateKey, workflowId: 'run-1', namespace: 'default' },
 * );
 * console.log(message.messageId, message.signature.value.length); // ann-1 88
 * ```
 */
export function signMessage<Message extends object>(
  action: 'setPolicy' | 'revoke' | 'extend' | 'delegate',
  message: Message,
  options: SigningOptions,
): Signed<Message> {
  return signed(action, { messageId: randomUUID(), ...message }, options);
}

/** The message with a signature over all of its members. Throws if it has one already, or if an option is invalid. */
function signed<Message extends object>(
  action: SignedAction,
  message: Message,
  options: SigningOptions,
): Signed<Message> {
  const place = action === 'decide' ? 'signDecision' : 'signMessage';
  checkCallOptions(place, options, { ...signerNames, workflowId: true, namespace: true, signedAt: true });
  const { keyId, privateKey, workflowId, namespace, signedAt = new Date().toISOString() } = options;
  if ('signature' in message && message.signature !== undefined) {
    throw new ProblemError({
      code: action === 'decide' ? 'invalid_decision' : 'invalid_message',
      message: 'the message is signed already: a message has one signature',
    });
  }
  const proof = { keyId, signedAt };
  const text = signedText({ action, message: { ...message, signature: proof }, namespace, workflowId });
  const value = sign(null, Buffer.from(text), readPrivateKey(privateKey)).toString('base64');
  return { ...message, signature: { ...proof, value } };
}
