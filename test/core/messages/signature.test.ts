import { sign as signBytes, generateKeyPairSync, createPrivateKey, type KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { isPublicKey, isSignedBy } from '../../../src/core/base/digest.ts';
import {
  signedText,
  verifySignature,
  type Addressed,
  type SignedAction,
} from '../../../src/core/messages/signature.ts';

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));

/** RFC 8032, section 7.1. */
const vectors: [string, { publicKey: string; message: string; signature: string }][] = [
  [
    'test 1',
    {
      publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      message: '',
      signature:
        'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    },
  ],
  [
    'test 2',
    {
      publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      message: '72',
      signature:
        '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    },
  ],
  [
    'test 3',
    {
      publicKey: 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
      message: 'af82',
      signature:
        '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
    },
  ],
];

describe('test vectors of RFC 8032', () => {
  test.each(vectors)('%s', (_, { publicKey, message, signature }) => {
    expect(isSignedBy(hex(publicKey), hex(message), hex(signature))).toBe(true);
    expect(isSignedBy(hex(publicKey), hex(`${message}00`), hex(signature))).toBe(false);
  });
});

/** The order of the group. Adding it to a signature's scalar must not give another valid signature. */
const order = 0x1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3edn;
const raised = (signature: Uint8Array): Uint8Array => {
  const number = BigInt(`0x${Buffer.from(signature.slice(32).toReversed()).toString('hex')}`) + order;
  const tail = hex(number.toString(16).padStart(64, '0')).toReversed();
  return Uint8Array.from([...signature.slice(0, 32), ...tail]);
};
const identity = `01${'00'.repeat(31)}`;
const [, { publicKey: goodKey, message: goodMessage, signature: goodSignature }] = vectors[1]!;

test.each<[string, string, Uint8Array, Uint8Array]>([
  ['the same number in another form', goodKey, hex(goodMessage), raised(hex(goodSignature))],
  ['a key under which everything is signed', identity, hex(goodMessage), hex(`${identity}${'00'.repeat(32)}`)],
  ['a key that is no point', `02${'00'.repeat(31)}`, hex(goodMessage), hex(goodSignature)],
  ['a short signature', goodKey, hex(goodMessage), hex(goodSignature).slice(1)],
  ['a long signature', goodKey, hex(goodMessage), hex(`${goodSignature}00`)],
  ['no signature', goodKey, hex(goodMessage), hex('')],
  ['a short key', goodKey.slice(2), hex(goodMessage), hex(goodSignature)],
])('refused: %s', (_, publicKey, message, signature) => {
  expect(isSignedBy(hex(publicKey), message, signature)).toBe(false);
});

test.each<[string, string, boolean]>([
  ['a key', goodKey, true],
  ['the identity', identity, false],
  ['another of the weak few', `ec${'ff'.repeat(30)}7f`, false],
  ['zero', '00'.repeat(32), false],
  ['no point', `02${'00'.repeat(31)}`, false],
  ['not reduced', `ee${'ff'.repeat(30)}7f`, false],
  ['short', goodKey.slice(2), false],
  ['nothing', '', false],
])('a public key: %s', (_, bytes, expected) => {
  expect(isPublicKey(hex(bytes))).toBe(expected);
});

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const publicText = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('base64');

/**
 * Signs with Node's own implementation, over the text that docs/wire.md describes, which is built here independently.
 */
function signed(to: Addressed, key: KeyObject = privateKey): Addressed {
  const { message, ...place } = to;
  const proof = { keyId: 'k1', signedAt: '2030-01-31T12:00:00.000Z' };
  const value = signBytes(null, Buffer.from(naiveText({ ...message, ...place, signature: proof })), key);
  return { ...to, message: { ...message, signature: { ...proof, value: value.toString('base64') } } };
}

/**
 * RFC 8785 for the values used here: JSON.stringify writes numbers and texts as it demands; keys are sorted by code
 * unit.
 */
function naiveText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(naiveText).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${naiveText(each)}`).join()}}`;
}

const verifies = (to: Addressed): boolean => verifySignature({ ...to, publicKey: publicText });
const decision = {
  requestId: '0'.repeat(32),
  approved: true,
  digest: 'd'.repeat(64),
  reviewerId: 'ann',
  decisionId: 'x',
};
const here: Addressed = { action: 'decide', message: decision, namespace: 'default', workflowId: 'w1' };

test('a signature from Node is verified', () => expect(verifies(signed(here))).toBe(true));

test('the text that is signed', () => {
  const message = {
    approved: true,
    reason: 'é\n',
    signature: { value: 'x', keyId: 'k1', signedAt: 't' },
    requestId: 'r',
  };
  expect(signedText({ ...here, message })).toBe(
    '{"action":"decide","approved":true,"namespace":"default","reason":"é\\n","requestId":"r","signature":{"keyId":"k1","signedAt":"t"},"workflowId":"w1"}',
  );
});

type Change = (to: Addressed) => Addressed;
const changes =
  (message: object): Change =>
  (to) => ({ ...to, message: { ...to.message, ...message } });
const inProof =
  (proof: object): Change =>
  (to) => {
    const { signature } = to.message as { signature: object };
    return changes({ signature: { ...signature, ...proof } })(to);
  };
test.each<[string, Change]>([
  ['another run', (to) => ({ ...to, workflowId: 'w2' })],
  ['another namespace', (to) => ({ ...to, namespace: 'prod' })],
  ['another action', (to) => ({ ...to, action: 'revoke' })],
  ['another request', changes({ requestId: '1'.repeat(32) })],
  ['the opposite', changes({ approved: false })],
  ['another digest', changes({ digest: 'e'.repeat(64) })],
  ['no digest', changes({ digest: undefined })],
  ['another reviewer', changes({ reviewerId: 'bob' })],
  ['another decision id', changes({ decisionId: 'y' })],
  ['a reason more', changes({ reason: 'yes' })],
  ['another card that was shown', changes({ viewed: { card: 'c'.repeat(64) } })],
  ['always', changes({ always: true })],
  ['edited arguments', changes({ modifiedArguments: {} })],
  ['another key id', inProof({ keyId: 'k2' })],
  ['another time', inProof({ signedAt: '2031-01-31T12:00:00.000Z' })],
  ['a field more in the signature', inProof({ note: 1 })],
  ['no value', inProof({ value: undefined })],
  ['a value that is no text', inProof({ value: 5 })],
  ['a value that is no base64', inProof({ value: '~'.repeat(88) })],
  ['a field that would pass for the run', changes({ workflowId: 'w1' })],
  ['a field that would pass for the namespace', changes({ namespace: 'default' })],
  ['a field that would pass for the action', changes({ action: 'decide' })],
])('not verified: %s', (_, change) => {
  const good = signed(here);
  expect(verifies(good)).toBe(true);
  expect(verifies(change(good))).toBe(false);
});

test('not verified: another key', () => {
  const other = generateKeyPairSync('ed25519').privateKey;
  expect(verifies(signed(here, other))).toBe(false);
});

describe('for every message', () => {
  const json = fc.jsonValue({ maxDepth: 3, noUnicodeString: false }) as fc.Arbitrary<unknown>;
  const name = fc.constantFrom('approved', 'reason', 'a', 'é', '\u{1f600}', 'constructor', 'toString');
  const message = fc.dictionary(name, json, { maxKeys: 4, noNullPrototype: true });
  const action = fc.constantFrom<SignedAction>('decide', 'setPolicy', 'revoke', 'extend', 'delegate');
  const place = fc.record({ action, message, namespace: fc.string(), workflowId: fc.string() });

  test('exactly what Node signs is verified', () => {
    fc.assert(
      fc.property(place, name, json, (to, field, value) => {
        const good = signed(to);
        expect(verifies(good)).toBe(true);
        const changed = changes({ [field]: value })(good);
        const same = naiveText(changed.message) === naiveText(good.message);
        expect(verifies(changed)).toBe(same);
      }),
      { numRuns: 60 },
    );
  });

  test('garbage gives false, and never throws', () => {
    const cycle: Record<string, unknown> = { signature: { keyId: 'k', signedAt: 't', value: 'QQ==' } };
    cycle['self'] = cycle;
    const odd = [null, undefined, 5, 'x', [], cycle, { signature: null }, { signature: 'x' }, { approved: Number.NaN }];
    for (const message of odd) expect(verifies({ ...here, message } as unknown as Addressed)).toBe(false);
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (message, key) => {
        expect(verifySignature({ ...here, message, publicKey: key } as never)).toBe(false);
        expect(verifies({ ...here, message } as unknown as Addressed)).toBe(false);
      }),
    );
  });
});

test('a key that OpenSSL would write as PEM is the same key', () => {
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  expect(verifies(signed(here, createPrivateKey(pem)))).toBe(true);
});
