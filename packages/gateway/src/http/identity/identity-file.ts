import { z } from 'zod';
import { durationBetween, instantMs, isSamePerson } from 'countersign/adapter';
import { roles } from './principal.ts';
import { personName } from './claims.ts';
import { createHash, createSecretKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { ProblemError, isLoopbackHost, readFault, looksLike, nfc } from 'countersign/base';
import { explainWithoutValues, readPolicyText } from 'countersign/policy';
import { type GatewayIdentity, type OpenIdSettings, shortestToken, type TokenEntry } from './identity.ts';

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

export const identityShape = z
  .strictObject({
    public_url: origin.optional(),
    sessions: sessions.optional(),
    links: links.optional(),
    tokens: z.array(token).max(1_000, 'must have at most 1000 items').optional(),
    oidc: oidc.optional(),
  })
  .refine(({ tokens, oidc: provider }) => (tokens ?? []).length > 0 || provider !== undefined, {
    error: 'must have tokens or oidc: without them the gateway has no users',
  })
  .refine(({ oidc: provider, public_url: url }) => provider === undefined || url !== undefined, {
    error: `must have a 'public_url' with oidc: the provider sends browsers back to it`,
  });

export type IdentityDocument = z.infer<typeof identityShape>;

/** True for https, and for http on this machine. Over other http, an attacker on the network could forge a sign-in. */
function isSecure(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, password, hash } = new URL(value);
  if (username !== '' || password !== '' || hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

function isPublicOrigin(value: string): boolean {
  return isSecure(value) && new URL(value).origin === value.replace(/\/$/, '');
}

const defaultSessionMs = 8 * 3_600_000;
/** The fewest characters of a key. 32 random characters cannot be guessed. */
const shortestKey = 32;

/**
 * Reads an identity file, YAML or JSON: the users of the gateway and their credentials (docs/identity.md). Secrets that
 * it names are read from `env`. Throws a `ProblemError` (`arguments_invalid`) with a line `FILE:LINE:COL message` for
 * each problem; no line repeats a secret.
 *
 * @example
 * ```ts
 * import { mkdtempSync, writeFileSync } from 'node:fs';
 * import { readIdentityFile } from '@countersign/gateway';
 *
 * const file = `${mkdtempSync('/tmp/gateway-')}/identity.yaml`;
 * writeFileSync(file, `tokens: [{ id: ann, sha256: ${'ab'.repeat(32)}, roles: [viewer, reviewer] }]`);
 * const identity = readIdentityFile(file);
 * console.log(identity.tokens.map(({ id, roles }) => `${id}: ${roles.join(', ')}`)); // [ 'ann: viewer, reviewer' ]
 * ```
 */
export function readIdentityFile(path: string, env: NodeJS.ProcessEnv = process.env): GatewayIdentity {
  const file = basename(path);
  const read = readPolicyText(readTextFile(path, path), 'identity file');
  if ('problems' in read)
    throw fileProblem(read.problems.map((each) => `${file}:${each.line}:${each.column} ${each.message}`));
  const lineOf = (message: string, ...place: Parameters<typeof read.placeOf>): string => {
    const { line, column } = read.placeOf(...place);
    return `${file}:${line}:${column} ${message}`;
  };
  const shaped = identityShape.safeParse(read.value);
  if (!shaped.success) {
    const what = { document: read.value, shape: identityShape, what: 'an identity file' };
    const problems = explainWithoutValues(shaped.error, what);
    throw fileProblem(problems.map(({ path: place, message, part }) => lineOf(message, place, part)));
  }
  const document = shaped.data;
  const keyOf = (member: 'sessions' | 'links'): KeyObject | undefined => {
    const { key_env: name, key_file: keyFile } = document[member] ?? {};
    if (name !== undefined) return secretKey(secretOf(name, [member, 'key_env'], shortestKey));
    if (keyFile === undefined) return undefined;
    const refused = (message: string): string => lineOf(message, [member, 'key_file']);
    const text = readTextFile(resolve(dirname(path), keyFile), keyFile, refused).trim();
    if (text.length >= shortestKey) return secretKey(text);
    throw fileProblem([refused(`the key in ${keyFile} has less than ${shortestKey} characters`)]);
  };
  const secretOf = (name: string, place: PropertyKey[], shortest: number): string => {
    const value = env[name] ?? '';
    if (value.length >= shortest) return value;
    const fault = value === '' ? 'is not set' : `has ${value.length} characters, and ${shortest} are needed`;
    throw fileProblem([lineOf(`the environment variable ${name} ${fault}`, place)]);
  };
  const tokens = (document.tokens ?? []).map((token, index): TokenEntry => {
    const { env: name, sha256 } = token;
    const secret = (): string => secretOf(name!, ['tokens', index, 'env'], shortestToken);
    return {
      id: personName(token.id).name ?? token.id,
      hash: sha256 === undefined ? createHash('sha256').update(secret()).digest() : Buffer.from(sha256, 'hex'),
      roles: [...new Set(token.roles)],
      groups: (token.groups ?? []).map((group) => nfc(group)),
      actsForOthers: token.acts_for_others ?? false,
      expiresMs: token.expires === undefined ? undefined : instantMs(token.expires),
    };
  });
  const repeated = tokens.findIndex(({ hash }, index) =>
    tokens.slice(0, index).some((other) => other.hash.equals(hash)),
  );
  if (repeated >= 0) {
    throw fileProblem([lineOf('the same token is listed twice: its sender would be two people', ['tokens', repeated])]);
  }
  const looks = new Map<string, number>();
  for (const [index, { id }] of tokens.entries()) {
    const first = looks.get(looksLike(id)) ?? index;
    looks.set(looksLike(id), first);
    if (isSamePerson(tokens[first]!.id, id)) continue;
    const message = `'id' looks like that of item ${first + 1}: one could be taken for the other`;
    throw fileProblem([lineOf(message, ['tokens', index, 'id'])]);
  }
  const reviewers = tokens.filter(({ roles }) => roles.includes('reviewer'));
  const both = tokens.findIndex(
    ({ id, actsForOthers }) => actsForOthers && reviewers.some((reviewer) => isSamePerson(reviewer.id, id)),
  );
  if (both >= 0) {
    const why = 'it could approve what it started for others';
    const message = `'acts_for_others', and another entry of the same id is a reviewer: ${why}`;
    throw fileProblem([lineOf(message, ['tokens', both])]);
  }
  return {
    publicUrl: document.public_url === undefined ? undefined : new URL(document.public_url).origin,
    tokens,
    oidc: document.oidc && settingsOf(document.oidc, (name) => secretOf(name, ['oidc', 'client_secret_env'], 1)),
    sessionKey: keyOf('sessions'),
    linkKey: keyOf('links'),
    sessionMs: document.sessions?.lifetime ?? defaultSessionMs,
  };
}

/** The settings for OpenID Connect, with defaults. `secretOf` reads an environment variable, or throws. */
function settingsOf(oidc: NonNullable<IdentityDocument['oidc']>, secretOf: (name: string) => string): OpenIdSettings {
  const { client_secret_env: secret, groups_claim: groupsClaim = 'groups' } = oidc;
  return {
    issuer: oidc.issuer,
    clientId: oidc.client_id,
    clientSecret: secret === undefined ? undefined : secretKey(secretOf(secret)),
    audience: oidc.audience,
    idClaim: oidc.id_claim ?? 'sub',
    trustEmail: oidc.trust_email ?? false,
    groupsClaim,
    rolesClaim: oidc.roles_claim ?? groupsClaim,
    roles: oidc.roles,
    scopes: oidc.scopes ?? (oidc.id_claim === 'email' ? ['openid', 'email'] : ['openid', 'profile']),
  };
}

/** Wraps a secret in a `KeyObject`, because logging a `KeyObject` does not reveal its content. */
function secretKey(text: string): KeyObject {
  return createSecretKey(Buffer.from(text));
}

/** Reads a file. In the sentence about an error, `shownPath` names the file, and `withPlace` adds where it is named. */
function readTextFile(path: string, shownPath: string, withPlace = (message: string): string => message): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw fileProblem([withPlace(`${shownPath} cannot be read: ${readFault(cause)}`)], cause);
  }
}

function fileProblem(lines: string[], cause?: unknown): ProblemError {
  return new ProblemError({ code: 'arguments_invalid', message: lines.join('\n') }, { cause });
}
