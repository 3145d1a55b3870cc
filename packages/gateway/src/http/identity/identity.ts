import { type KeyObject, createHash, timingSafeEqual } from 'node:crypto';
import type { Role } from './principal.ts';

/** How a gateway authenticates senders, from an identity file (docs/identity.md). It prints no secret. */
export interface GatewayIdentity {
  /** The origin that browsers use. */
  readonly publicUrl?: string;
  readonly tokens: readonly TokenEntry[];
  readonly oidc?: OpenIdSettings;
  /** Absent: a key of this process, so sessions end when the gateway does. */
  readonly sessionKey?: KeyObject;
  /** Absent: links use the key of sessions. */
  readonly linkKey?: KeyObject;
  readonly sessionMs: number;
}

/** The identity provider, and how its claims map to roles and names here. */
export interface OpenIdSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent: a public client. */
  readonly clientSecret?: KeyObject;
  /** Of JWTs for services; absent: none is accepted. */
  readonly audience?: string;
  readonly idClaim: string;
  /** True: an e-mail address counts although the provider does not state that it verified it. */
  readonly trustEmail: boolean;
  readonly groupsClaim: string;
  readonly rolesClaim: string;
  /** For each role, the values of the roles claim that grant it; `*`: everyone has it. */
  readonly roles: Readonly<Partial<Record<Role, readonly string[]>>>;
  readonly scopes: readonly string[];
}

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

/** A shorter token is always refused: it could be guessed from its hash. */
export const shortestToken = 32;

/** The entry of a token; undefined for any other text. Takes the same time for every token. */
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
