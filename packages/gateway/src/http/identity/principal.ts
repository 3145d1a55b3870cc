import { ProblemError, isProblemError } from 'countersign/base';
import { isSamePerson, sessionOf, type SessionOfRun } from 'countersign/adapter';
import type { CountersignClient } from 'countersign/client';

export const roles = ['viewer', 'starter', 'reviewer', 'operator'] as const;
/** A role of a person at the gateway (docs/gateway.md). No role includes another. */
export type Role = (typeof roles)[number];

export function isRole(value: unknown): value is Role {
  return roles.some((role) => role === value);
}

/** The authenticated sender of a request. Its id comes only from the credential. */
export interface Principal {
  /** The reviewer's id, as policies name it. */
  id: string;
  /** A display name to show beside the id. It proves nothing. */
  name?: string;
  roles: readonly Role[];
  /** The names of groups, from the identity provider or the identity file, without the prefix `group:`. */
  groups: readonly string[];
  /** True for a service that may start runs in the name of other people. Such a service never reviews. */
  actsForOthers?: boolean;
  /** How the sender authenticated. `local`: not at all, because a gateway on loopback trusts every sender. */
  via: 'local' | 'token' | 'jwt' | 'session';
  /** The key of rate limits and idempotency keys: the same for all credentials of one person. */
  key: string;
}

/** Authenticates the sender of a request. Throws a `ProblemError` (`unauthenticated`) for an invalid credential. */
export interface Authenticator {
  /** The sender of a request; undefined if the request has no credential. */
  authenticate(request: Request): Promise<Principal | undefined>;
  /** The page on which a browser signs in. Absent if there is no such page. */
  readonly loginUrl?: string;
}

export function requirePrincipal({ principal }: { principal: Principal | undefined }): Principal {
  if (principal === undefined) throw new ProblemError({ code: 'unauthenticated', message: 'This needs a credential.' });
  return principal;
}

/** Who may call a route: principals with one of these roles, every principal (`signed-in`), or `anyone`. */
export type Permission = readonly Role[] | 'signed-in' | 'anyone';

const readers = ['viewer', 'starter', 'reviewer', 'operator'] as const;

/** The permission of every route. `defineRoute` does not compile for a route without an entry here. */
export const permissions = {
  'GET /healthz': 'anyone',
  'GET /readyz': 'anyone',
  'GET /openapi.json': 'anyone',
  'GET /me': 'signed-in',
  'GET /login': 'anyone',
  'GET /login/callback': 'anyone',
  'POST /login/token': 'anyone',
  'POST /logout': 'signed-in',
  'GET /links/{link}': 'anyone',
  'POST /links/{link}': 'anyone',
  'POST /channels/{channel}/answers/{requestId}': 'anyone',
  'POST /approvals/{requestId}/links': ['operator'],
  'GET /approvals': readers,
  'GET /approvals/events': readers,
  'GET /approvals/search': readers,
  'GET /approvals/{requestId}': readers,
  'GET /approvals/{requestId}/people': ['reviewer', 'operator'],
  'POST /approvals/{requestId}/matches': ['reviewer', 'operator'],
  'POST /approve/{requestId}': ['reviewer'],
  'POST /approvals/decide': ['reviewer'],
  'POST /approvals/{requestId}/extend': ['reviewer'],
  'POST /approvals/{requestId}/delegate': ['reviewer'],
  'POST /approvals/{requestId}/move': ['operator'],
  'GET /delegations': ['reviewer'],
  'POST /delegations': ['reviewer'],
  'DELETE /delegations': ['reviewer'],
  'GET /agents': readers,
  'GET /runs': readers,
  'POST /runs': ['starter'],
  'GET /runs/{id}': readers,
  'GET /runs/{id}/events': readers,
  'GET /runs/{id}/journal': readers,
  'POST /runs/{id}/messages': ['starter'],
  'POST /runs/{id}/cancel': ['starter', 'operator'],
  'POST /runs/{id}/close': ['starter', 'operator'],
  'PUT /runs/{id}/policy': ['operator'],
  'GET /runs/{id}/grants': readers,
  'DELETE /runs/{id}/grants/{grantId}': ['reviewer', 'operator'],
  'GET /runs/{id}/audit': ['operator'],
  'GET /decided': readers,
  'GET /policy': ['operator'],
  'GET /statistics': ['operator'],
  'POST /slack/interactions': 'anyone',
  'GET /slack/link': 'anyone',
  'POST /slack/link': ['reviewer'],
  'POST /slack/unlink': 'signed-in',
  'POST /push/subscribe': ['reviewer'],
  'POST /push/unsubscribe': 'signed-in',
  'POST /ag-ui/{agent}': ['starter'],
  'GET /ag-ui/{agent}/capabilities': ['starter'],
  'POST /ag-ui/{agent}/{thread}/stop': ['starter'],
  'POST /ai-sdk/{agent}': ['starter'],
  'GET /ai-sdk/{agent}/{thread}/stream': ['starter'],
  'POST /ai-sdk/{agent}/{thread}/stop': ['starter'],
} as const satisfies Record<string, Permission>;

export type RouteName = keyof typeof permissions;

export function isPermitted(permission: Permission, roles: readonly Role[]): boolean {
  return typeof permission === 'string' || permission.some((role) => roles.includes(role));
}

/** Throws `forbidden` if the sender is not the user of the run, and `invalid_message` if the run is no session. */
export async function requireUserOf(client: CountersignClient, person: Principal, workflowId: string): Promise<void> {
  const found = await sessionOf(client.session, workflowId);
  if (!found.isSession) {
    const message = 'This run is no session: it takes no further messages of its user. Start another run.';
    throw new ProblemError({ code: 'invalid_message', message });
  }
  if (isUser(person, found)) return;
  const message = 'Only the user of this run can send it messages.';
  throw new ProblemError({ code: 'forbidden', message });
}

/** True if this person may send messages to the run: a starter who is the user of the run, which is a session. */
export async function isUserOf(client: CountersignClient, principal: Principal, workflowId: string): Promise<boolean> {
  if (!principal.roles.includes('starter')) return false;
  try {
    const found = await sessionOf(client.session, workflowId);
    return found.isSession && isUser(principal, found);
  } catch (error) {
    // The page can show the rest of the run, so data that cannot be decoded is no error here.
    if (isProblemError(error) && error.code === 'undecodable') return false;
    throw error;
  }
}

/** True for the run's caller, for a service that acts for others, and for everyone if caller or sender is unknown. */
function isUser({ id, via, actsForOthers }: Principal, { callerUserId }: SessionOfRun): boolean {
  if (callerUserId === undefined || via === 'local' || actsForOthers === true) return true;
  return isSamePerson(callerUserId, id);
}
