import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import { verifiedSender, claimedSender } from '../../../src/core/messages/sender.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { signedText, type Addressed, type SignedAction } from '../../../src/core/messages/signature.ts';

const pair = (): { privateKey: KeyObject; text: string } => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { privateKey, text: Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('base64') };
};
const keys = {
  k1: pair(),
  k2: pair(),
  free: pair(),
  shared: pair(),
  spare: pair(),
  gate: pair(),
  some: pair(),
  desk: pair(),
  both: pair(),
};
type KeyId = keyof typeof keys;

const ceiling: Pick<Policy, 'reviewerKeys' | 'directory'> = {
  reviewerKeys: {
    k1: { publicKey: keys.k1.text, operator: false },
    k2: { publicKey: keys.k2.text, operator: true },
    free: { publicKey: keys.free.text, operator: true },
    shared: { publicKey: keys.shared.text, operator: false },
    spare: { publicKey: keys.spare.text, operator: false },
    gate: { publicKey: keys.gate.text, operator: false, signsFor: ['*'] },
    some: { publicKey: keys.some.text, operator: false, signsFor: ['bob', 'group:finance', 'ren\u00e9'] },
    desk: { publicKey: keys.desk.text, operator: true, signsFor: ['*'] },
    both: { publicKey: keys.both.text, operator: true, signsFor: ['*'] },
  },
  directory: {
    people: {
      ann: { groups: [], keys: ['k1'] },
      'rene\u0301': { groups: [], keys: ['k2', 'unknown'] },
      bob: { groups: [], keys: ['shared'] },
      carl: { groups: [], keys: ['shared'] },
      fay: { groups: ['finance'], keys: [] },
      eve: { groups: [], keys: ['both'] },
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
  ['a gateway’s, for whoever it names', { key: 'gate', name: 'ann' }, 'verified ann'],
  ['for somebody whom the directory does not know', { key: 'gate', name: 'zoe' }, 'verified zoe'],
  ['in a control message', { key: 'gate', action: 'delegate', name: 'ann' }, 'verified ann'],
  ['a gateway’s, for a person by name', { key: 'some', name: 'bob' }, 'verified bob'],
  ['for a member of a group', { key: 'some', name: 'fay' }, 'verified fay'],
  ['for a name in another Unicode form', { key: 'some', name: 'rene\u0301' }, 'verified ren\u00e9'],
  [
    'a gateway’s that is an operator’s makes nobody one',
    { key: 'desk', action: 'setPolicy', name: 'ann' },
    'verified ann',
  ],
  ['it is an operator without a name', { key: 'desk', action: 'setPolicy' }, 'verified  operator'],
  [
    'nor does it where an operator is named',
    { key: 'desk', action: 'revoke', name: 'rene\u0301' },
    'verified ren\u00e9',
  ],
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
  ['a gateway’s without a name', { key: 'gate' }, `key 'gate' signs for others: the message must name the person`],
  ['with an empty name', { key: 'gate', name: '' }, `key 'gate' signs for others: the message must name the person`],
  [
    'an operator’s gateway that decides without a name',
    { key: 'desk' },
    `key 'desk' signs for others: the message must name the person`,
  ],
  [
    'for somebody else',
    { key: 'some', name: 'ann' },
    `key 'some' does not sign for 'ann': its 'signs_for' names people, or groups of the operator's directory`,
  ],
  [
    'for a group as if it were a person',
    { key: 'some', name: 'group:finance' },
    `key 'some' does not sign for 'group:finance': its 'signs_for' names people, or groups of the operator's directory`,
  ],
  [
    'a group without a directory',
    { key: 'some', name: 'fay', ceiling: { reviewerKeys: ceiling.reviewerKeys! } },
    `key 'some' does not sign for 'fay': its 'signs_for' names people, or groups of the operator's directory`,
  ],
  ...(['ann', 'eve', undefined] as const).map((name): [string, Case, string] => [
    `a gateway’s key that is a person’s own, for ${name ?? 'nobody'}`,
    { key: 'both', action: 'setPolicy', ...(name !== undefined && { name }) },
    `key 'both' signs for others and is a person's own: it cannot be both`,
  ]),
  [
    'a gateway’s signature made with another key',
    { key: 'k1', keyId: 'gate', name: 'ann' },
    `the signature is not that of key 'gate' over this message to 'w1' in 'default'`,
  ],
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

test('the name is part of what a gateway signed', () => {
  const to: Addressed = { action: 'decide', message: {}, namespace: 'default', workflowId: 'w1' };
  const proof = { keyId: 'gate', signedAt: '2030-01-31T12:00:00Z' };
  to.message = { requestId: 'r', reviewerId: 'ann', signature: proof };
  const value = sign(null, Buffer.from(signedText(to)), keys.gate.privateKey).toString('base64');
  const signed = (reviewerId: string) => ({
    ...to,
    message: { ...to.message, reviewerId, signature: { ...proof, value } },
  });
  expect(verifiedSender(signed('ann'), ceiling)).toMatchObject({ voter: { reviewerId: 'ann', identity: 'verified' } });
  expect(verifiedSender(signed('bob'), ceiling)).toMatchObject({ problem: { code: 'unverified_reviewer' } });
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
  const ann = { voter: { reviewerId: 'ann', identity: 'verified', keyId: 'k1' }, operator: false };
  expect(claimedSender(to, ceiling)).toEqual(ann);
  expect(verifiedSender(to, ceiling)).toMatchObject({ problem: { code: 'unverified_reviewer' } });
  expect(claimedSender({ ...to, message: { ...message, reviewerId: 'bob' } }, ceiling)).toHaveProperty('problem');
});
