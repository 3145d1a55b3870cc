import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { readIdentityFile } from '../../../../packages/gateway/src/index.ts';
import { identityOf } from '../../../support/identity.ts';

const hash = 'a'.repeat(64);
const token = `{ id: ann, sha256: ${hash}, roles: [viewer] }`;
const oidc = 'issuer: https://id.example.com, client_id: c, roles: { viewer: [x] }';
const refusal = (source: string, env: NodeJS.ProcessEnv = {}): string => {
  try {
    identityOf(source, env);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('refused, with line and column', () => {
  test.each<[string, string]>([
    ['{}', `identity.yaml:1:1 an identity file must have tokens or oidc: without them the gateway has no users`],
    ['tokens: []', `must have tokens or oidc`],
    ['tokns: []', `identity.yaml:1:1 unknown key 'tokns': did you mean 'tokens'?`],
    [`tokens:\n  - { id: ann, roles: [viewer] }`, `identity.yaml:2:5 'tokens' item 1 must have one of sha256 and env`],
    [`tokens: [{ id: ann, sha256: ${hash}, env: X, roles: [] }]`, `must have one of sha256 and env`],
    [
      `tokens: [{ id: ann, sha256: abc, roles: [] }]`,
      `'sha256' must be the SHA-256 of the token: 64 lower-case hex digits`,
    ],
    [`tokens: [{ id: ann, sha256: ${hash} }]`, `'roles' is missing`],
    [
      `tokens: [{ id: ann, sha256: ${hash}, roles: [admin] }]`,
      `'roles' item 1 must be one of viewer, starter, reviewer, operator`,
    ],
    [`tokens: [{ id: 'group:a', sha256: ${hash}, roles: [] }]`, `'id' must not begin with group:`],
    [`tokens: [{ id: 'channel:a', sha256: ${hash}, roles: [] }]`, `'id' must not begin with channel:`],
    [`tokens: [{ id: ' a', sha256: ${hash}, roles: [] }]`, `'id' must not be empty, nor begin or end with a space`],
    [`tokens: [{ id: "a\\u202eb", sha256: ${hash}, roles: [] }]`, `'id' must not have characters that are invisible`],
    [`tokens: [{ id: a, sha256: ${hash}, roles: [], expires: soon }]`, `'expires' must be an instant in UTC`],
    [`tokens: [${token}, ${token}]`, `the same token is listed twice: its sender would be two people`],
    [
      `tokens: [{ id: Capa, sha256: ${hash}, roles: [] }, { id: Сара, sha256: ${'c'.repeat(64)}, roles: [] }]`,
      `'id' looks like that of item 1: one could be taken for the other`,
    ],
    [
      `tokens: [${token}, { id: Ann, sha256: ${'c'.repeat(64)}, roles: [starter], acts_for_others: true }]`.replace(
        'roles: [viewer]',
        'roles: [reviewer]',
      ),
      `another entry of the same id is a reviewer: it could approve what it started for others`,
    ],
    [
      `tokens: [${token}, { id: ann, sha256: ${'c'.repeat(64)}, roles: [starter], acts_for_others: true }]`.replace(
        'roles: [viewer]',
        'roles: [reviewer]',
      ),
      `another entry of the same id is a reviewer: it could approve what it started for others`,
    ],
    [`tokens: [{ id: a, env: T, roles: [] }]`, `the environment variable T is not set`],
    [`public_url: http://approvals.example.com\ntokens: [${token}]`, `'public_url' must be an https origin`],
    [`public_url: https://approvals.example.com/x\ntokens: [${token}]`, `'public_url' must be an https origin`],
    [`oidc: { ${oidc} }`, `must have a 'public_url' with oidc`],
    [
      `public_url: https://a.example.com\noidc: { ${oidc}, audience: c }`,
      `'audience' must be another than 'client_id': an ID token would pass for an access token`,
    ],
    [
      `public_url: https://a.example.com\noidc: { issuer: http://id.example.com, client_id: c, roles: {} }`,
      `'issuer' must be an https URL`,
    ],
    [
      `public_url: https://a.example.com\noidc: { ${oidc}, trust_email: true }`,
      `'trust_email' counts with 'id_claim: email' only`,
    ],
    [`sessions: { lifetime: 60d }\ntokens: [${token}]`, `'lifetime' must be a duration from 1m to 30d`],
    [`sessions: { key_env: K }\ntokens: [${token}]`, `identity.yaml:1:22 the environment variable K is not set`],
    [
      `sessions: { key_file: none.key }\ntokens: [${token}]`,
      `identity.yaml:1:23 none.key cannot be read: there is no such file`,
    ],
    [`links: {}\ntokens: [${token}]`, 'must have one of key_env and key_file'],
    [`links: { key_env: K }\ntokens: [${token}]`, `identity.yaml:1:19 the environment variable K is not set`],
    [`tokens: &x [${token}]`, `anchors and aliases are not part of an identity file`],
    [`tokens: [`, `the text is not YAML 1.2`],
  ])('%s', (source, expected) => expect(refusal(source)).toContain(expected));

  test('a file that is not there', () => {
    expect(() => readIdentityFile('/nowhere/identity.yaml')).toThrow('there is no such file');
  });
});

test('ids in letters of their languages', () => {
  const ids = ['Ahmet Yılmaz', 'Сара', 'علی‌رضا', 'ශ්‍රී', 'José', '김Chris'];
  const tokens = ids.map((id, index) => ({ id, sha256: String(index).repeat(64), roles: [] }));
  expect(identityOf({ tokens }).tokens.map(({ id }) => id)).toEqual(ids);
});

test('what is too short is refused and not repeated', () => {
  const message = refusal('tokens: [{ id: a, env: T, roles: [] }]', { T: 'hunter2' });
  expect(message).toBe('identity.yaml:1:24 the environment variable T has 7 characters, and 32 are needed');
  const key = refusal(`sessions: { key_env: K }\ntokens: [${token}]`, { K: 'hunter2' });
  expect(key).toContain('has 7 characters, and 32 are needed');
});

test('no value of the file is in a sentence, and no secret in what is printed', () => {
  const secret = 'a-secret-that-somebody-put-in-the-wrong-place';
  for (const source of [
    `tokens: ${secret}`,
    `tokens: [{ id: a, sha256: ${secret}, roles: [] }]`,
    `sessions: { key_env: '${secret}' }\ntokens: [${token}]`,
  ]) {
    expect(refusal(source)).not.toBe('');
    expect(refusal(source)).not.toContain(secret);
  }
  const env = { K: `session ${secret}`, S: `client ${secret}`, T: `token ${secret}` };
  const source = `public_url: https://a.example.com\nsessions: { key_env: K }\ntokens: [{ id: a, env: T, roles: [] }]\noidc: { ${oidc}, client_secret_env: S }`;
  const identity = identityOf(source, env);
  for (const printed of [inspect(identity, { depth: 9 }), JSON.stringify(identity)]) {
    expect(printed).not.toContain(secret);
  }
});
