/**
 * `viewer` reads, `starter` also starts and stops runs, `reviewer` also answers requests, `operator` also changes policies
 * and sees statistics. No role includes another.
 */
export const roles = ['viewer', 'starter', 'reviewer', 'operator'] as const;
/** A role of a person at the gateway (docs/gateway.md). No role includes another. */
export type Role = (typeof roles)[number];

export function isRole(value: unknown): value is Role {
  return roles.some((role) => role === value);
}

/** The authenticated sender of a request. Its id comes from the credential and from nowhere else. */
export interface Principal {
  /** The reviewer's id, as policies name it. */
  id: string;
  /** What people call them, to be shown beside the id. It proves nothing. */
  name?: string;
  roles: readonly Role[];
  /** As the identity provider or the identity file says; without `group:`. */
  groups: readonly string[];
  /** True: a service that may start runs in the name of others. It never reviews. */
  actsForOthers?: boolean;
  /** `local`: a gateway without authentication on loopback, for the user who started it. */
  via: 'local' | 'token' | 'jwt' | 'session';
  /** The key of rate limits and idempotency keys: the same for all credentials of one person. */
  key: string;
}
