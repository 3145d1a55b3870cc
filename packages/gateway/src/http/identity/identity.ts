import type { KeyObject } from 'node:crypto';
import type { Role } from './principal.ts';
import type { TokenEntry } from './token-list.ts';

/** How a gateway finds out who sends a request, as an identity file says (docs/identity.md). It prints no secret. */
export interface GatewayIdentity {
  /** The origin that browsers use. */
  readonly publicUrl?: string;
  readonly tokens: readonly TokenEntry[];
  readonly oidc?: OpenIdSettings;
  /** Absent: a key of this process, with which sessions end when the gateway does. */
  readonly sessionKey?: KeyObject;
  /** Absent: links have the key of sessions. */
  readonly linkKey?: KeyObject;
  readonly sessionMs: number;
}

/** The identity provider, and what its claims mean here. */
export interface OpenIdSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent: a public client. */
  readonly clientSecret?: KeyObject;
  /** Of JWTs for services; absent: none is accepted. */
  readonly audience?: string;
  readonly idClaim: string;
  /** True: an e-mail address counts although the provider does not say whether it has verified it. */
  readonly trustEmail: boolean;
  readonly groupsClaim: string;
  readonly rolesClaim: string;
  /** For each role, the values of the roles claim that give it; `*`: everybody has it. */
  readonly roles: Readonly<Partial<Record<Role, readonly string[]>>>;
  readonly scopes: readonly string[];
}
