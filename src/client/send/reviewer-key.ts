import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { ProblemError } from '../../core/base/problem.ts';

/** A key pair with which a reviewer signs: Ed25519. */
export interface ReviewerKey {
  /** 32 bytes in base64: for `reviewer_keys` in the operator's policy. */
  publicKey: string;
  /** PEM (PKCS #8). Only its owner may have it. */
  privateKey: string;
}

/** The bytes before the 32 bytes of an Ed25519 key in its PKCS #8 form (RFC 8410). */
const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Creates a key pair for one reviewer. Nothing is stored: the public key belongs under `reviewer_keys` in the operator's
 * policy, and the private key to its owner.
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
 * The public key, in base64, of a private key: PEM without a passphrase, or its 32 bytes in base64. Throws a `ProblemError`
 * (`unverified_reviewer`) for anything else.
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
    // OpenSSL's message names parts of the format, but no remedy.
  }
  const message = 'the private key is not an Ed25519 key: give its PEM without a passphrase, or its 32 bytes in base64';
  throw new ProblemError({ code: 'unverified_reviewer', message });
}
