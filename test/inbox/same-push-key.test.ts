import { createECDH } from 'node:crypto';
import { expect, test } from 'vitest';
import { isSamePushKey } from '../../packages/gateway/src/inbox/state/same-push-key.ts';

const makeKey = () => new Uint8Array(createECDH('prime256v1').generateKeys());

test('a subscription counts only for the key that it was made with', () => {
  for (let round = 0; round < 20; round += 1) {
    const key = makeKey();
    const text = Buffer.from(key).toString('base64url');
    expect(isSamePushKey(key.buffer, text)).toBe(true);
    expect(isSamePushKey(makeKey().buffer, text)).toBe(false);
    expect(isSamePushKey(null, text)).toBe(false);
  }
});
