import { errors, type JWTPayload, jwtVerify, createRemoteJWKSet, type JWTVerifyGetKey } from 'jose';
import * as openid from 'openid-client';
import { isSamePerson } from 'countersign/adapter';
import { ProblemError, visibleText } from 'countersign/base';
import { type NamedPerson, personOfClaims, namesakesAmong } from './claims.ts';
import type { OpenIdSettings } from './identity.ts';

interface Discovered {
  configuration: openid.Configuration;
  keys: JWTVerifyGetKey;
}

const toleranceSeconds = 5;

const timeoutSeconds = 10;

/** The state of a login until the browser returns. It is sealed in a cookie. */
export interface PendingLogin {
  state: string;
  nonce: string;
  verifier: string;
  to: string;
}

/** The accepted signatures of JWTs. All are asymmetric: a key that verifies a symmetric one can also forge it. */
const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];
/** The accepted values of the header `typ`: those of access tokens (RFC 9068), and `jwt`, which some providers send. */
const accessTypes = ['at+jwt', 'application/at+jwt', 'jwt'];

/** A client of the identity provider. It refuses people whose id equals, or looks like, that of a bearer token. */
export function openId(
  settings: OpenIdSettings,
  publicUrl: string,
  { tokenIds, log }: { tokenIds: readonly string[]; log: (line: string) => void },
) {
  const redirect = new URL('/login/callback', publicUrl).href;
  const namesakeOf = namesakesAmong(tokenIds);
  let discovered: Promise<Discovered> | undefined;

  /** The provider's metadata, read once. After a failure, the next call reads again. */
  async function discovery(): Promise<Discovered> {
    discovered ??= discover(settings);
    try {
      return await discovered;
    } catch (error) {
      discovered = undefined;
      throw unreachable(error);
    }
  }

  function unreachable(error: unknown): ProblemError {
    log(`The identity provider ${settings.issuer} does not answer as it should: ${errorSummary(error)}`);
    const message = 'The identity provider cannot be asked now: try again later.';
    return new ProblemError({ code: 'server_unreachable', message }, { cause: error });
  }

  return {
    /** The person of a JWT that the provider issued for this API. Throws `unauthenticated` or `server_unreachable`. */
    verify: async (token: string): Promise<NamedPerson> => {
      const { issuer, audience } = settings;
      if (audience === undefined) throw invalidToken('this gateway takes no tokens of the identity provider');
      const { configuration, keys } = await discovery();
      const options = {
        issuer: configuration.serverMetadata().issuer ?? issuer,
        audience,
        algorithms,
        requiredClaims: ['exp', 'iss', 'aud'],
        clockTolerance: toleranceSeconds,
      };
      const verified = await jwtVerify(token, keys, options).catch((error: unknown) => {
        throw isOfToken(error) ? invalidToken(whyNot(error)) : unreachable(error);
      });
      const { payload, protectedHeader } = verified;
      if (!accessTypes.includes((protectedHeader.typ ?? 'jwt').toLowerCase()))
        throw invalidToken('it is no access token');
      // A token with `cnf` counts only with a proof of possession, which this gateway does not check.
      if (payload['cnf'] !== undefined) throw invalidToken('it is bound to a key of its holder');
      if (isIdToken(payload)) throw invalidToken('it is an ID token');
      return personOf([payload]);
    },
    /** Begins a sign-in: returns the address to which the browser goes, and the state to keep until it returns. */
    begin: async (to: string): Promise<{ url: string; login: PendingLogin }> => {
      const { configuration } = await discovery();
      const login = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
        to,
      };
      const url = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirect,
        scope: settings.scopes.join(' '),
        state: login.state,
        nonce: login.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(login.verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, login };
    },
    /** Ends a sign-in: returns the person who came back to `url`. Throws `unauthenticated` or `server_unreachable`. */
    finish: async (url: URL, { state, nonce, verifier }: PendingLogin): Promise<NamedPerson> => {
      const { configuration } = await discovery();
      // Behind a proxy, `url` has another origin than the redirect address, which the provider compares.
      const current = new URL(redirect);
      current.search = url.search;
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
      const tokens = await openid.authorizationCodeGrant(configuration, current, checks).catch((error: unknown) => {
        if (isNetwork(error)) throw unreachable(error);
        log(`A sign-in failed: ${errorSummary(error)}`);
        throw new ProblemError({ code: 'unauthenticated', message: 'The sign-in did not succeed: sign in again.' });
      });
      const claims = tokens.claims();
      if (claims === undefined) throw invalidToken('the identity provider sent no ID token');
      return personOf([claims, await userInfo(configuration, tokens.access_token, claims.sub)]);
    },
  };

  function personOf(sources: readonly JWTPayload[]): NamedPerson {
    const person = personOfClaims(settings, sources);
    const taken = namesakeOf(person.id);
    if (taken === undefined) return person;
    const how = isSamePerson(taken, person.id) ? 'is' : `looks like '${visibleText(taken)}',`;
    throw invalidToken(`'${visibleText(person.id)}' ${how} the id of a bearer token of this gateway`);
  }

  /** The claims of the provider's UserInfo; empty if the provider has no such endpoint. */
  async function userInfo(configuration: openid.Configuration, token: string, sub: string): Promise<JWTPayload> {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
    return openid.fetchUserInfo(configuration, token, sub).then(
      (claims) => claims as JWTPayload,
      (error: unknown) => {
        throw unreachable(error);
      },
    );
  }
}

