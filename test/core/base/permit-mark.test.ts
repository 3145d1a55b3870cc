import { expect, test } from '@jest/globals';
import { isReceivedPermit, markPermit, saysPermit } from '../../../src/core/base/permit-mark.ts';
import { payloadConverter } from '../../../src/workflows/sandbox/payload-converter.ts';

/** The mark of a permit is in the payload's metadata, where no argument can write it. */

const permit = { workflowId: 'w', callId: 'call.1' };

test('a marked permit arrives marked and unchanged', () => {
  const payload = payloadConverter.toPayload(markPermit({ ...permit }));
  expect(saysPermit(payload.metadata)).toBe(true);
  const arrived = payloadConverter.fromPayload(payload);
  expect(arrived).toEqual(permit);
  expect(isReceivedPermit(arrived)).toBe(true);
});

test('a received permit is not sent on as one', () => {
  const arrived = payloadConverter.fromPayload(payloadConverter.toPayload(markPermit({ ...permit })));
  expect(saysPermit(payloadConverter.toPayload(arrived).metadata)).toBe(false);
});

test.each<[string, unknown]>([
  ['the same without the mark', permit],
  ['one that claims it in its JSON', { ...permit, countersign: 'permit', 'Symbol(countersign.permit)': true }],
  ['text', 'permit'],
  ['nothing', null],
])('%s is not a permit', (_name, value) => {
  const payload = payloadConverter.toPayload(value);
  expect(saysPermit(payload.metadata)).toBe(false);
  expect(isReceivedPermit(payloadConverter.fromPayload(payload))).toBe(false);
});

test('other metadata is not a mark', () => {
  expect(saysPermit({ countersign: new TextEncoder().encode('permits') })).toBe(false);
  expect(saysPermit(null)).toBe(false);
});
