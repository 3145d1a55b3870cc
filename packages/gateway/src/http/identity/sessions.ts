import type { JWTPayload } from 'jose';
import type { Seals } from 'countersign/adapter';
import { ProblemError } from 'countersign/base';
import { isRole, type Principal } from './principal.ts';
import { type NamedPerson, namesakesAmong } from './claims.ts';
import { findHash, type TokenEntry } from './identity.ts';
import { parse } from 'hono/utils/cookie';

/** What proves a sign-in: the person in the claims of the provider, or the SHA-256 of a token, in base64url. */
export type Credential = { person: NamedPerson } | { token: string };

/** Browsers silently drop a cookie whose name and value have more than 4,096 bytes. */
const mostBytes = 4_000;

interface SessionOptions {
  seals: Seals;
  cookies: ReturnType<typeof createCookies>;
  tokens: readonly TokenEntry[];
  lifetimeMs: number;
}

/** Begins, reads and ends the sessions of browsers. The gateway stores none: the cookie has the encrypted content. */
export function createSessions({ seals, cookies, tokens, lifetimeMs }: SessionOptions) {
  const begin = async (content: JWTPayload, untilMs = Infinity): Promise<string> => {
    const expiresMs = Math.min(Date.now() + lifetimeMs, untilMs);
    const cookie = cookies.set('session', await seals.seal('session', content, expiresMs), expiresMs);
    if (cookie.indexOf(';') > mostBytes) throw tooManyGroups(content['person'] as NamedPerson);
    return cookie;
  };
  const contentOf = async (request: Request): Promise<JWTPayload | undefined> => {
    const cookie = cookies.read(request, 'session');
    return cookie === undefined ? undefined : seals.open('session', cookie);
  };
  const namesakeOf = namesakesAmong(tokens.map(({ id }) => id));
  /** The principal of a credential; undefined if its token is gone, or if another token has an id like the person's. */
  const holderOf = ({ token, person: named }: JWTPayload): Principal | undefined => {
    const entry = typeof token === 'string' ? findHash(tokens, Buffer.from(token, 'base64url')) : undefined;
    const person = token === undefined ? (named as NamedPerson | undefined) : entry;
    if (person === undefined || (person !== entry && namesakeOf(person.id) !== undefined)) return undefined;
    return principalOf(person, 'session');
  };
  return {
    /** The `Set-Cookie` of a session for a person named by the identity provider. */
    ofPerson: ({ id, name, roles, groups }: NamedPerson) => begin({ person: { id, name, roles, groups } }),
    /** The `Set-Cookie` of a session for the holder of a token. It ends with the token. */
    ofToken: ({ hash, expiresMs }: TokenEntry) => begin({ token: hash.toString('base64url') }, expiresMs),
    /** The principal of the request's session; undefined without a valid session. */
    principalOf: async (request: Request): Promise<Principal | undefined> => {
      const content = await contentOf(request);
      return content && holderOf(content);
    },
    /** The credential of the request's session, such as for linking an account; undefined without a valid session. */
    credentialOf: async (request: Request): Promise<Credential | undefined> => {
      const content = await contentOf(request);
      if (content === undefined || holderOf(content) === undefined) return undefined;
      const { person, token } = content;
      return (token === undefined ? { person } : { token }) as Credential;
    },
    holderOf,
    end: (): string => cookies.remove('session'),
  };
}

/** Refuses a sign-in with too many groups. Dropping a group would disable policies that deny calls to that group. */
function tooManyGroups({ groups }: NamedPerson): ProblemError {
  const message = `The identity provider names ${groups.length} groups of yours, more than a session holds: ask the operator of this gateway to have it name fewer.`;
  return new ProblemError({ code: 'unauthenticated', message });
}

/** The principal of an authenticated person or token. Roles that this gateway does not have are dropped. */
export function principalOf(person: NamedPerson & { actsForOthers?: boolean }, via: Principal['via']): Principal {
  const { id, name, groups, actsForOthers } = person;
  const roles = person.roles.filter(isRole);
  return {
    id,
    ...(name !== undefined && { name }),
    roles,
    groups,
    via,
    key: `person:${id}`,
    ...(actsForOthers && { actsForOthers }),
  };
}

export type CookieName = 'session' | 'login';

/**
 * Reads and writes the cookies of a gateway. `secure`: browsers reach the gateway by https. Then the prefix `__Host-`
 * keeps other hosts and plain http connections from setting a cookie. `SameSite` is `Lax`, not `Strict`, because the
 * identity provider, which is another site, sends the browser back by a link.
 */
export function createCookies(secure: boolean) {
  const nameOf = (name: CookieName): string => `${secure ? '__Host-' : ''}countersign-${name}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    read: (request: Request, name: CookieName): string | undefined =>
      parse(request.headers.get('cookie') ?? '', nameOf(name))[nameOf(name)],
    /** The value of the header `Set-Cookie` for a cookie that expires at `expiresMs`. */
    set: (name: CookieName, value: string, expiresMs: number): string => {
      const seconds = Math.max(0, Math.floor((expiresMs - Date.now()) / 1_000));
      return `${nameOf(name)}=${value}; ${attributes}; Max-Age=${seconds}`;
    },
    remove: (name: CookieName): string => `${nameOf(name)}=; ${attributes}; Max-Age=0`,
  };
}
