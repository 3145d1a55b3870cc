import { expect, test } from 'vitest';
import { EncryptionCodec } from '../../../src/codec.ts';
import { Permitted, permitIn } from '../../../src/core/base/permit-metadata.ts';
import { payloadConverter as ofWorker } from '../../../src/worker/payload-converter.ts';
import { payloadConverter } from '../../../src/workflows/sandbox/payload-converter.ts';

/** A permit is in the metadata of an argument's payload, where no argument can write it. */

const permit = { workflowId: 'w', callId: 'call.1', journal: [{ seq: 1, kind: 'ruling' }] };

test.each<[string, unknown]>([
  ['an object', { orderId: 'o-1' }],
  ['text', 'o-1'],
  ['a number', 1],
  ['null', null],
  ['no argument', undefined],
])('%s arrives as it was sent, and the permit beside it', (_name, value) => {
  const payload = payloadConverter.toPayload(new Permitted(value, permit));
  expect(payload.data).toEqual(payloadConverter.toPayload(value).data);
  expect(payloadConverter.fromPayload(payload)).toEqual(value);
  expect(ofWorker.fromPayload(payload)).toEqual(new Permitted(value, permit));
});

test('what a worker received with a permit is sent on without it', () => {
  const payload = payloadConverter.toPayload(new Permitted({ a: 1 }, permit));
  const inWorkflow = payloadConverter.fromPayload(payload);
  expect(permitIn(payloadConverter.toPayload(inWorkflow).metadata)).toBeUndefined();
});

test.each<[string, unknown]>([
  ['a permit as an argument', permit],
  ['one that claims metadata in its JSON', { ...permit, metadata: { countersign: JSON.stringify(permit) } }],
  ['text', JSON.stringify(permit)],
  ['nothing', null],
])('%s is not a permit', (_name, value) => {
  expect(ofWorker.fromPayload(payloadConverter.toPayload(value))).toEqual(value);
});

test.each(['permit', '{', 'null', '1', ''])('metadata of another kind is a permit that cannot be read: %j', (text) => {
  const metadata = { countersign: new TextEncoder().encode(text) };
  expect(permitIn(metadata)).toBeUndefined();
  const payload = payloadConverter.toPayload('ann');
  const received = ofWorker.fromPayload({ ...payload, metadata: { ...payload.metadata, ...metadata } });
  expect(received).toEqual(new Permitted('ann', {}));
});

test('a payload codec encodes the permit with the argument', async () => {
  const codec = new EncryptionCodec({ keys: [{ id: 'k', key: new Uint8Array(32) }] });
  const payload = payloadConverter.toPayload(new Permitted('ann', permit));
  const encoded = await codec.encode([payload]);
  expect(JSON.stringify(encoded.map(({ metadata }) => Object.keys(metadata ?? {})))).not.toContain('countersign');
  const [decoded] = await codec.decode(encoded);
  expect(ofWorker.fromPayload(decoded!)).toEqual(new Permitted('ann', permit));
});
