import type { JWTPayload } from 'jose';
import { isRole, type Principal } from '../principal.ts';
import type { Person } from './claims.ts';
import type { Cookies } from './cookies.ts';
import type { Seals } from './sealed-text.ts';
import { findHash, type TokenEntry } from './token-list.ts';

/** Sessions of browsers. A gateway keeps none: what a session says is sealed in its cookie. */
export interface Sessions {
  /** The `Set-Cookie` of a session for a person whom the identity provider named. */
  ofPerson(person: Person): Promise<string>;
  /** The `Set-Cookie` of a session for the holder of a token. It ends with the token. */
  ofToken(token: TokenEntry): Promise<string>;
  /** Undefined if the request has no session that holds. */
  principalOf(request: Request): Promise<Principal | undefined>;
  /** The `Set-Cookie` that ends the session in this browser. */
  end(): string;
}

interface SessionOptions {
  seals: Seals;
  cookies: Cookies;
  tokens: readonly TokenEntry[];
  lifetimeMs: number;
}

export function createSessions({ seals, cookies, tokens, lifetimeMs }: SessionOptions): Sessions {
  const begin = async (content: JWTPayload, untilMs = Infinity): Promise<string> => {
    const expiresMs = Math.min(Date.now() + lifetimeMs, untilMs);
    return cookies.set('session', await seals.seal('session', content, expiresMs), expiresMs);
  };
  return {
    ofPerson: ({ id, roles, groups }) => begin({ person: { id, roles, groups } }),
    ofToken: ({ hash, expiresMs }) => begin({ token: hash.toString('base64url') }, expiresMs),
    principalOf: async (request) => {
      const cookie = cookies.read(request, 'session');
      const content = cookie === undefined ? undefined : await seals.open('session', cookie);
      if (content === undefined) return undefined;
      // What a token may is read from the file again: a token that is removed ends its sessions.
      const { token } = content;
      const entry = typeof token === 'string' ? findHash(tokens, Buffer.from(token, 'base64url')) : undefined;
      const person = entry ?? (token === undefined ? (content['person'] as Person | undefined) : undefined);
      return person && principalOf(person, 'session');
    },
    end: () => cookies.remove('session'),
  };
}

/** The principal of a person, however they authenticated. */
export function principalOf(person: Person & { actsForOthers?: boolean }, via: Principal['via']): Principal {
  const { id, groups, actsForOthers } = person;
  const roles = person.roles.filter(isRole);
  return { id, roles, groups, via, key: `person:${id}`, ...(actsForOthers && { actsForOthers }) };
}
