import { userInfo } from 'node:os';
import type { Authenticator } from './authenticator.ts';
import { roles } from './principal.ts';

/** Every sender is the user who started the gateway. For a gateway that only this machine can reach. */
export function localAuthenticator(): Authenticator {
  const id = userInfo().username;
  const principal = { id, roles, groups: [], via: 'local', key: `local:${id}` } as const;
  return { authenticate: async () => principal };
}
