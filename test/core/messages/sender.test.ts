import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { verifiedSender, claimedSender } from '../../../src/core/messages/sender.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { signedText, type Addressed, type SignedAction } from '../../../src/core/messages/signature.ts';

const pair = (): { privateKey: KeyObject; text: string } => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { privateKey, text: Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('base64') };
};
const keys = { k1: pair(), k2: pair(), free: pair(), shared: pair(), spare: pair() };
type KeyId = keyof typeof keys;

const ceiling: Pick<Policy, 'reviewerKeys' | 'directory'> = {
  reviewerKeys: {
    k1: { publicKey: keys.k1.text, operator: false },
    k2: { publicKey: keys.k2.text, operator: true },
    free: { publicKey: keys.free.text, operator: true },
    shared: { publicKey: keys.shared.text, operator: false },
    spare: { publicKey: keys.spare.text, operator: false },
  },
  directory: {
    people: {
      ann: { groups: [], keys: ['k1'] },
      'rene\u0301': { groups: [], keys: ['k2', 'unknown'] },
      bob: { groups: [], keys: ['shared'] },
      carl: { groups: [], keys: ['shared'] },
    },
  },
};

interface Case {
  action?: SignedAction;
  name?: string;
  /** The message is signed with this key, under id `keyId`. */
  key?: KeyId;
  keyId?: string;
  ceiling?: Pick<Policy, 'reviewerKeys' | 'directory'> | undefined;
  namespace?: string;
  workflowId?: string;
}

/** Signed for `default` and `w1`, and received by `namespace` and `workflowId`. */
function sender({ action = 'decide', name, key, keyId = key, ...received }: Case): unknown {
  const said = name === undefined ? {} : { [action === 'decide' ? 'reviewerId' : 'by']: name };
  const proof = { keyId: keyId!, signedAt: '2030-01-31T12:00:00Z' };
  const message = { requestId: 'r', ...said, ...(key && { signature: proof }) };
  const to: Addressed = { action, message, namespace: 'default', workflowId: 'w1' };
  if (key !== undefined) {
    const value = sign(null, Buffer.from(signedText(to)), keys[key].privateKey).toString('base64');
    to.message = { ...message, signature: { ...proof, value } };
  }
  const { namespace = 'default', workflowId = 'w1' } = received;
  const found = verifiedSender({ ...to, namespace, workflowId }, 'ceiling' in received ? received.ceiling : ceiling);
  if ('problem' in found) return `${found.problem.code}: ${found.problem.message}`;
  return [found.voter.identity, found.voter.reviewerId, ...(found.operator ? ['operator'] : [])].join(' ');
}

test.each<[string, Case, string]>([
  ['nobody', {}, 'anonymous '],
  ['an empty name', { name: '' }, 'anonymous '],
  ['a name', { name: 'ann' }, 'claimed ann'],
  ['a name the directory does not know', { name: 'zoe' }, 'claimed zoe'],
  ['a name in a control message', { action: 'extend', name: 'ann' }, 'claimed ann'],
  ['a signature', { key: 'k1' }, 'verified ann'],
  ['a signature and the name', { key: 'k1', name: 'ann' }, 'verified ann'],
  ['the name in another Unicode form', { key: 'k2', name: 'ren\u00e9' }, 'verified ren\u00e9 operator'],
  ['a signed control message', { key: 'k1', action: 'delegate', name: 'ann' }, 'verified ann'],
  ['an operator’s', { key: 'k2', action: 'setPolicy' }, 'verified ren\u00e9 operator'],
  ['an operator’s key that is nobody’s', { key: 'free', action: 'setPolicy' }, 'verified  operator'],
  ['the same, revoking', { key: 'free', action: 'revoke' }, 'verified  operator'],
])('%s', (_, given, expected) => expect(sender(given)).toBe(expected));

test.each<[string, Case, string]>([
  ['another’s name', { key: 'k1', name: 'bob' }, `key 'k1' is not that of 'bob'`],
  ['an unknown key', { key: 'k1', keyId: 'zz' }, `the operator's policy has no reviewer key 'zz'`],
  [
    'a key the directory knows and the keys do not',
    { key: 'k1', keyId: 'unknown' },
    `the operator's policy has no reviewer key 'unknown'`,
  ],
  [
    'a name of every object',
    { key: 'k1', keyId: 'constructor' },
    `the operator's policy has no reviewer key 'constructor'`,
  ],
  ['no keys at all', { key: 'k1', ceiling: undefined }, `the operator's policy has no reviewer key 'k1'`],
  ['nobody’s key', { key: 'spare' }, `key 'spare' is not that of exactly one person of the operator's directory`],
  [
    'several people’s key',
    { key: 'shared' },
    `key 'shared' is not that of exactly one person of the operator's directory`,
  ],
  [
    'no directory',
    { key: 'k1', ceiling: { reviewerKeys: ceiling.reviewerKeys! } },
    `key 'k1' is not that of exactly one person of the operator's directory`,
  ],
  [
    'an operator’s key that is nobody’s decides nothing',
    { key: 'free' },
    `key 'free' is not that of exactly one person of the operator's directory`,
  ],
  [
    'nor delegates',
    { key: 'free', action: 'delegate' },
    `key 'free' is not that of exactly one person of the operator's directory`,
  ],
  [
    'nobody’s key, no operator’s',
    { key: 'spare', action: 'setPolicy' },
    `key 'spare' is not that of exactly one person of the operator's directory`,
  ],
  ['nor speaks for a person', { key: 'free', action: 'setPolicy', name: 'ann' }, `key 'free' is not that of 'ann'`],
  [
    'made with another key',
    { key: 'k1', keyId: 'k2' },
    `the signature is not that of key 'k2' over this message to 'w1' in 'default'`,
  ],
  [
    'made for another run',
    { key: 'k1', workflowId: 'w2' },
    `the signature is not that of key 'k1' over this message to 'w2' in 'default'`,
  ],
  [
    'made for another namespace',
    { key: 'k1', namespace: 'prod' },
    `the signature is not that of key 'k1' over this message to 'w1' in 'prod'`,
  ],
])('refused instead of counting as a claim: %s', (_, given, sentence) => {
  expect(sender(given)).toBe(`unverified_reviewer: ${sentence}`);
});

test("only the name in the message's own field counts", () => {
  const message = { requestId: 'r', by: 'ann', reviewerId: 'bob' };
  const to = { message, namespace: 'default', workflowId: 'w1' };
  expect(verifiedSender({ ...to, action: 'decide' }, ceiling)).toMatchObject({ voter: { reviewerId: 'bob' } });
  expect(verifiedSender({ ...to, action: 'extend' }, ceiling)).toMatchObject({ voter: { reviewerId: 'ann' } });
});

test('the claimed sender: the same, except for the check of the signature', () => {
  const message = { requestId: 'r', signature: { keyId: 'k1', signedAt: 't', value: 'QQ==' } };
  const to = { action: 'decide' as const, message, namespace: 'default', workflowId: 'w1' };
  const ann = { voter: { reviewerId: 'ann', identity: 'verified' }, operator: false };
  expect(claimedSender(to, ceiling)).toEqual(ann);
  expect(verifiedSender(to, ceiling)).toMatchObject({ problem: { code: 'unverified_reviewer' } });
  expect(claimedSender({ ...to, message: { ...message, reviewerId: 'bob' } }, ceiling)).toHaveProperty('problem');
});
