/**
 * Ed25519 in a module of its own, so that a worker loads it once for all its runs (`preloadModules`): the first check
 * builds a table of 1.3 MB in 20 to 30 ms. That table holds constants of the curve and no data of a run.
 */
import { hashes, Point, verify } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';

// Without this, the library uses Web Crypto, which is asynchronous and missing in the sandbox.
hashes.sha512 = sha512;

/** True if the signature (64 bytes) was made with the key (32 bytes), by the strict rules of RFC 8032. Never throws. */
export function isSignedBy(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}

/** True if these bytes are a usable public key: a point of the curve that is not of small order. */
export function isPublicKey(publicKey: Uint8Array): boolean {
  try {
    return !Point.fromBytes(publicKey).isSmallOrder();
  } catch {
    return false;
  }
}
