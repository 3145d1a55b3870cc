import type { Role } from './principal.ts';

/** Who may use a route: one of these roles; `signed-in`: any principal; `anyone`: nobody has to be known. */
export type Permission = readonly Role[] | 'signed-in' | 'anyone';

const readers = ['viewer', 'starter', 'reviewer', 'operator'] as const;

/** Every route and who may use it. A route without a line here does not compile. */
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
  'GET /approvals/{requestId}': readers,
  'POST /approvals/{requestId}/matches': ['reviewer', 'operator'],
  'POST /approve/{requestId}': ['reviewer'],
  'POST /approvals/decide': ['reviewer'],
  'POST /approvals/{requestId}/extend': ['reviewer'],
  'POST /approvals/{requestId}/delegate': ['reviewer'],
  'POST /approvals/{requestId}/move': ['operator'],
  'GET /delegations': ['reviewer'],
  'POST /delegations': ['reviewer'],
  'DELETE /delegations': ['reviewer'],
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
