import { describe, expect, test } from 'vitest';
import { namesSecret, redactSecrets } from '../../../src/core/redact/find-sensitive.ts';
import { growth, squareGrowth } from '../../support/processor-time.ts';

// Made of parts, so that no scanner of this repository takes one for a real secret.
const of = (...parts: string[]): string => parts.join('');
const letters = 'aB3dE5gH7jK9mN1pQ2sT4vW6xY8z';
const jwt = of('eyJhbGciOiJIUzI1NiJ9', '.', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', '.', 'c2lnbmF0dXJl');
const pem = of('-----BEGIN RSA PRIVATE', ' KEY-----\nMIIabc\n-----END RSA PRIVATE', ' KEY-----');

describe('a secret becomes a placeholder', () => {
  test.each([
    ['a private key', `key: ${pem} end`, 'key: [PRIVATE_KEY] end'],
    ['a private key without its end', pem.slice(0, 40), '[PRIVATE_KEY]'],
    ['a JSON web token', `token ${jwt}.`, 'token [JWT].'],
    ['an AWS access key', of('AKIA', 'IOSFODNN7EXAMPLE'), '[AWS_ACCESS_KEY]'],
    ['an OpenAI key', of('sk-', 'proj-', letters), '[OPENAI_KEY]'],
    ['an Anthropic key', of('sk-', 'ant-api03-', letters), '[PROVIDER_KEY]'],
    ['a GitHub token', of('ghp', '_', letters, letters), '[PROVIDER_KEY]'],
    ['a Slack token', of('xoxb', '-1234567890-', letters), '[PROVIDER_KEY]'],
    ['a Stripe key', of('sk', '_live_', letters), '[PROVIDER_KEY]'],
    ['a bearer token', `Authorization: Bearer ${letters}`, 'Authorization: Bearer [PROVIDER_KEY]'],
    ['a password in a URL', 'postgres://app:hunter2@db:5432/x', 'postgres://app:[PASSWORD]@db:5432/x'],
    ['a password with @ in a URL', 'ftp://a:p@ss@host/', 'ftp://a:[PASSWORD]@host/'],
    ['a password in a query', 'https://x.test/?password=hunter2&n=1', 'https://x.test/?password=[PASSWORD]&n=1'],
    ['a password in JSON', '{"db_password":"hunter2","n":1}', '{"db_password":"[PASSWORD]","n":1}'],
    [
      'a password of several words in JSON',
      '{"password":"correct \\"horse, battery","n":1}',
      '{"password":"[PASSWORD]","n":1}',
    ],
    ['a key in a setting with a hyphen', 'api-key=abc123 n=1', 'api-key=[PASSWORD] n=1'],
    ['a variable that ends with what it is', 'JWT_SECRET=abc DB_PASS=def', 'JWT_SECRET=[PASSWORD] DB_PASS=[PASSWORD]'],
    ['a token in a query', 'https://x.test/?token=abc&n=1', 'https://x.test/?token=[PASSWORD]&n=1'],
    ['a quoted password in code', "password = 'hunter2';", 'password = [PASSWORD];'],
    ['a quoted password in YAML', 'password: "x y"', 'password: [PASSWORD]'],
    ['a secret in JSON', '{"clientSecret": "a b","n":1}', '{"clientSecret": "[PASSWORD]","n":1}'],
    ['a quoted password on a command line', "curl --password 'my secret' x", 'curl --password [PASSWORD] x'],
    ['a quoted password in a setting', 'password="my secret" n=1', 'password=[PASSWORD] n=1'],
    ['a password on a command line', 'mysql --password hunter2 -u app', 'mysql --password [PASSWORD] -u app'],
    ['a card in one piece', 'card 4111111111111111 ok', 'card [CARD …1111 · 9bbe] ok'],
    ['a card in groups, after a number', 'order 42 5500 0000 0000 0004', 'order 42 [CARD …0004 · dd1e]'],
    ['a card in groups of 4-6-5', '3782-822463-10005', '[CARD …005 · 3a13]'],
    ['a social security number', 'SSN 123-45-6789.', 'SSN [SSN · 15e2].'],
  ])('%s', (_name, text, expected) => expect(redactSecrets(text)).toBe(expected));
});

describe('what a reviewer has to read stays', () => {
  test.each([
    ['an amount', '120.00 EUR'],
    ['a path', '/srv/app/releases/2026-11-23/config.yaml'],
    ['an address', 'ann@acme.com'],
    ['a telephone number', '+49 30 1234567'],
    ['an IBAN', 'DE89 3704 0044 0532 0130 00'],
    ['a UUID', '4111111f-4111-4111-8111-411111111111'],
    ['a UUID of digits', '41111111-1111-1111-1111-111111111111'],
    ['a commit', '3f0989f0c1d24e5a6b7c8d9e0f1a2b3c4d5e6f70'],
    ['a digest', 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    ['a version', '1.24.0-rc.1+build.5114'],
    ['an order number', 'order 20261123-000457'],
    ['a number of 16 digits that fails the check of cards', '4111111111111112'],
    ['a time in milliseconds', '1763866942000'],
    ['a time in microseconds', '1763866942000123'],
    ['a time', '2026-11-23T02:22:28.000Z'],
    ['a fraction', '0.4111111111111111'],
    ['a URL with a port', 'https://acme.test:8443/a@b'],
    ['words with hyphens', 'sk-learn-something-with-a-long-name'],
    ['a place in a list', 'https://x.test/?page_token=abc&next-token=def'],
    ['a word', 'Reset the password: see the wiki'],
    ['a date that looks like a number of people', '2026-11-2300'],
  ])('%s', (_name, text) => expect(redactSecrets(text)).toBe(text));
});

test.each([
  ['password', true],
  ['dbPassword', true],
  ['client_secret', true],
  ['apiKey', true],
  ['secretAccessKey', true],
  ['aws_secret_access_key', true],
  ['X-Api-Key', true],
  ['refreshToken', true],
  ['token', true],
  ['Cookie', true],
  ['page_token', false],
  ['tokens', false],
  ['cookies', false],
  ['recipient', false],
  ['key', false],
  ['passwordPolicy', false],
])('the argument %s is a secret as a whole: %s', (name, secret) => expect(namesSecret(name)).toBe(secret));

test.each([
  ['digits', '4'],
  ['groups of digits', '4111 '],
  ['beginnings of keys', '-----BEGIN A PRIVATE KEY-----'],
  ['beginnings of tokens', 'eyJ.'],
  ['colons', '://a:'],
  ['quotes', 'password" : '],
])('100 KB of %s take no time that grows faster than the text', (_name, part) => {
  const timed = (length: number) => {
    const text = part.repeat(Math.ceil(length / part.length));
    return () => void redactSecrets(text);
  };
  expect(growth(timed, 25_000)).toBeLessThan(squareGrowth);
});
