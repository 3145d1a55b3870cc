import { createHmac, timingSafeEqual } from 'node:crypto';

/** The content of a reference in history to a payload file. Both values are 64 lower-case hex digits. */
export interface Claim {
  /** SHA-256 of the file's content, which is also the file's name. */
  sha256: string;
  /** Proof that the writer of this reference has the folder's key. */
  proof: string;
}

const shape = /^[0-9a-f]{64}$/;

export function claimOf(key: Buffer, sha256: string): Claim {
  return { sha256, proof: proofOf(key, sha256) };
}

/**
 * The name of the file that a claim is for; undefined if its writer did not have the key. Anyone who may signal a run
 * can send a reference. A forged one must not make the run wait for a file that never comes (I5c), and a name must be
 * 64 hex digits.
 */
export function fileNameIn(key: Buffer, claim: Readonly<Record<string, unknown>>): string | undefined {
  const { sha256, proof } = claim;
  if (typeof sha256 !== 'string' || typeof proof !== 'string' || !shape.test(sha256) || !shape.test(proof)) {
    return undefined;
  }
  return timingSafeEqual(Buffer.from(proof), Buffer.from(proofOf(key, sha256))) ? sha256 : undefined;
}

function proofOf(key: Buffer, sha256: string): string {
  return createHmac('sha256', key).update(sha256).digest('hex');
}
