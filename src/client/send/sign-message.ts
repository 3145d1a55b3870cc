import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { ProblemError } from '../../core/base/problem.ts';
import { checkCallOptions, type OptionNames } from '../../text/check-call-options.ts';
import type { Decision } from '../../contract.ts';
import { signedText, type SignedAction } from '../../core/messages/signature.ts';

/** The Ed25519 key pair with which a reviewer signs. */
export interface ReviewerKey {
  /** The public key for `reviewer_keys` in the operator's policy: 32 bytes in base64. */
  publicKey: string;
  /** The private key as PEM (PKCS #8). Only its owner may have it. */
  privateKey: string;
}

/** The bytes before the 32 bytes of an Ed25519 key in its PKCS #8 form (RFC 8410). */
const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Creates a key pair for one reviewer. It is not stored.
 *
 * @example
 * ```ts
 * import { createReviewerKey } from 'countersign/client';
 *
 * const { publicKey, privateKey } = createReviewerKey();
 * console.log(Buffer.from(publicKey, 'base64').length); // 32
 * console.log(privateKey.split('\n')[0]); // -----BEGIN PRIVATE KEY-----
 * ```
 */
export function createReviewerKey(): ReviewerKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { publicKey: publicKeyOf(pem), privateKey: pem };
}

/**
 * Returns the public key, in base64, of a private key. Throws `unverified_reviewer` for anything else.
 *
 * @example
 * ```ts
 * import { createReviewerKey, publicKeyOf } from 'countersign/client';
 *
 * const { publicKey, privateKey } = createReviewerKey();
 * console.log(publicKeyOf(privateKey) === publicKey); // true
 * ```
 */
export function publicKeyOf(privateKey: string): string {
  const der = createPublicKey(readPrivateKey(privateKey)).export({ type: 'spki', format: 'der' });
  return der.subarray(-32).toString('base64');
}

/** Reads a private key. Throws a `ProblemError` (`unverified_reviewer`) that does not repeat the text. */
export function readPrivateKey(text: string): KeyObject {
  const seed = /^[A-Za-z0-9+/]{43}=$/.test(text.trim()) ? Buffer.from(text.trim(), 'base64') : undefined;
  try {
    const key =
      seed === undefined
        ? createPrivateKey(text)
        : createPrivateKey({ key: Buffer.concat([prefix, seed]), type: 'pkcs8', format: 'der' });
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The message of OpenSSL names parts of the format, and no remedy.
  }
  const message = 'the private key is not an Ed25519 key: give its PEM without a passphrase, or its 32 bytes in base64';
  throw new ProblemError({ code: 'unverified_reviewer', message });
}

/** The key with which a reviewer signs. */
export interface Signer {
  /** The id of the key under `reviewer_keys` in the operator's policy. */
  keyId: string;
  /** The private key: PEM, or its 32 bytes in base64. It does not leave this process. */
  privateKey: string;
}

export const signerNames = { keyId: true, privateKey: true } satisfies OptionNames<Signer>;

/** The key, and the run for which the signature is valid. */
export interface SigningOptions extends Signer {
  /** The workflow id of the run. A signature is valid for this run only. */
  workflowId: string;
  /** The Temporal namespace of the run. */
  namespace: string;
  /** The time of the signature: ISO 8601 in UTC. Default: now. */
  signedAt?: string;
}

/** A message with its signature: `value` is Ed25519 in base64 (docs/wire.md). */
export type Signed<Message> = Message & { signature: { keyId: string; signedAt: string; value: string } };

/**
 * Signs a decision for one run. Adds a `decisionId` if there is none, because nothing can be added later. Throws for an
 * invalid key, an unknown option, a decision with a signature, and one that has no JSON form.
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
 * Signs the message of a `setPolicy`, `revoke`, `extend` or `delegate` to one run; `by` in it names the sender. Adds a
 * `messageId` if there is none. Throws as `signDecision` does.
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

/** Returns the message with a signature over all of its members. Throws if it has one already. */
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
