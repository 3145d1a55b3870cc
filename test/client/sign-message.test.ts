import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/client/server/session.ts';
import { decideMany } from '../../src/client/send/decide.ts';
import { createReviewerKey, publicKeyOf, signDecision, signMessage } from '../../src/client/send/sign-message.ts';
import { verifiedSender } from '../../src/core/messages/sender.ts';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';
import type { SignedAction } from '../../src/core/messages/signature.ts';

/** RFC 8032, section 7.1, test 2. */
const seed = Buffer.from('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb', 'hex').toString('base64');
const publicKey = Buffer.from('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c', 'hex').toString(
  'base64',
);

const parsed = parsePolicy(
  { reviewer_keys: { k1: publicKey }, directory: { people: { ann: { keys: ['k1'] } } } },
  { ceiling: true },
);
const ceiling = 'policy' in parsed ? parsed.policy : undefined;
const place = { namespace: 'default', workflowId: 'w1' };
const options = { ...place, keyId: 'k1', privateKey: seed };
const identityOf = (action: SignedAction, message: object, at = place): string => {
  const found = verifiedSender({ action, message, ...at }, ceiling);
  return 'voter' in found ? found.voter.identity : found.problem.code;
};

test('a signed decision identifies its signer, in its own run only', () => {
  const signed = signDecision({ requestId: 'r', approved: true, reviewerId: 'ann' }, options);
  expect(identityOf('decide', signed)).toBe('verified');
  expect(identityOf('decide', signed, { ...place, workflowId: 'w2' })).toBe('unverified_reviewer');
  expect(identityOf('extend', signed)).toBe('unverified_reviewer');
});

test('it is complete: its own decision id is kept, or one is added', () => {
  expect(signDecision({ requestId: 'r', approved: true }, options).decisionId).toMatch(/^[0-9a-f-]{36}$/);
  expect(signDecision({ requestId: 'r', approved: true, decisionId: 'mine' }, options).decisionId).toBe('mine');
});

test('the same message, key and time give the same signature; the default time is now', () => {
  const signedAt = '2030-01-31T12:00:00.000Z';
  const message = { grants: 'all', messageId: 'm1' };
  const once = signMessage('revoke', message, { ...options, signedAt });
  expect(signMessage('revoke', message, { ...options, signedAt })).toEqual(once);
  const before = new Date().toISOString();
  const now = signMessage('revoke', { grants: 'all' }, options).signature.signedAt;
  expect([before, now, new Date().toISOString()].toSorted()[1]).toBe(now);
});

test.each(['setPolicy', 'revoke', 'extend', 'delegate'] as const)('%s', (action) => {
  const message = signMessage(action, { by: 'ann' }, options);
  expect(identityOf(action, message)).toBe('verified');
  expect(message).toMatchObject({ by: 'ann', messageId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
});

test('a created key works: PEM, and its public key for the policy', () => {
  const key = createReviewerKey();
  expect(publicKeyOf(key.privateKey)).toBe(key.publicKey);
  expect(parsePolicy({ reviewer_keys: { k1: key.publicKey } }, { ceiling: true })).toHaveProperty('policy');
  expect(createReviewerKey().publicKey).not.toBe(key.publicKey);
});

test('a seed with a trailing line break, as in files', () => expect(publicKeyOf(`${seed}\n`)).toBe(publicKey));

describe('refused', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  const publicPem = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
  test.each([
    ['nothing', ''],
    ['another kind', rsa.toString()],
    ['a public key', publicPem.toString()],
    ['a short seed', 'QUJD'],
    ['garbage', 'secret words'],
  ])('a private key: %s', (_, privateKey) => {
    const sign = () => signDecision({ requestId: 'r', approved: true }, { ...options, privateKey });
    expect(sign).toThrow(
      /^the private key is not an Ed25519 key: give its PEM without a passphrase, or its 32 bytes in base64$/,
    );
  });

  test('a second signature', () => {
    const signed = signDecision({ requestId: 'r', approved: true }, options);
    expect(() => signDecision(signed, options)).toThrow('signed already');
  });

  test('a signed decision without an id, before anything is sent: the client adds an id to all other decisions', async () => {
    const { decisionId: _, ...signed } = signDecision({ requestId: '0'.repeat(32), approved: true }, options);
    const nothing = {} as Session;
    await expect(decideMany(nothing, [signed], { workflowId: 'w1' })).resolves.toEqual([
      expect.objectContaining({ accepted: false, code: 'invalid_decision' }),
    ]);
  });
});
