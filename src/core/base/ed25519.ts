/**
 * Ed25519 by itself: a worker loads it once for all its runs (`preloadModules`), not once for each, because the first
 * check makes a table of 1.3 MB in 20 to 30 ms. That table holds constants of the curve, and nothing of any run.
 */
import { hashes, Point, verify } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';

// Without it the library would look for Web Crypto, which answers later and which the sandbox has not.
hashes.sha512 = sha512;

/** Whether the signature (64 bytes) is that key's (32 bytes), by the strict reading of RFC 8032. Total. */
export function isSignedBy(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}

/** Whether these bytes are a key by which something can be signed: a point of the curve, not one of the weak few. */
export function isPublicKey(publicKey: Uint8Array): boolean {
  try {
    return !Point.fromBytes(publicKey).isSmallOrder();
  } catch {
    return false;
  }
}