/** True for an ID token. It proves a sign-in to a page, but does not permit calls of an API. */
function isIdToken(payload: JWTPayload): boolean {
  return ['nonce', 'at_hash', 'c_hash'].some((claim) => payload[claim] !== undefined);
}

/** True if the token is invalid; false if only the request for the provider's keys failed. */
function isOfToken(error: unknown): error is errors.JOSEError {
  const codesOfRequest = ['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC'];
  return error instanceof errors.JOSEError && !codesOfRequest.includes(error.code);
}

/** True if the provider is not reached (a `TypeError` of `fetch`) or answers wrongly; false if it refuses a sign-in. */
function isNetwork(error: unknown): boolean {
  const { code, name } = error as { code?: string; name?: string };
  return code === 'OAUTH_TIMEOUT' || name === 'TypeError' || code === 'OAUTH_RESPONSE_IS_NOT_CONFORM';
}

function whyNot(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JWTClaimValidationFailed) return `its claim '${error.claim}' is not for this gateway`;
  return 'it is not signed by the identity provider';
}

function invalidToken(why: string): ProblemError {
  return new ProblemError({ code: 'unauthenticated', message: `The bearer token is not valid here: ${why}.` });
}

/** The code and the message of an error of the OpenID library, for the log. Neither contains a token. */
function errorSummary(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return [code, message]
    .filter((each) => typeof each === 'string')
    .join(': ')
    .slice(0, 300);
}

/** Reads the provider's published metadata. Throws if the issuer is not that of the settings, or on no response. */
async function discover({ issuer, clientId, clientSecret }: OpenIdSettings): Promise<Discovered> {
  const url = new URL(issuer);
  const configuration = await openid.discovery(
    url,
    clientId,
    { [openid.clockTolerance]: toleranceSeconds },
    clientSecret === undefined ? openid.None() : secretAuthentication(clientSecret.export().toString()),
    {
      timeout: timeoutSeconds,
      // These checks verify the signature of the ID token. Without them, the library trusts the TLS connection alone.
      execute: [openid.enableNonRepudiationChecks, ...(url.protocol === 'http:' ? [openid.allowInsecureRequests] : [])],
    },
  );
  const { jwks_uri: jwks } = configuration.serverMetadata();
  if (jwks === undefined) throw new Error('it publishes no keys');
  if (url.protocol === 'https:' && new URL(jwks).protocol !== 'https:') throw new Error('its keys are not under https');
  const keys = createRemoteJWKSet(new URL(jwks), { timeoutDuration: timeoutSeconds * 1_000 });
  return { configuration, keys };
}

/** Sends the client secret in the header, unless the provider accepts it only in the body. */
function secretAuthentication(secret: string): openid.ClientAuth {
  const basic = openid.ClientSecretBasic(secret);
  const post = openid.ClientSecretPost(secret);
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}
