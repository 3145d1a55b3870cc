import { z } from 'zod';
import { durationBetween, instantMs } from 'countersign/adapter';
import { isLoopbackHost } from '../site.ts';
import { roles } from './principal.ts';
import { personName } from './person-name.ts';

const text = z.string().min(1, 'must not be empty').max(500, 'must have at most 500 characters');
const list = z.array(text).max(1_000, 'must have at most 1000 items');
const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable, such as COUNTERSIGN_SECRET');

const origin = z.string().refine(isPublicOrigin, {
  error: 'must be an https origin without a path, such as https://approvals.example.com; http only on this machine',
});
const issuer = z.string().refine(isSecure, { error: 'must be an https URL; http only on this machine' });

const token = z
  .strictObject({
    id: z.string().superRefine((id, context) => {
      const problem = personName(id).problem;
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    }),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the token: 64 lower-case hex digits')
      .optional(),
    env: variable.optional(),
    roles: z.array(z.enum(roles)),
    groups: list.optional(),
    acts_for_others: z.boolean().optional(),
    expires: z
      .string()
      .refine((value) => instantMs(value) !== undefined, 'must be an instant in UTC, such as 2030-01-31T12:00:00Z')
      .optional(),
  })
  .refine(({ sha256, env }) => (sha256 === undefined) !== (env === undefined), {
    error: 'must have one of sha256 and env',
  })
  .refine(({ roles: granted, acts_for_others: others }) => others !== true || !granted.includes('reviewer'), {
    error: `must not have 'acts_for_others' and the role reviewer: it could approve what it started for others`,
  });

const roleMap = z.strictObject({
  viewer: list.optional(),
  starter: list.optional(),
  reviewer: list.optional(),
  operator: list.optional(),
});

const oidc = z
  .strictObject({
    issuer,
    client_id: text,
    client_secret_env: variable.optional(),
    audience: text.optional(),
    id_claim: text.optional(),
    trust_email: z.boolean().optional(),
    groups_claim: text.optional(),
    roles_claim: text.optional(),
    roles: roleMap,
    scopes: list.optional(),
  })
  .refine(({ audience, client_id: clientId }) => audience !== clientId, {
    error: `must be another than 'client_id': an ID token would pass for an access token`,
    path: ['audience'],
  })
  .refine(({ trust_email: trusts, id_claim: claim }) => trusts === undefined || claim === 'email', {
    error: `counts with 'id_claim: email' only`,
    path: ['trust_email'],
  });

const sessions = z
  .strictObject({
    key_env: variable.optional(),
    key_file: text.optional(),
    lifetime: durationBetween('1m', '30d', '8h').optional(),
  })
  .refine(({ key_env: env, key_file: file }) => env === undefined || file === undefined, {
    error: 'must have one of key_env and key_file',
  });

const links = z
  .strictObject({ key_env: variable.optional(), key_file: text.optional() })
  .refine(({ key_env: env, key_file: file }) => (env === undefined) !== (file === undefined), {
    error: 'must have one of key_env and key_file',
  });

/** The document of an identity file. */
export const identityShape = z
  .strictObject({
    public_url: origin.optional(),
    sessions: sessions.optional(),
    links: links.optional(),
    tokens: z.array(token).max(1_000, 'must have at most 1000 items').optional(),
    oidc: oidc.optional(),
  })
  .refine(({ tokens, oidc: provider }) => (tokens ?? []).length > 0 || provider !== undefined, {
    error: 'must have tokens or oidc: without them nobody can use the gateway',
  })
  .refine(({ oidc: provider, public_url: url }) => provider === undefined || url !== undefined, {
    error: `must have a 'public_url' with oidc: the provider sends browsers back to it`,
  });

export type IdentityDocument = z.infer<typeof identityShape>;

/** True for https, and for http on this machine: whoever can change what is sent could sign in as anybody. */
function isSecure(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, password, hash } = new URL(value);
  if (username !== '' || password !== '' || hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

function isPublicOrigin(value: string): boolean {
  return isSecure(value) && new URL(value).origin === value.replace(/\/$/, '');
}
