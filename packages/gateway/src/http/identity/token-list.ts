import { createHash, timingSafeEqual } from 'node:crypto';
import type { Role } from './principal.ts';

/** A bearer token of the identity file, and its permissions. Only the SHA-256 of a token is kept. */
export interface TokenEntry {
  /** The person's or the service's name, in NFC. Several tokens may have one name. */
  readonly id: string;
  /** SHA-256 of the token. */
  readonly hash: Buffer;
  readonly roles: readonly Role[];
  readonly groups: readonly string[];
  /** It may start runs in the name of others, and never reviews. */
  readonly actsForOthers: boolean;
  readonly expiresMs?: number;
}

/** A shorter token is always refused: somebody could guess it from its hash. */
export const shortestToken = 32;

/** The entry of a token; undefined for any other text. Takes the same time whichever token it is. */
export function findToken(entries: readonly TokenEntry[], token: string): TokenEntry | undefined {
  if (token.length < shortestToken) return undefined;
  return findHash(entries, createHash('sha256').update(token).digest());
}

/** The entry with this hash, if it has not expired. */
export function findHash(entries: readonly TokenEntry[], hash: Buffer): TokenEntry | undefined {
  let found: TokenEntry | undefined;
  for (const entry of entries) {
    if (hash.length === entry.hash.length && timingSafeEqual(hash, entry.hash)) found = entry;
  }
  return found?.expiresMs !== undefined && found.expiresMs <= Date.now() ? undefined : found;
}
