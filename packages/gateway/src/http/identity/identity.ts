import { type KeyObject, createHash, timingSafeEqual } from 'node:crypto';
import type { Role } from './principal.ts';

/** How a gateway authenticates senders, as an identity file says (docs/identity.md). Logging it reveals no secret. */
export interface GatewayIdentity {
  /** The origin that browsers use. */
  readonly publicUrl?: string;
  readonly tokens: readonly TokenEntry[];
  readonly oidc?: OpenIdSettings;
  /** The key that encrypts sessions. Absent: the gateway makes one at its start, so a restart ends all sessions. */
  readonly sessionKey?: KeyObject;
  /** The key that encrypts links. Absent: the gateway uses `sessionKey`. */
  readonly linkKey?: KeyObject;
  readonly sessionMs: number;
}

/** The identity provider, and how the gateway reads ids, groups and roles from its claims. */
export interface OpenIdSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent: the gateway is a public client of OAuth, which has no secret. */
  readonly clientSecret?: KeyObject;
  /** The `aud` that a JWT of a service must have. Absent: the gateway accepts no JWT. */
  readonly audience?: string;
  readonly idClaim: string;
  /** True: an e-mail address identifies a person even if the provider does not state that the address is verified. */
  readonly trustEmail: boolean;
  readonly groupsClaim: string;
  readonly rolesClaim: string;
  /** For each role, the values of the roles claim that grant it. `*` grants the role to everyone. */
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
  /** True for a service that may start runs in the name of other people. Such a service never reviews. */
  readonly actsForOthers: boolean;
  readonly expiresMs?: number;
}

/** The fewest characters of a token. A shorter token could be guessed from its hash. */
export const shortestToken = 32;

/** The entry of a token; undefined for any other text. Comparing takes constant time, so it reveals nothing. */
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
