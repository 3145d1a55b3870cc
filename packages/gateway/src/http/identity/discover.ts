import { createRemoteJWKSet, type JWTVerifyGetKey } from 'jose';
import * as openid from 'openid-client';
import type { OpenIdSettings } from './identity.ts';

/** What an identity provider publishes by OpenID Connect Discovery. */
export interface Discovered {
  configuration: openid.Configuration;
  keys: JWTVerifyGetKey;
}

/** How far the clocks of provider and gateway may differ. */
export const toleranceSeconds = 5;
const timeoutSeconds = 10;

/** Asks the provider for its addresses. Throws if it cannot be reached, or is not the one that the settings name. */
export async function discover({ issuer, clientId, clientSecret }: OpenIdSettings): Promise<Discovered> {
  const url = new URL(issuer);
  const configuration = await openid.discovery(
    url,
    clientId,
    { [openid.clockTolerance]: toleranceSeconds },
    clientSecret === undefined ? openid.None() : secretAuthentication(clientSecret.export().toString()),
    {
      timeout: timeoutSeconds,
      // The signature of the ID token counts as well, not only the connection that it came over.
      execute: [openid.enableNonRepudiationChecks, ...(url.protocol === 'http:' ? [openid.allowInsecureRequests] : [])],
    },
  );
  const { jwks_uri: jwks } = configuration.serverMetadata();
  if (jwks === undefined) throw new Error('it publishes no keys');
  if (url.protocol === 'https:' && new URL(jwks).protocol !== 'https:') throw new Error('its keys are not under https');
  const keys = createRemoteJWKSet(new URL(jwks), { timeoutDuration: timeoutSeconds * 1_000 });
  return { configuration, keys };
}

/** In the header, unless the provider takes the secret in the body only. */
function secretAuthentication(secret: string): openid.ClientAuth {
  const basic = openid.ClientSecretBasic(secret);
  const post = openid.ClientSecretPost(secret);
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}
