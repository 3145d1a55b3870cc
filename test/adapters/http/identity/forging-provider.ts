/** An identity provider that says what a test wants: its keys are real, its tokens may be anything. */
import { createServer } from 'node:http';
import { importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import { privateKey } from './identity-provider.ts';
import { listen } from '../../../support/listen.ts';

export interface ForgingProvider {
  issuer: string;
  keys: Record<string, JWK>;
  /** The ID token that the next sign-in gets, made from the nonce that the gateway sent. */
  idToken: (nonce: string) => Promise<string>;
  /** What UserInfo answers. */
  userInfo: Record<string, unknown>;
  /** Signs claims with one of the provider's keys, or with another one. */
  sign(claims: JWTPayload, header?: { alg?: string; kid?: string; typ?: string }, key?: JWK): Promise<string>;
  /** How often the keys were fetched. */
  keyFetches: number;
  /** True: it answers nothing but 503. */
  isDown: boolean;
  stop(): Promise<void>;
}

/** The public half of a key. */
export function publicHalf({ kty, crv, x, y, n, e, kid, alg, use }: JWK): JWK {
  return { kty, crv, x, y, n, e, kid, alg, use };
}

export async function openForgingProvider(): Promise<ForgingProvider> {
  const keys: Record<string, JWK> = {};
  for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA', 'ES384']) keys[alg] = await privateKey(alg);
  let nonce = '';
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://provider.invalid');
    const answer = (body: unknown): void => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (provider.isDown) {
      response.writeHead(503).end();
    } else if (pathname === '/.well-known/openid-configuration') {
      const { issuer } = provider;
      answer({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        userinfo_endpoint: `${issuer}/me`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
      });
    } else if (pathname === '/keys') {
      provider.keyFetches += 1;
      answer({ keys: Object.values(keys).map(publicHalf) });
    } else if (pathname === '/authorize') {
      nonce = searchParams.get('nonce') ?? '';
      const back = new URL(searchParams.get('redirect_uri')!);
      back.searchParams.set('code', 'a-code');
      back.searchParams.set('state', searchParams.get('state') ?? '');
      response.writeHead(302, { location: back.href }).end();
    } else if (pathname === '/token') {
      void provider.idToken(nonce).then((token) => {
        answer({ access_token: 'access', token_type: 'Bearer', expires_in: 60, id_token: token });
      });
    } else {
      answer(provider.userInfo);
    }
  });
  const { url, close } = await listen(server);
  const provider: ForgingProvider = {
    issuer: url,
    keys,
    idToken: () => Promise.resolve(''),
    userInfo: { sub: 'ann' },
    keyFetches: 0,
    isDown: false,
    sign: async (claims, header = {}, key) => {
      const { alg = 'RS256' } = header;
      const used = key ?? keys[alg]!;
      return new SignJWT(claims).setProtectedHeader({ kid: used.kid, ...header, alg }).sign(await importJWK(used, alg));
    },
    stop: close,
  };
  return provider;
}
