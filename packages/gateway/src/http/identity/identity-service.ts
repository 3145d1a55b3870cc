import { createSeals } from 'countersign/adapter';
import { ProblemError } from 'countersign/base';
import { type Authenticator, type Principal, roles } from './principal.ts';
import { createCookies, createSessions, principalOf } from './sessions.ts';
import { type GatewayIdentity, findToken, type TokenEntry } from './identity.ts';
import { openId } from './open-id.ts';
import { userInfo } from 'node:os';

export type IdentityService = ReturnType<typeof createIdentityService>;

/** Authenticates the senders of requests by the tokens, the sessions and the OpenID Connect provider of `identity`. */
export function createIdentityService(
  identity: GatewayIdentity,
  { isLoopback, namespace, log }: { isLoopback: boolean; namespace: string; log: (line: string) => void },
) {
  const { publicUrl, tokens, oidc, sessionKey, linkKey = sessionKey, sessionMs } = identity;
  const seals = createSeals({ secret: sessionKey, linkSecret: linkKey, publicUrl, namespace });
  const cookies = createCookies(publicUrl?.startsWith('https:') ?? false);
  const sessions = createSessions({ seals, cookies, tokens, lifetimeMs: sessionMs });
  const tokenIds = tokens.map(({ id }) => id);
  const provider = oidc && publicUrl !== undefined ? openId(oidc, publicUrl, { tokenIds, log }) : undefined;
  const canSignIn = publicUrl !== undefined || isLoopback;

  /** Returns the entry of a token of the identity file. Throws `unauthenticated` for any other text. */
  function tokenOf(token: string): TokenEntry {
    const entry = findToken(tokens, token);
    if (entry !== undefined) return entry;
    const message = 'The bearer token is not valid here: it is unknown, or it has expired.';
    throw new ProblemError({ code: 'unauthenticated', message });
  }

  /** The principal of a token of the identity file, or of a JWT of the provider. Otherwise throws `unauthenticated`. */
  async function bearerOf(header: string): Promise<Principal> {
    const token = /^Bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1];
    if (token === undefined) {
      const message = 'The header Authorization must be: Bearer TOKEN.';
      throw new ProblemError({ code: 'unauthenticated', message });
    }
    // A token of the identity file may look like a JWT, too, so only an unknown token is a JWT of the provider.
    const isUnknown = findToken(tokens, token) === undefined;
    if (isUnknown && provider !== undefined && token.split('.').length === 3) {
      return principalOf(await provider.verify(token), 'jwt');
    }
    return principalOf(tokenOf(token), 'token');
  }

  return {
    sessions,
    cookies,
    seals,
    /** The client of the identity provider. Undefined: there is no provider, and people sign in with a token. */
    openId: provider,
    canSignIn,
    /** True: links that answer a request stay valid after a restart of the gateway. */
    hasLinkKey: linkKey !== undefined,
    /** True: sessions and linked chat accounts stay valid after a restart of the gateway. */
    hasSessionKey: sessionKey !== undefined,
    reviewers: tokens.filter((each) => each.roles.includes('reviewer')),
    tokenOf,
    authenticator: {
      // An invalid bearer token is refused on every route. An invalid cookie counts as no credential: the browser sends
      // it automatically, also to the sign-in page.
      authenticate: (request: Request): Promise<Principal | undefined> => {
        const header = request.headers.get('authorization');
        if (header !== null) return bearerOf(header);
        return canSignIn ? sessions.principalOf(request) : Promise.resolve(undefined);
      },
      ...(canSignIn && { loginUrl: '/login' }),
    },
  };
}

/** Takes every sender for the user who started the gateway, which is safe only if no other machine can reach it. */
export function localAuthenticator(): Authenticator {
  const id = userInfo().username;
  const principal = { id, roles, groups: [], via: 'local', key: `local:${id}` } as const;
  return { authenticate: async () => principal };
}
