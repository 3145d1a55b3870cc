/** A real identity provider (`oidc-provider`) on loopback, and a browser without a window that signs in there. */
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { Provider } from 'oidc-provider';
import { listen } from '../../../support/listen.ts';

export const clientId = 'countersign';
export const clientSecret = 'the secret of the gateway at the provider';
export const audience = 'https://approvals.example.com/api';
const robotSecret = 'the secret of a robot at the provider';

export interface IdentityProvider {
  issuer: string;
  /** An access token that the provider issues to a service. */
  serviceToken(resource?: string): Promise<string>;
  stop(): Promise<void>;
}

/** What the provider says of its people. */
const people: Record<string, Record<string, unknown>> = {
  ann: { email: 'ann@example.com', email_verified: true, groups: ['finance', 'approvers'] },
  eve: { email: 'ann@example.com', email_verified: false, groups: ['approvers'] },
  zoe: { groups: 'staff' },
  '8f3c-17': { name: 'Ann Lee', groups: ['approvers'] },
  '8f3c-18': { name: 'Ann Lee', groups: ['approvers'] },
  max: { groups: Array.from({ length: 120 }, (_, at) => `b7a3c1de-0000-4000-8000-${String(at).padStart(12, '0')}`) },
};

/** `redirects`: where the provider may send browsers back to. */
export async function openIdentityProvider(redirects: string[]): Promise<IdentityProvider> {
  const server = createServer();
  const { url: issuer, close } = await listen(server);
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: redirects,
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
      {
        client_id: 'robot',
        client_secret: robotSecret,
        redirect_uris: [],
        grant_types: ['client_credentials'],
        response_types: [],
      },
    ],
    cookies: { keys: ['a key of this test'] },
    jwks: { keys: [await privateKey('RS256')] },
    claims: { openid: ['sub'], profile: ['groups', 'name'], email: ['email', 'email_verified'] },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    extraTokenClaims: () => ({ groups: ['services'] }),
    pkce: { required: () => true },
    ttl: { AccessToken: 60, ClientCredentials: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, resource: string) => ({
          scope: '',
          audience: resource,
          accessTokenFormat: 'jwt',
        }),
      },
    },
  });
  server.on('request', provider.callback());
  return {
    issuer,
    serviceToken: async (resource = audience) => {
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`robot:${encodeURIComponent(robotSecret)}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource }),
      });
      return ((await response.json()) as { access_token: string }).access_token;
    },
    stop: close,
  };
}

export async function privateKey(alg: string): Promise<JWK> {
  const { privateKey: key } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(key)), kid: `key-${alg}`, use: 'sig', alg };
}

/** A browser: it keeps cookies for each origin and follows redirects. */
export class SmallBrowser {
  readonly cookies = new Map<string, Map<string, string>>();

  async send(url: string, form?: Record<string, string>): Promise<Response> {
    const { origin } = new URL(url);
    const jar = this.cookies.get(origin) ?? new Map<string, string>();
    this.cookies.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'text/html', ...(cookie !== '' && { cookie }), ...(form && { origin }) },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === '' || /max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name!);
      else jar.set(name!, value!);
    }
    return response;
  }

  /**
   * Opens a page that leads to the provider, signs in there as `login`, and returns the address that the provider sends
   * the browser back to, without opening it.
   */
  async signInAtProvider(start: string, login: string): Promise<string> {
    let response = await this.send(start);
    let url = start;
    for (let step = 0; step < 12; step += 1) {
      const location = response.headers.get('location');
      if (location !== null) {
        url = new URL(location, url).href;
        if (new URL(url).pathname === '/login/callback') return url;
        response = await this.send(url);
      } else {
        const page = await response.text();
        const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
        if (action === undefined) throw new Error(`no way on from ${url}: ${page.slice(0, 500)}`);
        url = new URL(action, url).href;
        const isLogin = page.includes('name="login"');
        response = await this.send(url, isLogin ? { prompt: 'login', login, password: 'x' } : { prompt: 'consent' });
      }
    }
    throw new Error('the provider never sent the browser back');
  }
}
